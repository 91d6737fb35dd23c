// SPDX-License-Identifier: Apache-2.0
// At most four rows of A: the time is that of reading B, a weight [n, k], which warps read row by
// row, 16 bytes a lane and several such loads under way; A comes from the first-level cache. What
// a lane sums, and how the lanes' sums are added, follows from k alone. From sm_80 on.
#include "rooftile/ops/gemm/sm90_gemm.h"
#include "rooftile/tile/kernel_table.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/elements.h"
#include "rooftile/tile/row_reduce.h"
#include "rooftile/tile/unroll.h"
#else
#include <algorithm>

#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#include "rooftile/ops/row_blocks.h"
#endif

namespace rooftile::ops::gemm {

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm80_gemv_kernels;
#endif

namespace {

constexpr int kWarps = 4;  // of a block
// Why said: ptxas takes as few registers as it can otherwise, and loads one after the other.
constexpr int kBlocksAtOnce = 6;

#if ROOFTILE_DEVICE_CODE

using namespace tile;

// kUnder: loads of B of a thread that are under way. kIsWhole: A's and B's rows are whole aligned
// packs. `share` warps have a row of B.
template <class T, int kRows, int kUnder, bool kIsWhole>
__global__ void __launch_bounds__(kWarps* kWarp, kBlocksAtOnce)
    gemv(const Sm90Call call, int share) {
  __shared__ float scratch[kWarps][kRows];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const long long j = static_cast<long long>(blockIdx.x) * (kWarps / share) + warp / share;
  const long long k = j < call.n ? call.k : 0;
  const int step = share * kWarp * kPack<T>;
  const T* const b = static_cast<const T*>(call.b.data) + j * call.b.stride_j;
  const T* a[kRows];
  ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) {
    const long long row = i < call.m ? i : 0;  // of more than there are: summed in vain
    a[i] = static_cast<const T*>(call.a.data) + row * call.a.stride_i;
  }
  const auto load = [&](const T* from, long long at) {
    if constexpr (!kIsWhole) return load_pack(from + at, k - at, false);
    return *reinterpret_cast<const Pack*>(from + at);
  };
  float sums[kRows] = {};
  const auto add = [&](const Pack& weights, long long at) {
    float w[kPack<T>];
    unpack<T>(w, weights);
    ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) {
      float x[kPack<T>];
      unpack<T>(x, load(a[i], at));
      ROOFTILE_UNROLL for (int e = 0; e < kPack<T>; ++e) sums[i] = fmaf(x[e], w[e], sums[i]);
    }
  };

  long long at = (warp % share * kWarp + lane) * kPack<T>;
  if constexpr (kIsWhole) {
    for (; at + (kUnder - 1) * step < k; at += kUnder * step) {
      Pack weights[kUnder];
      ROOFTILE_UNROLL for (int u = 0; u < kUnder; ++u) weights[u] =
          load_no_l1(reinterpret_cast<const Pack*>(b + at + u * step));
      ROOFTILE_UNROLL for (int u = 0; u < kUnder; ++u) add(weights[u], at + u * step);
    }
  }
  ROOFTILE_NO_UNROLL for (; at < k; at += step) add(load(b, at), at);
  ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) {
    sums[i] = lanes_reduce(sums[i], kWarp, [](float x, float y) { return x + y; });
    if (share > 1 && lane == 0) scratch[warp][i] = sums[i];
  }
  if (share > 1) {
    __syncthreads();
    ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) for (int other = 1; other < share;
                                                         ++other) if (warp % share == 0) sums[i] +=
        scratch[warp + other][i];
  }
  if (warp % share != 0 || j >= call.n) return;
  ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) if (lane == i && i < call.m)
      store_at(call.d, i, j, finished(call.epilogue, i, j, sums[i]));
}

#else

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("m") > 4) return unsupported("m is at most 4");
  if (problem.dtype("a") != problem.dtype("b")) return unsupported("b must have a's dtype");
  if (Support general = supports_sm90(problem); !general) return general;
  const std::int64_t k = problem.axis("k");
  if (k > 1 && (problem.arg("a").strides[1] != 1 || problem.arg("b").strides[0] != 1))
    return unsupported("a must be contiguous along k, and b too (a weight [n, k], layout nt)");
  if ((problem.axis("n") + kWarps - 1) / kWarps > (std::int64_t{1} << 31) - 1)
    return unsupported("n is at most 2^31 - 1");
  return supported();
}

/// As many warps of a row of B as give all compute units enough of them.
std::vector<Config> configs(const Problem& problem, const DeviceProperties& device) {
  constexpr std::int64_t kWarpsOfUnit = 16;
  std::int64_t best = 1;
  while (best < kWarps && problem.axis("n") * best < kWarpsOfUnit * device.compute_units) best *= 2;
  std::vector<Config> configs = {{{{"share", best}}}};
  for (const std::int64_t share : {1, 2, 4})
    if (share != best) configs.push_back({{{"share", share}}});
  return configs;
}

/// Whether the rows along k are whole aligned packs; `outer` is the axis of m or n.
bool has_whole_packs(const TensorView& operand, int outer) {
  const std::int64_t bytes = info(operand.dtype).unit_bytes;
  return operand.extent(1 - outer) * bytes % 16 == 0 && is_pack_aligned(operand.data) &&
         (operand.extent(outer) <= 1 || operand.stride(outer) * bytes % 16 == 0);
}

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const Sm90Call fixed = sm90_call(problem);
  const auto share = static_cast<int>(config.at("share"));
  const auto find = [&](const char* rest) {
    return find_kernel(sm80_gemv_kernels, instance("gemv", problem.dtype("a"), 0, rest));
  };
  const GpuKernel whole = find(fixed.m <= 1   ? "1, 8, true"
                               : fixed.m == 2 ? "2, 8, true"
                                              : "4, 4, true");
  const GpuKernel any = find("4, 1, false");
  const long long columns = kWarps / share;
  const LaunchShape shape{.grid = {static_cast<std::uint32_t>((fixed.n + columns - 1) / columns)},
                          .block = {kWarps * 32}};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (fixed.m == 0 || fixed.n == 0) return;
    const bool is_whole = has_whole_packs(args["a"], 0) && has_whole_packs(args["b"], 1);
    launch(*context.stream, is_whole ? whole : any, shape, with_arguments(fixed, args), share);
  }};
}

#endif

}  // namespace

#if !ROOFTILE_DEVICE_CODE
extern const KernelDef sm80_gemv;
const KernelDef sm80_gemv{
    .op = "gemm",
    .name = "sm80_gemv",
    .idea = "up to 4 rows: a row of B a warp, 16 bytes a lane; no tensor cores, from sm_80 on",
    .target = Target::sm80,
    .determinism = Determinism::repeatable,
    .supports = supports,
    .configs = configs,
    .prepare = prepare,
};
#endif

#define GEMV_ENTRIES(type)                                                                      \
  ROOFTILE_KERNEL_ENTRY(gemv<type, 1, 8, true>), ROOFTILE_KERNEL_ENTRY(gemv<type, 2, 8, true>), \
      ROOFTILE_KERNEL_ENTRY(gemv<type, 4, 4, true>),                                            \
      ROOFTILE_KERNEL_ENTRY(gemv<type, 4, 1, false>)
ROOFTILE_KERNEL_TABLE(sm80_gemv_kernels, GEMV_ENTRIES(float), GEMV_ENTRIES(bf16),
                      GEMV_ENTRIES(fp16))

}  // namespace rooftile::ops::gemm
