// SPDX-License-Identifier: Apache-2.0
// The threads of a cluster that can run, first in first out but for those that are to run next. Why
// not std::deque: a simulated kernel makes tens of millions of switches, and each passes through
// here.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rooftile::sim {

struct Block;

/// A thread that can run.
struct Runnable {
  Block* block = nullptr;
  std::uint16_t thread = 0;
};

class ReadyQueue {
 public:
  [[nodiscard]] bool empty() const { return next_.lanes == 0; }
  /// Of what was pushed: lanes that were together count once.
  [[nodiscard]] std::size_t size() const { return (empty() ? 0 : 1) + waiting(); }
  void clear() {
    next_.lanes = 0;
    head_ = tail_ = 0;
  }
  void push(Runnable thread) { push_lanes(thread, 1); }
  /// Threads behind `first`, a bit each, of which the first runs first.
  void push_lanes(Runnable first, std::uint32_t lanes) {
    if (empty()) {
      next_ = {first, lanes};
      return;
    }
    if (waiting() == slots_.size()) grow();
    slots_[tail_++ & mask_] = {first, lanes};
  }
  void push_lanes_front(Runnable first, std::uint32_t lanes) {
    if (!empty()) {
      if (waiting() == slots_.size()) grow();
      slots_[--head_ & mask_] = next_;
    }
    next_ = {first, lanes};
  }
  Runnable pop() {
    const auto lane = static_cast<std::uint16_t>(std::countr_zero(next_.lanes));
    const Runnable popped{next_.first.block, static_cast<std::uint16_t>(next_.first.thread + lane)};
    next_.lanes &= next_.lanes - 1;
    if (next_.lanes == 0 && head_ != tail_) next_ = slots_[head_++ & mask_];
    return popped;
  }
  /// Brings the `index`-th to the front, in exchange for what was there.
  void bring_forward(std::size_t index) {
    if (index != 0) std::swap(next_, slots_[(head_ + index - 1) & mask_]);
  }

 private:
  struct Slot {
    Runnable first{};
    std::uint32_t lanes = 0;
  };
  [[nodiscard]] std::size_t waiting() const { return tail_ - head_; }
  void grow() {
    std::vector<Slot> larger(slots_.empty() ? 64 : 2 * slots_.size());
    const std::size_t count = waiting();
    for (std::size_t i = 0; i < count; ++i) larger[i] = slots_[(head_ + i) & mask_];
    slots_ = std::move(larger);
    mask_ = slots_.size() - 1;
    head_ = 0;
    tail_ = count;
  }
  Slot next_;                // no lanes: nothing can run
  std::vector<Slot> slots_;  // behind it: a power of two
  std::size_t mask_ = 0;     // of an index of them
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace rooftile::sim
