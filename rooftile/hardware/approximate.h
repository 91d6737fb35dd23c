// SPDX-License-Identifier: Apache-2.0
// The approximate functions of Hopper's special-function units, bit for bit for all 2^32 inputs:
// what PTX calls ex2.approx, rcp.approx, rsqrt.approx, sqrt.approx, lg2.approx, tanh.approx,
// sin.approx and cos.approx, of f32; and the ex2.approx and tanh.approx of bf16 and f16, which cut
// the result of f32.
//
// The idea: each function is a table of quadratics, evaluated in fixed point. The leading bits of
// the significand choose a row, the other 16 or 17 are x; the square is made from cut-off partial
// products, and one constant rounds:
//
//   result = (c0 + c1 x + c2 square(x) + rounding) >> bits
//
// tanh has 1 to 16 rows for each octave of its operand, and the bits below x do not count. sin and
// cos have one table of a quarter of a turn, whose operand is an angle in 2^-25 of a turn.
//
// The design is that of Oberman and Siu, "A High-Performance Area-Efficient Multifunction
// Interpolator", ARITH 2005; how Tesla's unit squares was worked out by the envytools project. The
// tables here were solved from all 2^23 or 2^24 results of an H200 (2026-11-29), which leave
// exactly one solution; so do the results of tanh from 2^-14 to 16, and those of sin and cos for
// two fifths of the angles (2026-11-30), which gave the other tables.
#pragma once

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// With .ftz subnormal operands count as 0 and subnormal results become 0, of the operand's or
/// result's sign.
enum class Subnormals : bool { keep, flush };

/// 2^x, within 2 ulp. NaN gives 0x7fffffff here and below.
float ex2_approx(float x, Subnormals subnormals);

/// ex2.approx.ftz.bf16x2, one half: the ftz result of f32, cut (not rounded) to bf16. The argument
/// and the result are floats that hold bf16 values; likewise below.
float ex2_approx_bf16(float x);

/// ex2.approx.f16x2, one half: cut to fp16, subnormals included; infinite from 16 on.
float ex2_approx_fp16(float x);

/// 1 / x, within 1 ulp.
float rcp_approx(float x, Subnormals subnormals);

/// 1 / sqrt(x); of -0: -infinity, of less: NaN.
float rsqrt_approx(float x, Subnormals subnormals);

/// sqrt(x); of -0: -0, of less: NaN.
float sqrt_approx(float x, Subnormals subnormals);

/// log2(x); of either zero: -infinity, of less: NaN.
float lg2_approx(float x, Subnormals subnormals);

/// tanh(x), to 2^-16 of it: x itself where |x| < 2^-8, subnormals included; of size 1 from 8 on.
float tanh_approx(float x);

/// tanh.approx.bf16x2, one half: cut to bf16.
float tanh_approx_bf16(float x);

/// tanh.approx.f16x2, one half: cut to fp16.
float tanh_approx_fp16(float x);

/// sin(x) of radians, with and without .ftz: to 2^-21 where |x| <= pi, worse the larger x. An
/// infinity gives NaN.
float sin_approx(float x);

/// cos(x), likewise.
float cos_approx(float x);

}  // namespace rooftile
