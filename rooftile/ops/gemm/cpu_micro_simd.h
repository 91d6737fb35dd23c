// SPDX-License-Identifier: Apache-2.0
// The f32 register kernel, written once over Vec. Compiled for each instruction set by
// device/cpu/simd_each.inc; on its own this header is empty.
#ifdef ROOFTILE_SIMD_FILE

template <int Rows, int Vecs>
ROOFTILE_SIMD_INLINE void micro_step(Vec (&sum)[Rows][Vecs], const float* a, const float* b) {
  Vec b_row[Vecs];  // [nr]
#pragma GCC unroll 2
  for (int j = 0; j < Vecs; ++j) b_row[j] = load(b + j * kLanes);
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r) {
    const Vec a_r = set(a[r]);
#pragma GCC unroll 2
    for (int j = 0; j < Vecs; ++j) sum[r][j] = fma(a_r, b_row[j], sum[r][j]);
  }
}

// Rows of a tile of at most MaxRows x (16 Vecs); panels are MaxRows and 16 Vecs wide.
template <int Rows, int MaxRows, int Vecs>
void micro_tile(const ops::gemm::MicroArgs& args) {
  constexpr int kCols = Vecs * kLanes;
  constexpr int kUnroll = 4;
  Vec sum[Rows][Vecs];  // [Rows][nr]
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
    for (int j = 0; j < Vecs; ++j)
      sum[r][j] = args.accumulate ? load(args.c + r * args.ldc + j * kLanes) : set(0.0F);
  }
  const auto* a = static_cast<const float*>(args.a);
  const auto* b = static_cast<const float*>(args.b);
  const auto* ahead = static_cast<const char*>(args.ahead);
  std::int64_t k = args.units;
  for (; k >= kUnroll; k -= kUnroll, a += kUnroll * MaxRows, b += kUnroll * kCols) {
    __builtin_prefetch(ahead, 0, 2);
    __builtin_prefetch(ahead + args.ahead_stride, 0, 2);
    ahead += 2 * args.ahead_stride;
#pragma GCC unroll 4
    for (int u = 0; u < kUnroll; ++u) micro_step<Rows, Vecs>(sum, a + u * MaxRows, b + u * kCols);
  }
  for (; k > 0; --k, a += MaxRows, b += kCols) micro_step<Rows, Vecs>(sum, a, b);
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
    for (int j = 0; j < Vecs; ++j) store(args.c + r * args.ldc + j * kLanes, sum[r][j]);
  }
}

// Calls the tile for `rows`, which only the program at run time knows.
template <int Rows, int MaxRows, int Vecs>
void micro_rows(int rows, const ops::gemm::MicroArgs& args) {
  if constexpr (Rows > 1)
    if (rows < Rows) return micro_rows<Rows - 1, MaxRows, Vecs>(rows, args);
  micro_tile<Rows, MaxRows, Vecs>(args);
}

template <int MaxRows, int Vecs>
ops::gemm::MicroKernel make_micro() {
  return {MaxRows, Vecs * kLanes, ops::gemm::PackUnit::f32, micro_rows<MaxRows, MaxRows, Vecs>};
}

#endif
