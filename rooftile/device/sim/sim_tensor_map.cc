// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/sim_tensor_map.h"

#include <cstring>

namespace rooftile::sim {
namespace {

constexpr std::uint64_t kMagic = 0x70616d2d6d697372;  // "rsim-map"

struct Packed {
  std::uint64_t magic = kMagic;
  std::uint64_t checksum = 0;
  std::uint64_t data = 0;
  std::uint64_t stride_bytes[kTensorMapRanks - 1] = {};
  std::uint32_t last[kTensorMapRanks] = {};  // extents less one: 2^32 is allowed
  std::uint16_t box[kTensorMapRanks] = {};
  std::uint8_t element_stride[kTensorMapRanks] = {};
  std::uint8_t dtype = 0;
  std::uint8_t rank = 0;
  std::uint8_t swizzle = 0;
  std::uint8_t outside = 0;
  std::uint8_t unused[33] = {};
};
static_assert(sizeof(Packed) == sizeof(TensorMap));

/// FNV-1a over everything but itself.
std::uint64_t checksum_of(Packed packed) {
  packed.checksum = 0;
  std::uint8_t bytes[sizeof packed];
  std::memcpy(bytes, &packed, sizeof packed);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

}  // namespace

TensorMap encode_tensor_map(const TensorMapSpec& spec) {
  Packed packed;
  packed.data = reinterpret_cast<std::uint64_t>(spec.data);
  packed.dtype = static_cast<std::uint8_t>(spec.dtype);
  packed.rank = static_cast<std::uint8_t>(spec.rank);
  packed.swizzle = static_cast<std::uint8_t>(spec.swizzle);
  packed.outside = static_cast<std::uint8_t>(spec.outside);
  for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) {
    packed.last[d] = static_cast<std::uint32_t>(spec.extent[d] - 1);
    packed.box[d] = static_cast<std::uint16_t>(spec.box[d]);
    packed.element_stride[d] = static_cast<std::uint8_t>(spec.element_stride[d]);
    if (d != 0) packed.stride_bytes[d - 1] = static_cast<std::uint64_t>(spec.stride_bytes[d]);
  }
  packed.checksum = checksum_of(packed);
  TensorMap map;
  std::memcpy(&map, &packed, sizeof map);
  return map;
}

std::optional<TensorMapSpec> decode_tensor_map(const TensorMap& map) {
  Packed packed;
  std::memcpy(static_cast<void*>(&packed), &map, sizeof map);
  if (packed.magic != kMagic || packed.checksum != checksum_of(packed)) return std::nullopt;
  TensorMapSpec spec;
  spec.data = reinterpret_cast<void*>(packed.data);
  spec.dtype = static_cast<DType>(packed.dtype);
  spec.rank = packed.rank;
  spec.swizzle = static_cast<Swizzle>(packed.swizzle);
  spec.outside = static_cast<OutOfBounds>(packed.outside);
  for (std::size_t d = 0; d < packed.rank; ++d) {
    spec.extent[d] = std::int64_t{packed.last[d]} + 1;
    spec.box[d] = packed.box[d];
    spec.element_stride[d] = packed.element_stride[d];
    if (d != 0) spec.stride_bytes[d] = static_cast<std::int64_t>(packed.stride_bytes[d - 1]);
  }
  return spec;
}

}  // namespace rooftile::sim
