// SPDX-License-Identifier: Apache-2.0
// Requests to completions: prompts in chunks, then one token of every sequence a pass, until each
// has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/device/device.h"
#include "rooftile/model/transformer.h"
#include "rooftile/workbench/timeline.h"

namespace ROOFTILE_API rooftile {

/// How the next token is drawn; see ops/sample. A temperature of 0 takes the most probable one.
struct Sampling {
  float temperature = 0;
  std::int32_t top_k = 0;  // 0: all
  float top_p = 1;
  float min_p = 0;
  float repetition_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  std::int64_t seed = 0;  // draws depend on it and on the place in the sequence, on nothing else
  [[nodiscard]] bool is_greedy() const {
    return temperature == 0 && repetition_penalty == 1 && presence_penalty == 0 &&
           frequency_penalty == 0;
  }
};

struct Request {
  std::vector<std::int32_t> prompt{};  // at least one token
  std::int64_t max_tokens = 128;
  Sampling sampling{};
  std::vector<std::int32_t> end_ids{};  // that end a sequence, and are not part of it
  /// Told of each token; answers whether to stop after it. Absent: go on.
  std::function<bool(std::int32_t token)> on_token{};
};

enum class Finish : std::uint8_t { end_token, max_tokens, context, stopped };
std::string_view name(Finish finish);

struct Completion {
  std::vector<std::int32_t> tokens{};
  Finish finish = Finish::max_tokens;
  std::int64_t cached_tokens = 0;  // of the prompt, found in the cache
};

/// Completions of `requests`, at most the transformer's most_sequences at a time, and what their
/// passes took. Sequences share cached heads. With `capture`, every pass is captured; its times are
/// then no times to quote. Throws Error(bad_input) for an empty prompt or one that exceeds the
/// context.
std::vector<Completion> generate(Transformer& transformer, Stream& stream,
                                 std::span<const Request> requests, CleanRun& times,
                                 Timeline* capture = nullptr);

/// Completes `request` with every other decode pass captured, and appends each two neighbours to
/// `pairs`: what the capture costs, on a machine whose speed changes from one second to the next
/// and which others use too, since the times are those that the calling thread, which captures,
/// computed.
void generate_in_turns(Transformer& transformer, Stream& stream, const Request& request,
                       std::vector<CapturePair>& pairs);

/// The ids drawn from `logits` [rows, vocab], row i for requests[i], whose sequence is
/// `history[i]`.
class Sampler {
 public:
  explicit Sampler(Device& device, std::int64_t most_rows);
  std::span<const std::int32_t> draw(Stream& stream, const TensorView& logits,
                                     std::span<const Sampling> settings,
                                     std::span<const std::span<const std::int32_t>> history);

 private:
  DeviceMemory memory_;
  std::int64_t most_rows_;
};

}  // namespace rooftile
