// SPDX-License-Identifier: Apache-2.0
// The definition of gemm_rmsnorm/sm80_gemv, its launcher, and its instances for f32 and bf16. See
// sm80_normalising.h.
#include "rooftile/ops/gemm_rmsnorm/sm80_normalising.h"

namespace rooftile::ops::gemm_rmsnorm {

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm80_gemv_kernels;
extern const KernelTable sm80_gemv_fp16_kernels;

namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  if (Support limits = supports_gemv(problem); !limits) return limits;
  if (problem.dtype("w") != problem.dtype("a")) return unsupported("w must have a's dtype");
  if (problem.axis("k") > 1 && problem.arg("w").strides[0] != 1)
    return unsupported("w must be contiguous");
  return supported();
}

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const Gemv gemv({&sm80_gemv_kernels, &sm80_gemv_fp16_kernels}, problem, config);
  Sm90Call fixed;
  fixed.d = view_of(problem, "d");
  fixed.a = view_of(problem, "a");
  fixed.b = view_of(problem, "b");
  fixed.m = problem.axis("m");
  fixed.n = problem.axis("n");
  fixed.k = problem.axis("k");
  const Rmsnorm norm_fixed{.eps = static_cast<float>(problem.number("eps")),
                           .inverse = 1.0F / static_cast<float>(problem.axis("k")),
                           .offset = static_cast<float>(problem.number("weight_offset"))};
  return {.run = [=](const Context& context, const Arguments& args) {
    Sm90Call call = fixed;
    call.d.data = args["d"].data;
    call.a.data = args["a"].data;
    call.b.data = args["b"].data;
    Rmsnorm norm = norm_fixed;
    norm.w = args["w"].data;
    gemv.run(*context.stream, args, norm.w, call, norm);
  }};
}

}  // namespace

extern const KernelDef sm80_gemv;
const KernelDef sm80_gemv{
    .op = "gemm_rmsnorm",
    .name = "sm80_gemv",
    .idea = "one or two rows: gemm's kernel, the squares of A summed beside the products",
    .target = Target::sm80,
    .determinism = Determinism::repeatable,
    .supports = supports,
    .configs = gemv_configs,
    .prepare = prepare,
};
#endif

ROOFTILE_KERNEL_TABLE(sm80_gemv_kernels, GEMV_ENTRIES(float), GEMV_ENTRIES(bf16))

}  // namespace rooftile::ops::gemm_rmsnorm
