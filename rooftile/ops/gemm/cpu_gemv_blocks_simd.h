// SPDX-License-Identifier: Apache-2.0
// Dot products of f32 rows with columns of blocks. Compiled for each instruction set by
// device/cpu/simd_each.inc; on its own this header is empty.
#ifdef ROOFTILE_SIMD_FILE

#include "rooftile/device/cpu/simd_blocks.inc"

// How far ahead memory is asked for: past what the prefetcher of the processor has under way.
constexpr std::int64_t kAheadBytes = 1024;

// Rows r .. r + Rows - 1 with one column. Two chains for each lane, whatever Rows is, so a row's
// bits do not depend on the others.
template <class Block, int Rows>
ROOFTILE_SIMD_INLINE void dot_rows(const ops::gemm::BlocksTask& t, const char* column,
                                   std::int64_t r, float* sums) {
  const float* x = t.x + r * t.x_stride;
  Vec sum_of[Rows][2];
#pragma GCC unroll 2
  for (int i = 0; i < Rows; ++i) sum_of[i][0] = sum_of[i][1] = set(0.0F);
  const auto* block = reinterpret_cast<const Block*>(column);
  for (std::int64_t k = 0; k < t.columns.ks; k += Block::kElements, ++block) {
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < std::int64_t{sizeof(Block)}; i += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(block) + kAheadBytes + i);
#pragma GCC unroll 8
    for (int g = 0; g < Block::kElements / 32; ++g) {
      Vec w[2];
      decode32(*block, g, w);
#pragma GCC unroll 2
      for (int i = 0; i < Rows; ++i) {
        const float* x_i = x + i * t.x_stride + k + 32 * g;
        sum_of[i][0] = fma(load(x_i), w[0], sum_of[i][0]);
        sum_of[i][1] = fma(load(x_i + kLanes), w[1], sum_of[i][1]);
      }
    }
  }
#pragma GCC unroll 2
  for (int i = 0; i < Rows; ++i) sums[i * t.columns.ld] = sum(sum_of[i][0] + sum_of[i][1]);
}

template <class Block>
void dot_block_columns(const ops::gemm::BlocksTask& t) {
  for (std::int64_t c = 0; c < t.columns.cols; ++c) {
    const char* column = t.columns.b + c * t.columns.b_bytes;
    std::int64_t r = 0;
    for (; r + 2 <= t.columns.rows; r += 2)
      dot_rows<Block, 2>(t, column, r, t.columns.sums + r * t.columns.ld + c);
    if (r < t.columns.rows) dot_rows<Block, 1>(t, column, r, t.columns.sums + r * t.columns.ld + c);
  }
}

inline void dot_blocks(const ops::gemm::BlocksTask& t) {
  with_block_type(t.columns.dtype, [&](auto block) { dot_block_columns<decltype(block)>(t); });
}

#endif
