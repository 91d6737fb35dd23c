// SPDX-License-Identifier: Apache-2.0
// The rules of each instruction, and one result computed plainly from them.
#include "rooftile/hardware/tensor_core.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "rooftile/base/error.h"
#include "rooftile/hardware/tensor_core_rounding.h"

namespace rooftile {
namespace {

// Where no addend is larger, all are aligned to this exponent: sums of products far below float's
// least normal number lose the bits under 2^-158.
constexpr int kLeastExponent = -133;

struct TypeFacts {
  int bytes;
  int min_exponent;  // of the least normal number
};

TypeFacts facts_of(MatrixType type) {
  switch (type) {
    case MatrixType::bf16:
      return {2, -126};
    case MatrixType::fp16:
      return {2, -14};
    case MatrixType::tf32:
      return {4, -126};
    case MatrixType::e4m3:
      return {1, -6};
    case MatrixType::e5m2:
      return {1, -14};
  }
  fail_input("matrix instruction: no such element type");
}

/// Of a value that is neither 0, infinite nor NaN.
int exponent_of(float value, int min_exponent) { return std::max(std::ilogb(value), min_exponent); }

/// What a NaN or an infinity among the addends makes of the sum; 0 where there is none.
float special_sum(std::span<const float> a, std::span<const float> b, float c) {
  float sum = std::isfinite(c) ? 0.0F : c;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) sum += a[i] * b[i];
  return std::isnan(sum) ? matrix_nan() : sum;
}

/// Products and c in one sum.
float fused_dot(const TensorCoreRules& rules, std::span<const float> a, std::span<const float> b,
                float c) {
  if (const float special = special_sum(a, b, c); special != 0) return special;
  int largest = c == 0 ? kLeastExponent : exponent_of(c, rules.min_exponent_c);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != 0 && b[i] != 0)
      largest = std::max(largest, exponent_of(a[i], rules.min_exponent_a) +
                                      exponent_of(b[i], rules.min_exponent_b));
  const int scale = rules.fraction_bits - largest;
  // Exact: a product of two floats has 48 bits, and what is cut to an integer is below 2^27.
  auto cut = [&](double addend) {
    return static_cast<std::int64_t>(std::trunc(std::ldexp(addend, scale)));
  };
  std::int64_t sum = cut(c);
  for (std::size_t i = 0; i < a.size(); ++i) sum += cut(static_cast<double>(a[i]) * b[i]);
  if (sum == 0) return 0;
  const double exact = std::ldexp(static_cast<double>(sum), -scale);
  return static_cast<float>(rules.result == Accumulator::fp16
                                ? rounded_to_fp16(exact)
                                : cut_to_f32(exact, rules.result_bits));
}

float two_step_dot(const TensorCoreRules& rules, std::span<const float> a, std::span<const float> b,
                   float c) {
  TensorCoreRules step = rules;
  step.as_two_fp16_steps = false;
  float sum = 0;
  for (const std::size_t half : {0U, 2U}) {
    std::array<float, kMaxMatrixK> step_a{}, step_b{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if ((i & 2U) != half) continue;
      step_a[count] = a[i];
      step_b[count++] = b[i];
    }
    sum = fused_dot(step, std::span(step_a).first(count), std::span(step_b).first(count), sum);
  }
  return added_at_last(sum, c, rules.result);
}

}  // namespace

TensorCoreRules tensor_core_rules(MatrixUnit unit, MatrixType a, MatrixType b, Accumulator result) {
  const TypeFacts of_a = facts_of(a), of_b = facts_of(b);
  const bool is_fp8 = of_a.bytes == 1;
  if (of_a.bytes != of_b.bytes || (!is_fp8 && a != b))
    fail_input("matrix instruction: A and B must have the same type, or be any two of e4m3, e5m2");
  if (result == Accumulator::fp16 && !is_fp8 && a != MatrixType::fp16)
    fail_input("matrix instruction: an fp16 accumulator needs A and B of fp16, e4m3 or e5m2");
  const bool is_short = is_fp8 && unit == MatrixUnit::wgmma;
  const bool is_widened = is_fp8 && unit == MatrixUnit::mma;
  return {.fraction_bits = is_short ? 13 : 25,
          .result_bits = is_short ? 13 : 23,
          .result = result,
          .min_exponent_a = is_widened ? -14 : of_a.min_exponent,
          .min_exponent_b = is_widened ? -14 : of_b.min_exponent,
          .min_exponent_c = result == Accumulator::fp16 ? -14 : -126,
          .as_two_fp16_steps = is_widened};
}

float dot(const TensorCoreRules& rules, std::span<const float> a, std::span<const float> b,
          float c) {
  check_matrix_k(rules, static_cast<std::int64_t>(a.size()));
  if (a.size() != b.size()) fail_input("dot: a and b must have the same length");
  return rules.as_two_fp16_steps ? two_step_dot(rules, a, b, c) : fused_dot(rules, a, b, c);
}

std::int32_t dot_s32(std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                     std::int32_t c, bool satfinite) {
  if (a.size() != b.size()) fail_input("dot_s32: a and b must have the same length");
  std::int64_t sum = c;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::int64_t{a[i]} * b[i];
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kGreatest = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(satfinite ? std::clamp(sum, kLeast, kGreatest) : sum);
}

}  // namespace rooftile
