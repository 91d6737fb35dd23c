// SPDX-License-Identifier: Apache-2.0
// How a tensor core's exact sum becomes a result; shared by the plain and the fast computation.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "rooftile/base/error.h"
#include "rooftile/hardware/tensor_core.h"

namespace rooftile {

constexpr int kMaxMatrixK = 32;

inline float matrix_nan() { return std::bit_cast<float>(0x7fffffffU); }

inline void check_matrix_k(const TensorCoreRules& rules, std::int64_t k) {
  if (k < 1 || k > kMaxMatrixK || (rules.as_two_fp16_steps && k % 4 != 0))
    fail_input("matrix instruction: k=" + std::to_string(k) + " must be in 1..32" +
               (rules.as_two_fp16_steps ? " and divisible by 4" : ""));
}

/// `exact`, not 0, cut toward zero to a float of `bits` fraction bits; what is too large is
/// infinite. A negative value below the least subnormal is +0, as on the card.
inline double cut_to_f32(double exact, int bits) {
  const int exponent = std::max(std::ilogb(exact), -126);
  const double cut = std::ldexp(std::trunc(std::ldexp(exact, bits - exponent)), exponent - bits);
  return std::abs(cut) < 0x1p128 ? cut + 0.0 : std::copysign(HUGE_VAL, exact);
}

/// `exact`, not 0, rounded to the nearest number of fp16, ties to even; also never -0.
inline double rounded_to_fp16(double exact) {
  const int exponent = std::max(std::ilogb(exact), -14);
  const double rounded =
      std::ldexp(std::nearbyint(std::ldexp(exact, 10 - exponent)), exponent - 10);
  return std::abs(rounded) < 65536 ? rounded + 0.0 : std::copysign(HUGE_VAL, exact);
}

/// The ordinary addition after the two steps of an fp8 mma.sync, in the accumulator's own type.
inline float added_at_last(float sum, float c, Accumulator type) {
  const double exact = static_cast<double>(sum) + c;  // of fp16: exact, 2^-24 to 2^17
  if (std::isnan(exact)) return matrix_nan();
  if (type == Accumulator::f32) return sum + c;
  return static_cast<float>(exact == 0 || std::isinf(exact) ? exact : rounded_to_fp16(exact));
}

}  // namespace rooftile
