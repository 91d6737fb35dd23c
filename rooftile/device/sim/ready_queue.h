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
  Block* block;
  std::uint16_t thread;
};

class ReadyQueue {
 public:
  [[nodiscard]] bool empty() const { return head_ == tail_; }
  /// Of what was pushed: lanes that were together count once.
  [[nodiscard]] std::size_t size() const { return tail_ - head_; }
  void clear() { head_ = tail_ = 0; }
  void push(Runnable thread) { push_lanes(thread, 1); }
  /// Threads behind `first`, a bit each, of which the first runs first.
  void push_lanes(Runnable first, std::uint32_t lanes) {
    if (size() == slots_.size()) grow();
    slots_[tail_++ & mask_] = {first, lanes};
  }
  void push_lanes_front(Runnable first, std::uint32_t lanes) {
    if (size() == slots_.size()) grow();
    slots_[--head_ & mask_] = {first, lanes};
  }
  Runnable pop() {
    Slot& slot = slots_[head_ & mask_];
    const auto lane = static_cast<std::uint16_t>(std::countr_zero(slot.lanes));
    slot.lanes &= slot.lanes - 1;
    if (slot.lanes == 0) ++head_;
    return {slot.first.block, static_cast<std::uint16_t>(slot.first.thread + lane)};
  }
  /// Brings the `index`-th to the front, in exchange for what was there.
  void bring_forward(std::size_t index) {
    std::swap(slots_[head_ & mask_], slots_[(head_ + index) & mask_]);
  }

 private:
  struct Slot {
    Runnable first;
    std::uint32_t lanes;
  };
  void grow() {
    std::vector<Slot> larger(slots_.empty() ? 64 : 2 * slots_.size());
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = slots_[(head_ + i) & mask_];
    slots_ = std::move(larger);
    mask_ = slots_.size() - 1;
    head_ = 0;
    tail_ = count;
  }
  std::vector<Slot> slots_;  // a power of two
  std::size_t mask_ = 0;     // of an index of them
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace rooftile::sim
