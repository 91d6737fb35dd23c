// SPDX-License-Identifier: Apache-2.0
// Tiles of A and B in shared memory and of D in registers: each element that is loaded is used 64
// times. Any strides and types; the arithmetic is f32 multiply-adds. Method: V. Volkov and J.
// Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", 2008.
#include "rooftile/ops/gemm/sm90_gemm.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/unroll.h"
#if !ROOFTILE_DEVICE_CODE
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#endif

namespace rooftile::ops::gemm {

#if ROOFTILE_DEVICE_CODE
namespace {

constexpr int kTile = 64;     // of m and n
constexpr int kDepth = 16;    // of k
constexpr int kThreads = 16;  // a side; each has kEach x kEach elements, kThreads apart
constexpr int kEach = kTile / kThreads;
constexpr int kPad = 1;  // the tiles are written along k and read along m or n

/// Rows first.. of a matrix whose k runs along `along_k`, zeros outside.
__device__ inline void load_tile(float (&tile)[kDepth][kTile + kPad], const MatrixView& view,
                                 long long first, long long extent, long long p, long long k,
                                 long long stride, long long stride_k, int thread) {
  // Neighbouring threads read neighbours in memory, whichever way that is.
  const bool is_k_inner = stride_k == 1;
  for (int e = thread; e < kTile * kDepth; e += kThreads * kThreads) {
    const int row = is_k_inner ? e / kDepth : e % kTile;
    const int depth = is_k_inner ? e % kDepth : e / kTile;
    const bool is_inside = first + row < extent && p + depth < k;
    tile[depth][row] = is_inside
                           ? tile::load_element(view.data, view.type,
                                                (first + row) * stride + (p + depth) * stride_k)
                           : 0.0F;
  }
}

__global__ void __launch_bounds__(kThreads* kThreads) tiled(const Sm90Call call) {
  __shared__ float a[kDepth][kTile + kPad];
  __shared__ float b[kDepth][kTile + kPad];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const long long first_i = static_cast<long long>(blockIdx.y) * kTile;
  const long long first_j = static_cast<long long>(blockIdx.x) * kTile;
  const bool has_elements = first_i + y < call.m && first_j + x < call.n;
  float sum[kEach][kEach] = {};
  for (long long p = 0; p < call.k; p += kDepth) {
    const int thread = y * kThreads + x;
    load_tile(a, call.a, first_i, call.m, p, call.k, call.a.stride_i, call.a.stride_j, thread);
    load_tile(b, call.b, first_j, call.n, p, call.k, call.b.stride_j, call.b.stride_i, thread);
    __syncthreads();
    ROOFTILE_UNROLL for (int depth = 0; has_elements && depth < kDepth; ++depth) {
      float of_a[kEach];
      float of_b[kEach];
      ROOFTILE_UNROLL for (int e = 0; e < kEach; ++e) of_a[e] = a[depth][y + e * kThreads];
      ROOFTILE_UNROLL for (int e = 0; e < kEach; ++e) of_b[e] = b[depth][x + e * kThreads];
      ROOFTILE_UNROLL for (int i = 0; i < kEach; ++i)
          ROOFTILE_UNROLL for (int j = 0; j < kEach; ++j) sum[i][j] =
              fmaf(of_a[i], of_b[j], sum[i][j]);
    }
    __syncthreads();
  }
  ROOFTILE_UNROLL for (int i = 0; i < kEach; ++i) ROOFTILE_UNROLL for (int j = 0; j < kEach; ++j) {
    const long long row = first_i + y + i * kThreads;
    const long long column = first_j + x + j * kThreads;
    if (row < call.m && column < call.n)
      store_at(call.d, row, column, finished(call.epilogue, row, column, sum[i][j]));
  }
}

}  // namespace
#else
extern const KernelTable sm90_tiled_kernels;

namespace {

constexpr std::int64_t kTile = 64;
constexpr std::int64_t kMostRows = 65535 * kTile;

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("m") > kMostRows)
    return unsupported("m is at most " + std::to_string(kMostRows));
  return supports_sm90(problem);
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const GpuKernel kernel = find_kernel(sm90_tiled_kernels, "tiled");
  const Sm90Call fixed = sm90_call(problem);
  const auto blocks = [](long long extent) {
    return static_cast<std::uint32_t>((extent + kTile - 1) / kTile);
  };
  const LaunchShape shape{.grid = {blocks(fixed.n), blocks(fixed.m)}, .block = {16, 16}};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (shape.grid.count() != 0)
      launch(*context.stream, kernel, shape, with_arguments(fixed, args));
  }};
}

}  // namespace

extern const KernelDef sm90_tiled;
const KernelDef sm90_tiled{
    .op = "gemm",
    .name = "sm90_tiled",
    .idea =
        "64x64 tiles through shared memory, 4x4 a thread in registers (Volkov and Demmel, 2008)",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};
#endif

ROOFTILE_KERNEL_TABLE(sm90_tiled_kernels, ROOFTILE_KERNEL_ENTRY(tiled))

}  // namespace rooftile::ops::gemm
