// SPDX-License-Identifier: Apache-2.0
// A box of a tensor as TMA copies it: row by row, each to its place in global and in shared memory.
// Sources: PTX ISA, "Tensors: Tiled Mode, Swizzling Modes"; CUDA Driver API,
// cuTensorMapEncodeTiled; and an H200, for what they leave open: with a swizzle, rows lie as far
// apart as the swizzle is wide, bytes between them are neither written nor counted; the swizzle is
// of the address, not of the offset in the box; the innermost coordinate must lie at a multiple of
// 16 bytes; stores and reductions stop the kernel at a negative coordinate, though not beyond the
// other end.
#pragma once

#include <array>

#include "rooftile/device/tensor_map.h"

namespace rooftile::sim {

constexpr std::uint32_t kMostRowBytes = 256 * 8;

struct TmaBox {
  TensorMapSpec map;
  std::array<std::int32_t, kTensorMapRanks> at{};
  std::uint32_t element_bytes = 0;
  std::uint32_t row_bytes = 0;
  std::uint32_t row_pitch = 0;                            // in shared memory
  std::array<std::uint32_t, kTensorMapRanks> elements{};  // of the box; 1 beyond the rank
  std::uint32_t rows = 1;

  TmaBox(const TensorMapSpec& spec, const std::int32_t* coordinates);

  /// As an mbarrier counts them.
  [[nodiscard]] std::uint32_t bytes() const { return rows * row_bytes; }
  /// The range of shared memory that its rows lie in.
  [[nodiscard]] std::uint32_t shared_bytes() const { return rows * row_pitch; }
  /// Whether the box covers its range of shared memory without gaps.
  [[nodiscard]] bool is_dense() const { return row_pitch == row_bytes; }
  /// From the tensor's first to its last byte.
  [[nodiscard]] std::uint64_t tensor_bytes() const;

  /// The part of a row that is in the tensor: bytes [begin, end) of the row, from `global`.
  struct Row {
    std::uint64_t global = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  [[nodiscard]] Row row(std::uint32_t number) const;
  /// What a store or a reduction writes of it: an H200 cuts at multiples of 16 bytes, so that up to
  /// 15 bytes behind the tensor's row are written too.
  [[nodiscard]] Row written_row(std::uint32_t number) const;

  /// Where byte `offset` of a row lies, a multiple of 16, for a box at `address` of the window.
  [[nodiscard]] std::uint32_t shared_address(std::uint32_t address, std::uint32_t row,
                                             std::uint32_t offset) const {
    return swizzled(map.swizzle, address + row * row_pitch + offset);
  }
};

/// What fills a box outside of the tensor: `bytes` of zeros, or of NaNs.
void fill_outside(std::uint8_t* to, std::uint32_t bytes, const TensorMapSpec& map);

}  // namespace rooftile::sim
