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
  /// Standard normal but for its kurtosis, 2.97, and its reach, 8.3: how many of 64 bits are set,
  /// and two uniform numbers that fill the steps between. Why not a logarithm and a cosine: these
  /// few integer operations give the same bits with every library, and take a tenth of the time.
  [[nodiscard]] double normal(std::uint64_t index) const {
    constexpr double kPerDeviation = 0.24870800168690346;  // 1 / sqrt(64 / 4 + 2 / 12)
    const std::uint64_t fine = bits(2 * index + 1);
    const std::uint64_t between = (fine >> 32) + (fine & 0xffffffff) + 1;
    return (ones(bits(2 * index)) - 33 + static_cast<double>(between) * 0x1p-32) * kPerDeviation;
  }

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  // Not std::popcount: a call where the instruction may not be used.
  static double ones(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return static_cast<double>(word * 0x0101010101010101 >> 56);
  }

  std::uint64_t key_;
};

/// FNV-1a over bytes, for keys that need no security.
std::uint64_t hash_bytes(const void* data, std::size_t size,
                         std::uint64_t start = 0xcbf29ce484222325ULL);

}  // namespace rooftile
