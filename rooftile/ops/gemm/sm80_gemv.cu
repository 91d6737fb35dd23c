// SPDX-License-Identifier: Apache-2.0
// At most two rows of A: the time is that of reading B, a weight [n, k], which warps read row by
// row, 16 bytes a lane and several such loads under way; A comes from the first-level cache. What
// a lane sums, and how the lanes' sums are added, follows from k and the configuration alone. From
// sm_80 on.
#include "rooftile/ops/gemm/sm90_gemm.h"
#include "rooftile/tile/kernel_table.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/elements.h"
#include "rooftile/tile/row_reduce.h"
#include "rooftile/tile/unroll.h"
#else
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

// kShare warps have a row of B. kIsWhole: A's and B's rows are whole aligned packs. Why constants:
// the loads' addresses differ by them, and need no registers.
template <class T, int kRows, int kShare, bool kIsWhole>
__global__ void __launch_bounds__(kWarps* kWarp, kBlocksAtOnce) gemv(const Sm90Call call) {
  __shared__ float scratch[kWarps][kRows];
  constexpr int kUnderWay = 8;  // loads of B of a thread
  constexpr int kStep = kShare * kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const long long j = static_cast<long long>(blockIdx.x) * (kWarps / kShare) + warp / kShare;
  const int packs = j < call.n ? static_cast<int>((call.k + kPack<T> - 1) / kPack<T>) : 0;
  const T* const b = static_cast<const T*>(call.b.data) + j * call.b.stride_j;
  const T* a[kRows];
  ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) {
    const long long row = i < call.m ? i : 0;  // of more than there are: summed in vain
    a[i] = static_cast<const T*>(call.a.data) + row * call.a.stride_i;
  }
  const auto load = [&](const T* row, int p) {
    if constexpr (kIsWhole) return reinterpret_cast<const Pack*>(row)[p];
    const long long at = static_cast<long long>(p) * kPack<T>;
    return load_pack(row + at, call.k - at, false);
  };
  float sums[kRows] = {};
  const auto add = [&](const Pack& weights, int p) {
    float w[kPack<T>];
    unpack<T>(w, weights);
    ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) {
      float x[kPack<T>];
      unpack<T>(x, load(a[i], p));
      ROOFTILE_UNROLL for (int e = 0; e < kPack<T>; ++e) sums[i] = fmaf(x[e], w[e], sums[i]);
    }
  };

  int p = warp % kShare * kWarp + lane;
  if constexpr (kIsWhole) {
    for (; p < packs - (kUnderWay - 1) * kStep; p += kUnderWay * kStep) {
      Pack weights[kUnderWay];
      ROOFTILE_UNROLL for (int u = 0; u < kUnderWay; ++u) weights[u] =
          load_no_l1(reinterpret_cast<const Pack*>(b) + p + u * kStep);
      ROOFTILE_UNROLL for (int u = 0; u < kUnderWay; ++u) add(weights[u], p + u * kStep);
    }
  }
  ROOFTILE_NO_UNROLL for (; p < packs; p += kStep) add(load(b, p), p);

  ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) {
    sums[i] = lanes_reduce(sums[i], kWarp, [](float x, float y) { return x + y; });
    if (kShare > 1 && lane == 0) scratch[warp][i] = sums[i];
  }
  if constexpr (kShare > 1) {
    __syncthreads();
    if (warp % kShare != 0) return;
    ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i)
        ROOFTILE_UNROLL for (int other = 1; other < kShare; ++other) sums[i] +=
        scratch[warp + other][i];
  }
  ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) if (lane == i && i < call.m && j < call.n)
      store_at(call.d, i, j, finished(call.epilogue, i, j, sums[i]));
}

#else

constexpr std::int64_t kMostColumns = (std::int64_t{1} << 31) - 1;

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("m") > 2) return unsupported("m is at most 2");
  if (problem.dtype("a") != problem.dtype("b")) return unsupported("b must have a's dtype");
  if (Support general = supports_sm90(problem); !general) return general;
  const std::int64_t k = problem.axis("k");
  if (k > kMostColumns) return unsupported("k is at most 2^31 - 1");
  if (k > 1 && (problem.arg("a").strides[1] != 1 || problem.arg("b").strides[0] != 1))
    return unsupported("a must be contiguous along k, and b too (a weight [n, k], layout nt)");
  if (problem.axis("n") > kMostColumns) return unsupported("n is at most 2^31 - 1");
  return supported();
}

/// Two warps of a row of B where there are few rows: all compute units get work.
std::vector<Config> configs(const Problem& problem, const DeviceProperties& device) {
  constexpr std::int64_t kWarpsOfUnit = 32;
  const std::int64_t best = problem.axis("n") < kWarpsOfUnit * device.compute_units ? 2 : 1;
  return {{{{"share", best}}}, {{{"share", 3 - best}}}};
}

/// Whether the rows along k are whole aligned packs; `outer` is the axis of m or n.
bool has_whole_packs(const TensorView& operand, int outer) {
  const std::int64_t bytes = info(operand.dtype).unit_bytes;
  return operand.extent(1 - outer) * bytes % 16 == 0 && is_pack_aligned(operand.data) &&
         (operand.extent(outer) <= 1 || operand.stride(outer) * bytes % 16 == 0);
}

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const Sm90Call fixed = sm90_call(problem);
  const std::int64_t share = config.at("share");
  const std::int64_t rows = fixed.m <= 1 ? 1 : 2;
  const auto find = [&](bool is_whole) {
    return find_kernel(sm80_gemv_kernels,
                       instance("gemv", problem.dtype("a"), rows,
                                std::to_string(share) + (is_whole ? ", true" : ", false")));
  };
  const GpuKernel whole = find(true);
  const GpuKernel any = find(false);
  const long long columns = kWarps / share;
  const LaunchShape shape{.grid = {static_cast<std::uint32_t>((fixed.n + columns - 1) / columns)},
                          .block = {kWarps * 32}};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (fixed.m == 0 || fixed.n == 0) return;
    const bool is_whole = has_whole_packs(args["a"], 0) && has_whole_packs(args["b"], 1);
    launch(*context.stream, is_whole ? whole : any, shape, with_arguments(fixed, args));
  }};
}

#endif

}  // namespace

#if !ROOFTILE_DEVICE_CODE
extern const KernelDef sm80_gemv;
const KernelDef sm80_gemv{
    .op = "gemm",
    .name = "sm80_gemv",
    .idea = "one or two rows: a row of B a warp, 16 bytes a lane; no tensor cores, from sm_80 on",
    .target = Target::sm80,
    .determinism = Determinism::repeatable,
    .supports = supports,
    .configs = configs,
    .prepare = prepare,
};
#endif

#define GEMV_ENTRIES(type, rows)                         \
  ROOFTILE_KERNEL_ENTRY(gemv<type, rows, 1, true>),      \
      ROOFTILE_KERNEL_ENTRY(gemv<type, rows, 1, false>), \
      ROOFTILE_KERNEL_ENTRY(gemv<type, rows, 2, true>),  \
      ROOFTILE_KERNEL_ENTRY(gemv<type, rows, 2, false>)
ROOFTILE_KERNEL_TABLE(sm80_gemv_kernels, GEMV_ENTRIES(float, 1), GEMV_ENTRIES(bf16, 1),
                      GEMV_ENTRIES(fp16, 1), GEMV_ENTRIES(float, 2), GEMV_ENTRIES(bf16, 2),
                      GEMV_ENTRIES(fp16, 2))

}  // namespace rooftile::ops::gemm
