// SPDX-License-Identifier: Apache-2.0
// A decoder-only transformer over the library's operations: tokens in, logits out, keys and values
// into a cache. One path for a prompt, a chunk of one, and a token of each of many sequences.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/device/device.h"
#include "rooftile/model/config.h"
#include "rooftile/model/kv_cache.h"
#include "rooftile/model/program.h"
#include "rooftile/model/recording.h"
#include "rooftile/model/weights.h"

namespace ROOFTILE_API rooftile {

/// What one pass computes: new tokens of sequences, one after the other.
struct PassInput {
  Sequence* sequence = nullptr;
  std::vector<std::int32_t> tokens{};
  std::int64_t logits = 1;  // of how many of the last tokens logits are wanted
};

struct PassBuffers;

struct TransformerOptions {
  std::string activations = "exact";  // or q8: as gemm's option for quantised weights
  std::int64_t most_tokens = 512;     // of one pass
  std::int64_t most_sequences = 16;   // of one pass
};

class Transformer {
 public:
  /// Refers to all it is given. Throws Error(unsupported) for what no kernel does.
  Transformer(const ModelConfig& config, const Weights& weights, KvCache& cache, PlanStore& plans,
              const TransformerOptions& options = {});

  /// Makes what a pass of this many tokens, sequences and rows of logits needs, unless it is there:
  /// forward() does so too, but somebody may be timing that.
  void prepare(std::int64_t tokens, std::int64_t sequences, std::int64_t rows) {
    program({tokens, sequences, rows});
  }

  /// Appends the tokens to their sequences and computes the pass. The logits, one row for each
  /// wanted token in order, stay valid until the next call. Throws Error(bad_input) for tokens
  /// outside the vocabulary or beyond the context, Error(out_of_memory) when the cache is full; no
  /// sequence has changed then.
  TensorView forward(Stream& stream, std::span<const PassInput> inputs);
  /// The same, recorded as a pass of `phase`.
  TensorView forward(Stream& stream, std::span<const PassInput> inputs, Recording& recording,
                     const std::string& phase);

  [[nodiscard]] const ModelConfig& config() const { return *config_; }
  [[nodiscard]] const TransformerOptions& options() const { return options_; }
  [[nodiscard]] KvCache& cache() const { return *cache_; }

 private:
  struct Shape {
    std::int64_t tokens, sequences, rows;
    friend auto operator<=>(const Shape&, const Shape&) = default;
  };

  Shape fill(std::span<const PassInput> inputs);
  std::shared_ptr<const Program> program(const Shape& shape);

  const ModelConfig* config_;
  const Weights* weights_;
  KvCache* cache_;
  PlanStore* plans_;
  TransformerOptions options_;
  std::shared_ptr<PassBuffers> buffers_;
  std::map<Shape, std::shared_ptr<const Program>> programs_;
};

}  // namespace rooftile
