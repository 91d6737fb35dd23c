// SPDX-License-Identifier: Apache-2.0
// Functions that the GPU's special function unit approximates. The simulator has their bits (see
// hardware/approximate.h). Subnormal operands and results are flushed to zero, which costs nothing
// and is what kernels want; but tanh keeps them. Source: PTX ISA, "Floating Point Instructions:
// ex2, rcp, rsqrt, sqrt, lg2, tanh, sin, cos".
#pragma once

#include "rooftile/tile/language.h"
#ifndef __CUDACC__
#include "rooftile/hardware/approximate.h"
#endif

namespace rooftile {

#ifdef __CUDACC__
#define ROOFTILE_APPROXIMATE(name, instruction)     \
  __device__ __forceinline__ float name(float x) {  \
    float y;                                        \
    asm(instruction " %0, %1;" : "=f"(y) : "f"(x)); \
    return y;                                       \
  }
// The model has these as they are.
ROOFTILE_APPROXIMATE(tanh_approx, "tanh.approx.f32")
ROOFTILE_APPROXIMATE(sin_approx, "sin.approx.ftz.f32")
ROOFTILE_APPROXIMATE(cos_approx, "cos.approx.ftz.f32")
#else
#define ROOFTILE_APPROXIMATE(name, instruction) \
  inline float name(float x) { return name(x, Subnormals::flush); }
#endif
ROOFTILE_APPROXIMATE(ex2_approx, "ex2.approx.ftz.f32")      // 2^x
ROOFTILE_APPROXIMATE(rcp_approx, "rcp.approx.ftz.f32")      // 1/x
ROOFTILE_APPROXIMATE(rsqrt_approx, "rsqrt.approx.ftz.f32")  // 1/sqrt(x)
ROOFTILE_APPROXIMATE(sqrt_approx, "sqrt.approx.ftz.f32")
ROOFTILE_APPROXIMATE(lg2_approx, "lg2.approx.ftz.f32")  // log2(x)
#undef ROOFTILE_APPROXIMATE

}  // namespace rooftile
