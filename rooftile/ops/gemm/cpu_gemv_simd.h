// SPDX-License-Identifier: Apache-2.0
// The inner loops of the few-rows multiplication. Compiled for each instruction set by
// device/cpu/simd_each.inc; on its own this header is empty.
#ifdef ROOFTILE_SIMD_FILE

// Sums of rows (B's rows are contiguous) ---------------------------------------------------------

// Four rows of B, from k on. The sums lie in the first-level cache; the order along k is that of the
// blocked kernel, so the bits are too. Rows is t.rows, or 1: then the multipliers stay in registers.
template <class T>
ROOFTILE_SIMD_INLINE void add_four_rows(const ops::gemm::GemvTask& t, std::int64_t rows,
                                        std::int64_t k) {
  const T* b = static_cast<const T*>(t.b) + k * t.b_stride;
  const std::int64_t ahead = k + 8 <= t.ks ? 4 * t.b_stride : 0;
  for (std::int64_t j = 0; j + kLanes <= t.cols; j += kLanes) {
    Vec b_rows[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      b_rows[i] = load(b + i * t.b_stride + j);
      __builtin_prefetch(b + i * t.b_stride + j + ahead);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* x = t.x + r * t.x_stride + k;
      Vec sum = load(t.sums + r * t.ld + j);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sum = fma(set(x[i]), b_rows[i], sum);
      store(t.sums + r * t.ld + j, sum);
    }
  }
}

// Row k of B, columns from `first` on, the last of which may be few.
template <class T>
void add_one_row(const ops::gemm::GemvTask& t, std::int64_t k, std::int64_t first) {
  const T* b = static_cast<const T*>(t.b) + k * t.b_stride;
  for (std::int64_t j = first; j < t.cols; j += kLanes) {
    const Vec b_row = t.cols - j >= kLanes ? load(b + j) : load_first(b + j, t.cols - j, T{});
    for (std::int64_t r = 0; r < t.rows; ++r) {
      float* sum = t.sums + r * t.ld + j;
      store(sum, fma(set(t.x[r * t.x_stride + k]), b_row, load(sum)));
    }
  }
}

template <class T>
void sum_rows(const ops::gemm::GemvTask& t) {
  for (std::int64_t i = 0; i < t.rows * t.ld; i += kLanes) store(t.sums + i, set(0.0F));
  const std::int64_t whole = t.cols / kLanes * kLanes;
  std::int64_t k = 0;
  for (; k + 4 <= t.ks; k += 4) {
    if (t.rows == 1)
      add_four_rows<T>(t, 1, k);
    else
      add_four_rows<T>(t, t.rows, k);
    if (whole < t.cols)
      for (int i = 0; i < 4; ++i) add_one_row<T>(t, k + i, whole);
  }
  for (; k < t.ks; ++k) add_one_row<T>(t, k, 0);
}

// Dot products (B's columns are contiguous) ------------------------------------------------------

// The products of k in [begin, end) for Rows x Cols of D at (r, c), added lane by lane to `partial`:
// one chain for each lane, whatever Rows and Cols, so a row's bits do not depend on the others.
template <class T, int Rows, int Cols>
void dot_block(const ops::gemm::GemvTask& t, std::int64_t r, std::int64_t c, std::int64_t begin,
               std::int64_t end) {
  constexpr std::int64_t kAhead = 1024 / sizeof(T);
  const float* x = t.x + r * t.x_stride;
  const T* b = static_cast<const T*>(t.b) + c * t.b_stride;
  float* partial = t.partial + (r * t.ld + c) * kLanes;
  Vec sum[Rows][Cols];
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < Cols; ++j) sum[i][j] = load(partial + (i * t.ld + j) * kLanes);
  std::int64_t k = begin;
  for (; k + kLanes <= end; k += kLanes) {
    Vec b_k[Cols];
#pragma GCC unroll 4
    for (int j = 0; j < Cols; ++j) {
      b_k[j] = load(b + j * t.b_stride + k);
      __builtin_prefetch(b + j * t.b_stride + k + kAhead);
    }
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      const Vec x_k = load(x + i * t.x_stride + k);
#pragma GCC unroll 4
      for (int j = 0; j < Cols; ++j) sum[i][j] = fma(x_k, b_k[j], sum[i][j]);
    }
  }
  if (k < end) {
#pragma GCC unroll 4
    for (int j = 0; j < Cols; ++j) {
      const Vec b_k = load_first(b + j * t.b_stride + k, end - k, T{});
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i)
        sum[i][j] = fma(load_first(x + i * t.x_stride + k, end - k, 0.0F), b_k, sum[i][j]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < Cols; ++j) store(partial + (i * t.ld + j) * kLanes, sum[i][j]);
}

// All rows for Cols columns at c.
template <class T, int Cols>
void dot_rows(const ops::gemm::GemvTask& t, std::int64_t c, std::int64_t begin, std::int64_t end) {
  constexpr int kRows = 4 / Cols;  // four sums hide the latency of two multiply-add units
  std::int64_t r = 0;
  for (; r + kRows <= t.rows; r += kRows) dot_block<T, kRows, Cols>(t, r, c, begin, end);
  for (; r < t.rows; ++r) dot_block<T, 1, Cols>(t, r, c, begin, end);
}

template <class T>
void dot_cols(const ops::gemm::GemvTask& t) {
  for (std::int64_t i = 0; i < t.rows * t.ld * kLanes; i += kLanes)
    store(t.partial + i, set(0.0F));
  for (std::int64_t k = 0; k < t.ks; k += t.block_k) {
    const std::int64_t end = std::min(k + t.block_k, t.ks);
    std::int64_t c = 0;
    if (t.rows == 1)
      for (; c + 4 <= t.cols; c += 4) dot_rows<T, 4>(t, c, k, end);
    if (t.rows <= 3)
      for (; c + 2 <= t.cols; c += 2) dot_rows<T, 2>(t, c, k, end);
    for (; c < t.cols; ++c) dot_rows<T, 1>(t, c, k, end);
  }
  for (std::int64_t r = 0; r < t.rows; ++r)
    for (std::int64_t c = 0; c < t.cols; ++c)
      t.sums[r * t.ld + c] = sum(load(t.partial + (r * t.ld + c) * kLanes));
}

// Chooses by type.
inline void gemv_task(const ops::gemm::GemvTask& t, DType b_dtype, bool k_contiguous) {
  switch (b_dtype) {
    case DType::bf16: return k_contiguous ? dot_cols<bf16>(t) : sum_rows<bf16>(t);
    case DType::fp16: return k_contiguous ? dot_cols<fp16>(t) : sum_rows<fp16>(t);
    default: return k_contiguous ? dot_cols<float>(t) : sum_rows<float>(t);
  }
}

#endif
