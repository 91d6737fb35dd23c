// SPDX-License-Identifier: Apache-2.0
// Who has read a place of shared memory since it was last written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "rooftile/device/sim/clocks.h"

namespace rooftile::sim {

/// The actors that read a cell of shared memory and are not ordered among each other: a short list,
/// or a clock for each actor of the block where there are many.
class ReadSet {
 public:
  void clear() {
    count_ = 0;
    all_.clear();
    others_.clear();
  }
  /// `block`: whose memory it is; most readers are its own.
  void add(Epoch reader, std::uint32_t block) {
    if (!all_.empty()) {
      if (reader.block() == block)
        all_[static_cast<std::size_t>(reader.actor())] = reader.clock();
      else
        others_[{reader.block(), reader.actor()}] = reader;
      return;
    }
    for (std::size_t i = 0; i < count_; ++i)
      if (few_[i].is_of_actor_of(reader)) {
        few_[i] = reader;
        return;
      }
    if (count_ < few_.size()) {
      few_[count_++] = reader;
      return;
    }
    all_.assign(kActors, 0);
    for (const Epoch& one : few_) add(one, block);
    add(reader, block);
  }
  /// Calls function(reader) until it returns false; `own` is of the block whose memory it is.
  template <class Function>
  void each(Epoch own, Function function) const {
    for (std::size_t i = 0; all_.empty() && i < count_; ++i)
      if (!function(few_[i])) return;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i] != 0 && !function(Epoch::make(own.launch(), own.block(), int(i), all_[i])))
        return;
    for (const auto& [who, reader] : others_)
      if (!function(reader)) return;
  }

 private:
  std::array<Epoch, 8> few_{};
  std::size_t count_ = 0;
  std::vector<std::uint32_t> all_;
  std::map<std::pair<std::uint32_t, int>, Epoch> others_;
};

}  // namespace rooftile::sim
