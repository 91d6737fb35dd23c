// SPDX-License-Identifier: Apache-2.0
// The inner loops of the few-rows multiplication. Compiled for each instruction set by
// device/cpu/simd_each.inc; on its own this header is empty.
#ifdef ROOFTILE_SIMD_FILE

// Sums of rows (B's rows are contiguous) ---------------------------------------------------------

// Rows of B read side by side. Why eight: more streams keep the memory busier, and the sums are
// fetched and put back an eighth as often (on Zen 3, 4 rows take 1.1 to
// 1.2 times as long, and 16 are no faster).
constexpr int kStreams = 8;

// Rows k .. k + 7 of B. The order along k is that of the blocked kernel, so the bits are too.
// `rows` is t.rows; where it is the constant 1, the multipliers stay in registers.
template <class T>
ROOFTILE_SIMD_INLINE void add_rows(const ops::gemm::GemvTask& t, std::int64_t rows,
                                   std::int64_t k) {
  const T* b = static_cast<const T*>(t.b) + k * t.b_stride;
  for (std::int64_t j = 0; j + kLanes <= t.cols; j += kLanes) {
    Vec b_rows[kStreams];
#pragma GCC unroll 8
    for (int i = 0; i < kStreams; ++i) b_rows[i] = load(b + i * t.b_stride + j);
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* x = t.x + r * t.x_stride + k;
      Vec sum = load(t.sums + r * t.ld + j);
#pragma GCC unroll 8
      for (int i = 0; i < kStreams; ++i) sum = fma(set(x[i]), b_rows[i], sum);
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
  for (; k + kStreams <= t.ks; k += kStreams) {
    if (t.rows == 1)
      add_rows<T>(t, 1, k);
    else
      add_rows<T>(t, t.rows, k);
    if (whole < t.cols)
      for (int i = 0; i < kStreams; ++i) add_one_row<T>(t, k + i, whole);
  }
  for (; k < t.ks; ++k) add_one_row<T>(t, k, 0);
}

// Dot products (B's columns are contiguous) ------------------------------------------------------

// The products of k in [begin, end) for row r and Cols columns at c, added lane by lane to
// `partial`: one chain for each lane, so a row's bits depend neither on Cols nor on the other rows.
template <class T, int Cols>
void dot_block(const ops::gemm::GemvTask& t, std::int64_t r, std::int64_t c, std::int64_t begin,
               std::int64_t end) {
  const float* x = t.x + r * t.x_stride;
  const T* b = static_cast<const T*>(t.b) + c * t.b_stride;
  float* partial = t.partial + (r * t.ld + c) * kLanes;
  Vec sum[Cols];
#pragma GCC unroll 4
  for (int j = 0; j < Cols; ++j) sum[j] = load(partial + j * kLanes);
  std::int64_t k = begin;
  for (; k + kLanes <= end; k += kLanes) {
    const Vec x_k = load(x + k);
#pragma GCC unroll 4
    for (int j = 0; j < Cols; ++j) sum[j] = fma(x_k, load(b + j * t.b_stride + k), sum[j]);
  }
  if (k < end) {
    const Vec x_k = load_first(x + k, end - k, 0.0F);
#pragma GCC unroll 4
    for (int j = 0; j < Cols; ++j)
      sum[j] = fma(x_k, load_first(b + j * t.b_stride + k, end - k, T{}), sum[j]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < Cols; ++j) store(partial + j * kLanes, sum[j]);
}

// Four columns at a time: four streams of memory for the first row, and the first-level cache for
// the others, since a block of k of four columns fits.
template <class T>
void dot_cols(const ops::gemm::GemvTask& t) {
  for (std::int64_t i = 0; i < t.rows * t.ld * kLanes; i += kLanes) store(t.partial + i, set(0.0F));
  for (std::int64_t k = 0; k < t.ks; k += t.block_k) {
    const std::int64_t end = std::min(k + t.block_k, t.ks);
    std::int64_t c = 0;
    for (; c + 4 <= t.cols; c += 4)
      for (std::int64_t r = 0; r < t.rows; ++r) dot_block<T, 4>(t, r, c, k, end);
    for (; c < t.cols; ++c)
      for (std::int64_t r = 0; r < t.rows; ++r) dot_block<T, 1>(t, r, c, k, end);
  }
  for (std::int64_t r = 0; r < t.rows; ++r)
    for (std::int64_t c = 0; c < t.cols; ++c)
      t.sums[r * t.ld + c] = sum(load(t.partial + (r * t.ld + c) * kLanes));
}

// Chooses by type.
inline void gemv_task(const ops::gemm::GemvTask& t, DType b_dtype, bool k_contiguous) {
  switch (b_dtype) {
    case DType::bf16:
      return k_contiguous ? dot_cols<bf16>(t) : sum_rows<bf16>(t);
    case DType::fp16:
      return k_contiguous ? dot_cols<fp16>(t) : sum_rows<fp16>(t);
    default:
      return k_contiguous ? dot_cols<float>(t) : sum_rows<float>(t);
  }
}

#endif
