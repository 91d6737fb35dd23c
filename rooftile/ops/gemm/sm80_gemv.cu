// SPDX-License-Identifier: Apache-2.0
// The definition of gemm/sm80_gemv, its launcher and instances. See sm80_gemv.h.
#include "rooftile/ops/gemm/sm80_gemv.h"

namespace rooftile::ops::gemm {

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm80_gemv_kernels;

namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  if (Support limits = supports_gemv(problem); !limits) return limits;
  return supports_sm90(problem);
}

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const Gemv gemv({&sm80_gemv_kernels}, problem, config);
  const Sm90Call fixed = sm90_call(problem);
  return {.run = [=](const Context& context, const Arguments& args) {
    gemv.run(*context.stream, args, nullptr, with_arguments(fixed, args));
  }};
}

}  // namespace

extern const KernelDef sm80_gemv;
const KernelDef sm80_gemv{
    .op = "gemm",
    .name = "sm80_gemv",
    .idea = "one or two rows: a row of B a warp, 16 bytes a lane; no tensor cores, from sm_80 on",
    .target = Target::sm80,
    .determinism = Determinism::repeatable,
    .supports = supports,
    .configs = gemv_configs,
    .prepare = prepare,
};
#else

template <class T, int kRows, int kShare, bool kIsWhole>
__global__ void __launch_bounds__(GemvBlock::kThreads, GemvBlock::kBlocksAtOnce)
    gemv(const Sm90Call call) {
  gemv_body<T, kRows, kShare, kIsWhole, false>(call, {});
}

#endif

ROOFTILE_KERNEL_TABLE(sm80_gemv_kernels, GEMV_ENTRIES(float), GEMV_ENTRIES(bf16),
                      GEMV_ENTRIES(fp16))

}  // namespace rooftile::ops::gemm
