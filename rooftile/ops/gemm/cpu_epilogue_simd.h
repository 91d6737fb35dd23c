// SPDX-License-Identifier: Apache-2.0
// The standard epilogue over rows of the f32 sum. Compiled for each instruction set by
// device/cpu/simd_each.inc; on its own this header is empty. Rows of sums are padded to whole
// vectors, rows of D, bias and residual are not.
#ifdef ROOFTILE_SIMD_FILE

#include "rooftile/device/cpu/simd_activation.inc"

// Columns at a time: the row and its bias stay in the first-level cache.
constexpr std::int64_t kEpilogueCols = 256;
using EpilogueRow = float[kEpilogueCols];

template <class T>
ROOFTILE_SIMD_INLINE Vec load_some(const T* p, std::int64_t n) {
  return n >= kLanes ? load(p) : load_first(p, n, T{});
}

// x += row[0 .. cols), elements `stride` apart
template <class T>
void add_row(float* x, const T* row, std::int64_t stride, std::int64_t cols) {
  if (stride == 1) {
    for (std::int64_t i = 0; i < cols; i += kLanes)
      store(x + i, load(x + i) + load_some(row + i, cols - i));
  } else {
    for (std::int64_t i = 0; i < cols; ++i) x[i] += static_cast<float>(row[i * stride]);
  }
}

inline void add_row(float* x, const ops::gemm::Matrix& matrix, std::int64_t row, std::int64_t col,
                    std::int64_t cols) {
  const std::int64_t first = row * matrix.row_stride + col * matrix.col_stride;
  const std::int64_t stride = matrix.col_stride;
  switch (matrix.dtype) {
    case DType::bf16:
      return add_row(x, static_cast<const bf16*>(matrix.data) + first, stride, cols);
    case DType::fp16:
      return add_row(x, static_cast<const fp16*>(matrix.data) + first, stride, cols);
    default:
      return add_row(x, static_cast<const float*>(matrix.data) + first, stride, cols);
  }
}

template <class T>
void write_row(T* row, std::int64_t stride, const float* x, std::int64_t cols) {
  if (stride == 1) {
    std::int64_t i = 0;
    for (; i + kLanes <= cols; i += kLanes) store(row + i, load(x + i));
    if (i < cols) store_first(row + i, load(x + i), cols - i);
    return;
  }
  for (std::int64_t i = 0; i < cols; i += kLanes) {
    T rounded[kLanes];
    store(rounded, load(x + i));
    for (std::int64_t j = i; j < std::min(i + kLanes, cols); ++j) row[j * stride] = rounded[j - i];
  }
}

inline void write_row(const ops::gemm::GemmCall& call, std::int64_t row, std::int64_t col,
                      const float* x, std::int64_t cols) {
  const std::int64_t first = row * call.d_row_stride + col * call.d_col_stride;
  const std::int64_t stride = call.d_col_stride;
  switch (call.d_dtype) {
    case DType::bf16:
      return write_row(static_cast<bf16*>(call.d) + first, stride, x, cols);
    case DType::fp16:
      return write_row(static_cast<fp16*>(call.d) + first, stride, x, cols);
    default:
      return write_row(static_cast<float*>(call.d) + first, stride, x, cols);
  }
}

inline void finish_rows(const ops::gemm::GemmCall& call, const ops::gemm::AccBlock& block) {
  for (std::int64_t c = 0; c < block.cols; c += kEpilogueCols) {
    const std::int64_t cols = std::min(kEpilogueCols, block.cols - c);
    const std::int64_t col = block.col + c;
    alignas(64) EpilogueRow bias{};
    if (call.bias.data != nullptr) add_row(bias, call.bias, 0, col, cols);
    for (std::int64_t r = 0; r < block.rows; ++r) {
      float* x = block.acc + r * block.ld + c;
      if (call.bias.data != nullptr) add_row(x, bias, 1, cols);
      if (call.act != Act::none) act_block(call.act, x, x, cols);
      if (call.residual.data != nullptr) add_row(x, call.residual, block.row + r, col, cols);
      write_row(call, block.row + r, col, x, cols);
    }
  }
}

#endif
