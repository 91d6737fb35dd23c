// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/tolerance.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "rooftile/base/error.h"
#include "rooftile/base/parallel.h"
#include "rooftile/base/text.h"
#include "rooftile/formats/element.h"

namespace rooftile {
namespace {

constexpr double kSafety = 4;

struct CloseTable {
  double rtol;
  double atol;
};

// torch.testing.assert_close, "default tolerances".
CloseTable close_table(DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return {1e-3, 1e-5};
    case DType::bf16:
      return {1.6e-2, 1e-5};
    case DType::f32:
      return {1.3e-6, 1e-5};
    case DType::f64:
      return {1e-7, 1e-7};
    default:
      return {0, 0};
  }
}

// `ulp` is 0 for integers, which are compared whole; a floating result may fall either side of a
// tie.
double bound_of(double expected, double magnitude, DType dtype, double ulp,
                const Tolerance& tolerance, Policy policy) {
  if (policy == Policy::assert_close) {
    const CloseTable table = close_table(dtype);
    return table.atol + table.rtol * std::abs(expected);
  }
  const double bound =
      tolerance.ulps * ulp + tolerance.accumulated * magnitude + tolerance.absolute;
  // Whatever is finite would lie within an infinity of the right answer.
  return std::isfinite(bound) ? bound : NAN;
}

bool is_close(double actual, double expected, double bound, DType dtype) {
  if (std::isnan(expected)) return std::isnan(actual);
  // Beyond the type's range the right answer is what rounding gives: an infinity, or saturation.
  if (std::isfinite(actual) && std::isfinite(expected))
    return std::abs(actual - expected) <= bound ||
           ((std::isnan(bound) || std::abs(expected) > info(dtype).max_finite) &&
            actual == round_to(dtype, expected));
  // One side is infinite or actual is NaN: a result within the bound of the largest number may
  // round to the infinity, and nothing else.
  return actual == expected || actual == round_to(dtype, expected) ||
         (std::isinf(actual) && std::abs(expected) + bound > info(dtype).max_finite &&
          std::signbit(actual) == std::signbit(expected));
}

bool is_also_right(const Array& expected, std::size_t i, double actual) {
  return !expected.also_right.empty() &&
         std::ranges::find(expected.also_right[i], actual) != expected.also_right[i].end();
}

std::string index_text(std::int64_t index, const Dims& shape) {
  Dims place = shape;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    place[i] = index % shape[i];
    index /= shape[i];
  }
  return to_string(place);
}

}  // namespace

Tolerance sum_tolerance(DType output, DType accumulator, double terms) {
  const double roundoff = std::ldexp(1.0, -info(accumulator).mantissa_bits - 1);
  // Why 0.01 beyond a half: a sum that is a hair off may fall on the other side of a tie.
  return {.ulps = output == accumulator ? 1.0 : 0.51,
          .accumulated = kSafety * std::sqrt(std::max(terms, 1.0)) * roundoff,
          .reason = "one rounding to " + std::string(name(output)) + ", " + shortest(terms) +
                    " terms accumulated in " + std::string(name(accumulator))};
}

Policy parse_policy(std::string_view text) {
  if (text == "derived") return Policy::derived;
  if (text == "assert_close") return Policy::assert_close;
  fail_input(unknown_name("tolerance policy", text, {"derived", "assert_close"}));
}

std::string Comparison::text(const Array& expected) const {
  if (passed()) return expected.name + ": " + std::to_string(num_compared) + " elements equal";
  return expected.name + index_text(worst_index, expected.shape) + ": got " +
         shortest(worst_actual) + ", expected " + shortest(worst_expected) + " within " +
         figures(worst_bound) + " (" + std::to_string(num_wrong) + " of " +
         std::to_string(num_compared) + " wrong, largest expected magnitude " +
         figures(max_abs_expected) + ")";
}

namespace {

// Of elements first to last - 1. `excess` is that of the worst: the first of those furthest beyond
// their bounds.
struct Part {
  Comparison result{};
  double excess = -1;
};

Part compare_part(const std::vector<double>& actual, const Array& expected, DType dtype,
                  const Tolerance& tolerance, Policy policy, std::size_t first, std::size_t last) {
  Part part;
  Comparison& result = part.result;
  const DTypeKind kind = info(dtype).kind;
  for (std::size_t i = first; i < last; ++i) {
    // assert_close compares with a tensor of the same type.
    const double e =
        policy == Policy::assert_close ? round_to(dtype, expected.values[i]) : expected.values[i];
    const double magnitude = expected.magnitude.empty() ? std::abs(e) : expected.magnitude[i];
    const double ulp = kind == DTypeKind::integer ? 0 : ulp_of(dtype, e);
    const double bound = bound_of(e, magnitude, dtype, ulp, tolerance, policy);
    const double error = std::abs(actual[i] - e);
    ++result.num_compared;
    if (is_also_right(expected, i, actual[i])) continue;
    if (std::isfinite(e)) result.max_abs_expected = std::max(result.max_abs_expected, std::abs(e));
    if (!result.refuses_zeros) {
      result.refuses_zeros = !is_close(0, e, bound, dtype);
      result.is_zero_right &= std::abs(round_to(dtype, e)) <= tolerance.absolute;
    }
    if (std::isfinite(error)) {
      result.max_abs_error = std::max(result.max_abs_error, error);
      if (bound > 0) result.max_of_bound = std::max(result.max_of_bound, error / bound);
      if (e != 0) result.max_rel_error = std::max(result.max_rel_error, error / std::abs(e));
      if (kind == DTypeKind::floating) result.max_ulps = std::max(result.max_ulps, error / ulp);
    }
    if (is_close(actual[i], e, bound, dtype)) continue;
    ++result.num_wrong;
    const double excess = std::isfinite(error) ? error / std::max(bound, 1e-300) : HUGE_VAL;
    if (excess <= part.excess) continue;
    part.excess = excess;
    result.worst_index = static_cast<std::int64_t>(i);
    result.worst_actual = actual[i];
    result.worst_expected = e;
    result.worst_bound = bound;
  }
  return part;
}

void join(Part& all, const Part& part) {
  Comparison& to = all.result;
  const Comparison& from = part.result;
  to.num_compared += from.num_compared;
  to.num_wrong += from.num_wrong;
  to.refuses_zeros |= from.refuses_zeros;
  to.is_zero_right &= from.is_zero_right;
  for (double Comparison::* most :
       {&Comparison::max_abs_error, &Comparison::max_rel_error, &Comparison::max_ulps,
        &Comparison::max_of_bound, &Comparison::max_abs_expected})
    to.*most = std::max(to.*most, from.*most);
  if (from.worst_index < 0 || part.excess < all.excess) return;
  if (part.excess == all.excess && to.worst_index >= 0 && to.worst_index < from.worst_index) return;
  all.excess = part.excess;
  to.worst_index = from.worst_index;
  to.worst_actual = from.worst_actual;
  to.worst_expected = from.worst_expected;
  to.worst_bound = from.worst_bound;
}

}  // namespace

Comparison compare(const std::vector<double>& actual, const Array& expected, DType dtype,
                   const Tolerance& tolerance, Policy policy) {
  if (actual.size() != expected.values.size())
    throw Error(ErrorCode::internal, "compared arrays of different sizes");
  Part all;
  std::mutex joining;
  in_parallel(actual.size(), kParallelElements, [&](std::size_t first, std::size_t last) {
    const Part part = compare_part(actual, expected, dtype, tolerance, policy, first, last);
    const std::lock_guard lock(joining);
    join(all, part);
  });
  return all.result;
}

}  // namespace rooftile
