// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: value i of a stream depends on (seed, stream, i) alone, so data is
// the same for any number of threads and any order. The mixer is SplitMix64's finaliser (Steele,
// Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#pragma once

#include <cstdint>
#include <string_view>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

class Rng {
 public:
  /// `stream` is any name: two arguments of one problem must not share their numbers.
  Rng(std::uint64_t seed, std::string_view stream);

  [[nodiscard]] std::uint64_t bits(std::uint64_t index) const {
    return mix(key_ + index * 0x9e3779b97f4a7c15ULL);
  }
  /// In [0, 1), a multiple of 2^-53.
  [[nodiscard]] double uniform(std::uint64_t index) const {
    return static_cast<double>(bits(index) >> 11) * 0x1p-53;
  }
  /// In [0, bound); bound > 0.
  [[nodiscard]] std::int64_t below(std::uint64_t index, std::int64_t bound) const {
    return static_cast<std::int64_t>(bits(index) % static_cast<std::uint64_t>(bound));
  }
  /// Standard normal (Box and Muller).
  [[nodiscard]] double normal(std::uint64_t index) const;

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t key_;
};

/// FNV-1a over bytes, for keys that need no security.
std::uint64_t hash_bytes(const void* data, std::size_t size,
                         std::uint64_t start = 0xcbf29ce484222325ULL);

}  // namespace rooftile
