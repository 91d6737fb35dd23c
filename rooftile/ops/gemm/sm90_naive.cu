// SPDX-License-Identifier: Apache-2.0
// The formula, an element of D a thread, any strides and types: the first rung of the ladder.
#include "rooftile/ops/gemm/sm90_gemm.h"
#include "rooftile/tile/kernel_table.h"
#if !ROOFTILE_DEVICE_CODE
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#endif

namespace rooftile::ops::gemm {

#if ROOFTILE_DEVICE_CODE
namespace {

__global__ void __launch_bounds__(256) naive(const Sm90Call call) {
  const long long j = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long i = static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (i >= call.m || j >= call.n) return;
  float sum = 0;
  for (long long p = 0; p < call.k; ++p)
    sum = fmaf(load_at(call.a, i, p), load_at(call.b, p, j), sum);
  store_at(call.d, i, j, finished(call.epilogue, i, j, sum));
}

}  // namespace
#else
extern const KernelTable sm90_naive_kernels;

namespace {

constexpr std::uint32_t kColumns = 32;
constexpr std::uint32_t kRows = 8;
constexpr std::int64_t kMostRows = 65535LL * kRows;

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("m") > kMostRows)
    return unsupported("m is at most " + std::to_string(kMostRows));
  return supports_sm90(problem);
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const GpuKernel kernel = find_kernel(sm90_naive_kernels, "naive");
  const Sm90Call fixed = sm90_call(problem);
  const auto blocks = [](long long extent, std::uint32_t size) {
    return static_cast<std::uint32_t>((extent + size - 1) / size);
  };
  const LaunchShape shape{.grid = {blocks(fixed.n, kColumns), blocks(fixed.m, kRows)},
                          .block = {kColumns, kRows}};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (shape.grid.count() != 0)
      launch(*context.stream, kernel, shape, with_arguments(fixed, args));
  }};
}

}  // namespace

extern const KernelDef sm90_naive;
const KernelDef sm90_naive{
    .op = "gemm",
    .name = "sm90_naive",
    .idea = "the formula, an element of D a thread, any strides and types",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};
#endif

ROOFTILE_KERNEL_TABLE(sm90_naive_kernels, ROOFTILE_KERNEL_ENTRY(naive))

}  // namespace rooftile::ops::gemm
