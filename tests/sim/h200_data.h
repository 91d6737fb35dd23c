// SPDX-License-Identifier: Apache-2.0
// The data of the runs on an H200 that the simulator is compared with, and the hash of their
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace rooftile::h200 {

/// The splitmix64 finaliser (Steele, Lea and Flood, 2014) of a counter.
inline std::uint32_t number(std::uint64_t i, std::uint32_t seed) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u + seed * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>(z >> 32);
}

/// In [-2, 2), exact in f32.
inline float uniform(std::uint64_t i, std::uint32_t seed) {
  return static_cast<float>(static_cast<std::int32_t>(number(i, seed) >> 8) - (1 << 23)) * 0x1p-22F;
}

/// The same, cut to bf16.
inline std::uint16_t uniform_bf16(std::uint64_t i, std::uint32_t seed) {
  const float value = uniform(i, seed);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

inline std::vector<float> uniforms(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = uniform(i, seed);
  return values;
}

/// FNV-1a over words of 32 bits.
inline std::uint64_t hash(const void* data, std::size_t bytes) {
  std::uint64_t h = 1469598103934665603u;
  for (std::size_t i = 0; i < bytes; i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, static_cast<const char*>(data) + i, sizeof word);
    h = (h ^ word) * 1099511628211u;
  }
  return h;
}

}  // namespace rooftile::h200
