// SPDX-License-Identifier: Apache-2.0
// The threads of a cluster that can run, first in first out but for those that are to run next. Why
// not std::deque: a simulated kernel makes tens of millions of switches, and each passes through
// here.
#pragma once

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
  [[nodiscard]] std::size_t size() const { return tail_ - head_; }
  void clear() { head_ = tail_ = 0; }
  void push(Runnable thread) {
    if (size() == slots_.size()) grow();
    slots_[tail_++ & mask_] = thread;
  }
  void push_front(Runnable thread) {
    if (size() == slots_.size()) grow();
    slots_[--head_ & mask_] = thread;
  }
  Runnable pop() { return slots_[head_++ & mask_]; }
  /// Brings the `index`-th to the front, in exchange for what was there.
  void bring_forward(std::size_t index) {
    std::swap(slots_[head_ & mask_], slots_[(head_ + index) & mask_]);
  }

 private:
  void grow() {
    std::vector<Runnable> larger(slots_.empty() ? 64 : 2 * slots_.size());
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = slots_[(head_ + i) & mask_];
    slots_ = std::move(larger);
    mask_ = slots_.size() - 1;
    head_ = 0;
    tail_ = count;
  }
  std::vector<Runnable> slots_;  // a power of two
  std::size_t mask_ = 0;         // of an index of them
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace rooftile::sim
