// SPDX-License-Identifier: Apache-2.0
// Rows of blocks to f32. Compiled for each instruction set by device/cpu/simd_each.inc; on its own
// this header is empty.
#ifdef ROOFTILE_SIMD_FILE

#include "rooftile/device/cpu/simd_blocks.inc"

template <class Block>
ROOFTILE_SIMD_INLINE void store32(const Block& block, int group, float* values) {
  Vec w[2];
  decode32(block, group, w);
  store(values, w[0]);
  store(values + kLanes, w[1]);
}

template <class Block>
void decode_blocks(const void* row, std::int64_t first, std::int64_t n, float* values) {
  constexpr int kGroups = Block::kElements / 32;
  const auto* block = static_cast<const Block*>(row) + first / Block::kElements;
  int group = static_cast<int>(first % Block::kElements / 32);
  while (n > 0) {
    if (group == 0 && n >= Block::kElements) {
#pragma GCC unroll 8
      for (int g = 0; g < kGroups; ++g) store32(*block, g, values + g * 32);
      values += Block::kElements;
      n -= Block::kElements;
      ++block;
    } else {
      store32(*block, group, values);
      values += 32;
      n -= 32;
      group = (group + 1) % kGroups;
      if (group == 0) ++block;
    }
  }
}

inline void decode_row(DType dtype, const void* row, std::int64_t first, std::int64_t n,
                       float* values) {
  with_block_type(dtype,
                  [&](auto block) { decode_blocks<decltype(block)>(row, first, n, values); });
}

#endif
