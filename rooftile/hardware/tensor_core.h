// SPDX-License-Identifier: Apache-2.0
// What Hopper's tensor cores compute, bit for bit. The idea: a matrix instruction does not round
// after each multiply-add. It multiplies exactly, aligns all products and the accumulator to the
// largest exponent among them, cuts off what lies too far below, adds the rest exactly and rounds
// once. What differs between types is how many products are added at once, how many bits survive
// the cut and how the sum is rounded.
//
//   products    e=3 |1.0110110...              aligned to the largest exponent, then cut
//               e=1 |  1.1100101011...|####    toward zero: #### is lost
//   accumulator e=-2|     1.01101101...|###
//                    <- fraction_bits ->
//
// Identified on an H200 with the recorded results of tests/hardware (2026-11-29), which the tests
// replay: none of 138,240 results of each of 44 instructions differs. The features to look for are
// those of Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor Cores", arXiv 2512.07004.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// The instruction: of a warpgroup (wgmma.mma_async) or of a warp (mma.sync).
enum class MatrixUnit : std::uint8_t { wgmma, mma };

/// Element types of A and B of a floating-point instruction.
enum class MatrixType : std::uint8_t { bf16, fp16, tf32, e4m3, e5m2 };

/// Type of C and D.
enum class Accumulator : std::uint8_t { f32, fp16 };

/// How one instruction adds. The exponent of a product is the sum of its factors' (its significand
/// is in [1, 4)); subnormals keep the exponent of the least normal number.
struct TensorCoreRules {
  int fraction_bits;       // kept below the unit of the largest exponent; the rest is cut off
  int result_bits;         // fraction bits of an f32 result, cut toward zero
  Accumulator result;      // fp16: the sum is rounded to nearest even instead
  int min_exponent_a;      // of a subnormal of A
  int min_exponent_b;      // of a subnormal of B
  int min_exponent_c;      // of a subnormal of C
  bool as_two_fp16_steps;  // sm_90 has no fp8 mma.sync: ptxas widens to fp16, see dot()
};

/// The rules of an instruction on sm_90. Throws Error(bad_input) for what PTX does not have: types
/// of different sizes, an fp16 accumulator of bf16 or tf32.
TensorCoreRules tensor_core_rules(MatrixUnit unit, MatrixType a, MatrixType b, Accumulator result);

/// One result of one instruction: a · b + c. `a` and `b` have the k of the instruction (4 to 32;
/// tf32 already without its low 13 bits), every value widened to float exactly; c and the result
/// are floats that hold a value of the accumulator's type.
///
/// Special values: any NaN, infinity times zero and infinities of both signs give the NaN
/// 0x7fffffff (fp16: 0x7fff). A result of 0 is +0: the sum of nothing but -0, and a negative sum
/// that rounds to 0. A result beyond the greatest number is infinity. Subnormals count, as operands
/// and as results.
///
/// as_two_fp16_steps: k is taken in two instructions of half its length, first the elements 0 and 1
/// of every four, then 2 and 3, from zero; c is added last, by an ordinary rounded addition.
float dot(const TensorCoreRules& rules, std::span<const float> a, std::span<const float> b,
          float c);

/// D += A B for one instruction, each result as dot() gives it, faster. A: m x k, B: k x n, D: m x
/// n (C before, D after), row-major without gaps; k as in dot(). Throws Error(bad_input) for a k
/// outside 1..32, or one not divisible by 4 where as_two_fp16_steps.
void mma_f32(const TensorCoreRules& rules, int m, int n, int k, const float* a, const float* b,
             float* d);

/// One result of an integer instruction (s8 and u8 in any mix): exact, then wrapped to 32 bits or,
/// with .satfinite, clamped to them. Products of 8-bit values; any k up to 2^31.
std::int32_t dot_s32(std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                     std::int32_t c, bool satfinite);

}  // namespace rooftile
