// SPDX-License-Identifier: Apache-2.0
// How the rows and keys of a call are cut into tasks, from what stands in its tables.
#pragma once

#include "rooftile/ops/attention/cpu_call.h"

namespace rooftile::ops::attention {

/// One kv head of a sequence, some of its tokens, some chunks of its keys.
struct Task {
  std::int64_t sequence = 0;
  std::int64_t kv_head = 0;
  std::int64_t first_token = 0;  // of the sequence
  std::int64_t end_token = 0;
  std::int64_t first_chunk = 0;
  std::int64_t end_chunk = 0;
  bool is_split = false;  // leaves a partial result of each row and chunk
};

/// Chunks [begin, end) that tokens of a sequence see.
KeyRange chunks_of(const AttentionCall& call, std::int64_t sequence, std::int64_t first_token,
                   std::int64_t end_token);

class Schedule {
 public:
  /// Bytes of memory that a schedule of this call needs.
  static std::int64_t bytes(const AttentionCall& call);

  /// Lays itself out in `memory`, which it does not own. Reads starts and lengths.
  Schedule(const AttentionCall& call, std::int64_t threads, void* memory);

  [[nodiscard]] bool has_valid_starts() const { return has_valid_starts_; }
  [[nodiscard]] std::int64_t num_tasks() const { return num_tasks_; }
  /// Tasks in the order in which they are best begun: those with the most keys first.
  [[nodiscard]] Task task(std::int64_t index) const;

  [[nodiscard]] bool is_split(std::int64_t sequence) const;
  /// The place of a partial result among all; `chunk` counts from the sequence's first.
  [[nodiscard]] std::int64_t partial(std::int64_t sequence, std::int64_t token, std::int64_t head,
                                     std::int64_t chunk) const;
  /// The most partial results of any schedule of this call.
  static std::int64_t most_partials(const AttentionCall& call);

  /// The sequence of a row; -1: none.
  [[nodiscard]] std::int64_t sequence_of(std::int64_t row) const;

 private:
  [[nodiscard]] std::int64_t tasks_of(std::int64_t sequence) const;

  const AttentionCall& call_;
  std::int64_t* first_task_;     // [sequences + 1]
  std::int64_t* first_partial_;  // [sequences + 1]
  std::int64_t block_tokens_ = 1;
  std::int64_t num_tasks_ = 0;
  bool has_valid_starts_ = false;
};

}  // namespace rooftile::ops::attention
