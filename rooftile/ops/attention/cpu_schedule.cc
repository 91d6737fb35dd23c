// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/attention/cpu_schedule.h"

#include <algorithm>

#include "rooftile/core/shape.h"

namespace rooftile::ops::attention {
namespace {

constexpr std::int64_t kTasksPerThread = 4;
constexpr std::int64_t kLeastRows = 48;  // of a task: fewer, and packing costs too much

}  // namespace

KeyRange chunks_of(const AttentionCall& call, std::int64_t sequence, std::int64_t first_token,
                   std::int64_t end_token) {
  const KeyRange keys = call.keys(sequence, first_token, end_token);
  if (keys.begin >= keys.end) return {};
  return {keys.begin / call.chunk(), (keys.end + call.chunk() - 1) / call.chunk()};
}

std::int64_t Schedule::bytes(const AttentionCall& call) {
  return 2 * (call.sequences + 1) * std::int64_t{sizeof(std::int64_t)};
}

std::int64_t Schedule::most_partials(const AttentionCall& call) {
  const std::int64_t split = call.sequences > call.tokens / call.most_split_tokens()
                                 ? call.tokens
                                 : call.sequences * call.most_split_tokens();
  return checked_product({split, call.heads, call.most_chunks()}, "partial results");
}

Schedule::Schedule(const AttentionCall& call, std::int64_t threads, void* memory)
    : call_(call),
      first_task_(static_cast<std::int64_t*>(memory)),
      first_partial_(first_task_ + call.sequences + 1) {
  has_valid_starts_ = are_offsets_valid([&](std::int64_t i) { return call.starts.at(i); },
                                        call.sequences + 1, call.tokens);
  if (!has_valid_starts_) return;
  // Fewer rows a task where there would be too few tasks; the bits do not depend on it.
  const std::int64_t blocks_wanted = kTasksPerThread * threads / call.kv_heads + 1;
  const std::int64_t rows_wanted = call.tokens * call.group() / blocks_wanted;
  const std::int64_t rows =
      std::clamp(rows_wanted, std::min(kLeastRows, call.most_rows()), call.most_rows());
  block_tokens_ = std::max<std::int64_t>(rows / call.group(), 1);
  std::int64_t partials = 0;
  for (std::int64_t s = 0; s < call.sequences; ++s) {
    first_task_[s] = num_tasks_;
    first_partial_[s] = partials;
    num_tasks_ += tasks_of(s);
    if (tasks_of(s) > 0 && is_split(s))
      partials += tasks_of(s) / call.kv_heads * call.tokens_of(s) * call.heads;
  }
  first_task_[call.sequences] = num_tasks_;
}

bool Schedule::is_split(std::int64_t sequence) const {
  return call_.tokens_of(sequence) <= call_.most_split_tokens();
}

std::int64_t Schedule::tasks_of(std::int64_t sequence) const {
  const std::int64_t tokens = call_.tokens_of(sequence);
  if (tokens == 0 || !call_.has_valid_length(sequence)) return 0;
  if (!is_split(sequence)) return call_.kv_heads * ((tokens + block_tokens_ - 1) / block_tokens_);
  const KeyRange chunks = chunks_of(call_, sequence, 0, tokens);
  return call_.kv_heads * (chunks.end - chunks.begin);
}

Task Schedule::task(std::int64_t index) const {
  const std::int64_t* end = first_task_ + call_.sequences + 1;
  const std::int64_t* begin = first_task_;
  const std::int64_t sequence = std::upper_bound(begin, end, index) - begin - 1;
  const std::int64_t tokens = call_.tokens_of(sequence);
  const std::int64_t local = index - first_task_[sequence];
  Task task{.sequence = sequence,
            .kv_head = local % call_.kv_heads,
            .end_token = tokens,
            .is_split = is_split(sequence)};
  if (task.is_split) {
    task.first_chunk = chunks_of(call_, sequence, 0, tokens).begin + local / call_.kv_heads;
    task.end_chunk = task.first_chunk + 1;
    return task;
  }
  const std::int64_t blocks = (tokens + block_tokens_ - 1) / block_tokens_;
  task.first_token = (blocks - 1 - local / call_.kv_heads) * block_tokens_;
  task.end_token = std::min(task.first_token + block_tokens_, tokens);
  const KeyRange chunks = chunks_of(call_, sequence, task.first_token, task.end_token);
  task.first_chunk = chunks.begin;
  task.end_chunk = chunks.end;
  return task;
}

std::int64_t Schedule::partial(std::int64_t sequence, std::int64_t token, std::int64_t head,
                               std::int64_t chunk) const {
  const std::int64_t chunks = (first_task_[sequence + 1] - first_task_[sequence]) / call_.kv_heads;
  return first_partial_[sequence] + (token * call_.heads + head) * chunks + chunk;
}

std::int64_t Schedule::sequence_of(std::int64_t row) const {
  std::int64_t low = 0;
  std::int64_t high = call_.sequences;  // the first whose start lies beyond the row
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (call_.starts.at(middle) > row)
      high = middle;
    else
      low = middle + 1;
  }
  return low > 0 && row < call_.starts.at(low) ? low - 1 : -1;
}

}  // namespace rooftile::ops::attention
