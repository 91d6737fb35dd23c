// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/rng.h"

namespace rooftile {

Rng::Rng(std::uint64_t seed, std::string_view stream)
    : key_(mix(seed ^ hash_bytes(stream.data(), stream.size()))) {}

std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t start) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::uint64_t hash = start;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
  return hash;
}

}  // namespace rooftile
