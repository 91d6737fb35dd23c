// SPDX-License-Identifier: Apache-2.0
// The standard epilogue over rows of the f32 sum. Compiled for each instruction set by
// device/cpu/simd_each.inc; on its own this header is empty. Rows of sums are padded to whole
// vectors, rows of D, bias and residual are not.
#ifdef ROOFTILE_SIMD_FILE

// Columns at a time: the row, its bias and the scratch below stay in the first-level cache.
constexpr std::int64_t kEpilogueCols = 256;
using EpilogueRow = float[kEpilogueCols];

// y = e^(scale * x)
ROOFTILE_SIMD_INLINE void exp_row(float* y, const float* x, float scale, std::int64_t cols) {
  for (std::int64_t i = 0; i < cols; i += kLanes) store(y + i, exp(load(x + i) * set(scale)));
}

// x / (1 + e^-x)
inline void silu_row(float* x, std::int64_t cols) {
  alignas(64) EpilogueRow e;
  exp_row(e, x, -1.0F, cols);
  for (std::int64_t i = 0; i < cols; ++i) x[i] = x[i] / (1.0F + e[i]);
}

// 0.5 x (1 + tanh u) = x / (1 + e^-2u), which cancels nowhere.   u = sqrt(2 / pi) (x + 0.044715
// x^3)
inline void gelu_tanh_row(float* x, std::int64_t cols) {
  alignas(64) EpilogueRow e;
  for (std::int64_t i = 0; i < cols; ++i)
    e[i] = x[i] * (1.5957691216F + 0.0713548162726F * (x[i] * x[i]));
  exp_row(e, e, -1.0F, cols);
  for (std::int64_t i = 0; i < cols; ++i) x[i] = x[i] / (1.0F + e[i]);
}

// x Phi(x). The tail Phi(-|x|) is e^(-x^2/2) times a polynomial in t = 1 / (1 + 0.26 |x|), the form
// of Abramowitz and Stegun 7.1.26; these coefficients are our own fit, to 6e-9 of the tail.
inline void gelu_row(float* x, std::int64_t cols) {
  alignas(64) EpilogueRow e;
  alignas(64) EpilogueRow t;
  for (std::int64_t i = 0; i < cols; ++i) {
    e[i] = x[i] * x[i];
    t[i] = 1.0F / (1.0F + 0.26F * (x[i] < 0 ? -x[i] : x[i]));
  }
  exp_row(e, e, -0.5F, cols);
  for (std::int64_t i = 0; i < cols; i += kLanes) {
    const Vec u = load(t + i);
    Vec p = fma(set(0x1.15ebc4p-5F), u, set(-0x1.5d3812p-3F));
    p = fma(p, u, set(0x1.29f626p-2F));
    p = fma(p, u, set(-0x1.9b3fbap-3F));
    p = fma(p, u, set(0x1.99d44ep-3F));
    p = fma(p, u, set(0x1.ff5cp-6F));
    p = fma(p, u, set(0x1.c06e6ep-4F));
    p = fma(p, u, set(0x1.a0a0aep-4F));
    p = fma(p, u, set(0x1.a999f0p-4F));
    p = fma(p, u, set(-0x1.e0c952p-18F));
    store(e + i, p * load(e + i));
  }
  for (std::int64_t i = 0; i < cols; ++i) x[i] = x[i] * (x[i] > 0 ? 1.0F - e[i] : e[i]);
}

inline void sigmoid_row(float* x, std::int64_t cols) {
  alignas(64) EpilogueRow e;
  exp_row(e, x, -1.0F, cols);
  for (std::int64_t i = 0; i < cols; ++i) x[i] = 1.0F / (1.0F + e[i]);
}

// From e^-2|x| = e, (1 - e) / (1 + e); near 0, where that cancels, x + x^3 P(x^2) with our own fit
// of P, to 3e-9 for |x| < 0.6.
inline void tanh_row(float* x, std::int64_t cols) {
  alignas(64) EpilogueRow e;
  alignas(64) EpilogueRow near_zero;
  for (std::int64_t i = 0; i < cols; ++i) e[i] = x[i] < 0 ? -x[i] : x[i];
  for (std::int64_t i = 0; i < cols; i += kLanes) {
    const Vec x_i = load(x + i);
    const Vec square = x_i * x_i;
    Vec p = fma(set(-0x1.830bccp-8F), square, set(0x1.54e00ep-6F));
    p = fma(p, square, set(-0x1.b89ed8p-5F));
    p = fma(p, square, set(0x1.1109dcp-3F));
    p = fma(p, square, set(-0x1.55553ep-2F));
    store(near_zero + i, fma(x_i * square, p, x_i));
  }
  exp_row(e, e, -2.0F, cols);
  for (std::int64_t i = 0; i < cols; ++i) {
    const float far = (1.0F - e[i]) / (1.0F + e[i]);
    const bool is_near = x[i] < 0.6F && x[i] > -0.6F;
    x[i] = is_near ? near_zero[i] : x[i] < 0 ? -far : far;
  }
}

inline void act_row(ops::gemm::Act act, float* x, std::int64_t cols) {
  switch (act) {
    case ops::gemm::Act::none:
      return;
    case ops::gemm::Act::relu:
      for (std::int64_t i = 0; i < cols; i += kLanes) store(x + i, max(set(0.0F), load(x + i)));
      return;
    case ops::gemm::Act::silu:
      return silu_row(x, cols);
    case ops::gemm::Act::gelu:
      return gelu_row(x, cols);
    case ops::gemm::Act::gelu_tanh:
      return gelu_tanh_row(x, cols);
    case ops::gemm::Act::sigmoid:
      return sigmoid_row(x, cols);
    case ops::gemm::Act::tanh:
      return tanh_row(x, cols);
  }
}

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
      act_row(call.act, x, cols);
      if (call.residual.data != nullptr) add_row(x, call.residual, block.row + r, col, cols);
      write_row(call, block.row + r, col, x, cols);
    }
  }
}

#endif
