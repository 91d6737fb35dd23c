// SPDX-License-Identifier: Apache-2.0
// A model on a device with room for so many tokens: what run, check and profile work with.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/model/generate.h"
#include "rooftile/model/kv_cache.h"
#include "rooftile/model/model.h"
#include "rooftile/model/program.h"
#include "rooftile/model/transformer.h"

namespace ROOFTILE_API rooftile {

struct RunnerOptions {
  std::int64_t tokens = 4096;  // room in the KV cache, over all sequences
  std::int64_t page_size = 16;
  DType kv = DType::fp16;
  TransformerOptions transformer{};
};

class Runner {
 public:
  /// Refers to all it is given. Throws as KvCache and Transformer do.
  Runner(const Model& model, Device& device, const Registry& registry,
         const RunnerOptions& options);

  std::vector<Completion> generate(std::span<const Request> requests, CleanRun& times,
                                   Timeline* capture = nullptr) {
    return rooftile::generate(transformer_, *stream_, requests, times, capture);
  }

  void generate_in_turns(const Request& request, std::vector<CapturePair>& pairs) {
    rooftile::generate_in_turns(transformer_, *stream_, request, pairs);
  }

  /// One pass that nobody times: every weight is in memory after it, and decoding is prepared.
  void warm_up();

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] Transformer& transformer() { return transformer_; }
  [[nodiscard]] KvCache& cache() { return cache_; }
  [[nodiscard]] PlanStore& plans() { return plans_; }
  [[nodiscard]] Stream& stream() { return *stream_; }

 private:
  const Model* model_;
  KvCache cache_;
  PlanStore plans_;
  Transformer transformer_;
  std::unique_ptr<Stream> stream_;
};

/// The head of a profile of this model: what its weights and one more token of context weigh.
ProfiledModel description(const Model& model, const KvCache& cache);

}  // namespace rooftile
