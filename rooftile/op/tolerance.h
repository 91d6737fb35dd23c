// SPDX-License-Identifier: Apache-2.0
// How close is close enough, and the comparison itself. An element passes when
//
//   |actual - expected| <= ulps * ulp_of(dtype, expected) + accumulated * magnitude + absolute
//
// The first term is the rounding of the output, in units of its own type, so one rule serves fp64
// and fp4 alike; the second is the accumulator's error, relative to what was summed. Written so
// that NaN fails. The table of torch.testing.assert_close is there as a named policy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/core/dtype.h"
#include "rooftile/op/values.h"

namespace ROOFTILE_API rooftile {

struct Tolerance {
  double ulps = 0.5;       // units in the last place of the output's dtype
  double accumulated = 0;  // relative to Array::magnitude
  double absolute = 0;     // what may be flushed to zero, as 2^-126 where f32 subnormals are
  std::string reason{};    // one sentence for the report
};

/// The bound for `terms` numbers summed in an accumulator of unit roundoff 2^-(mantissa_bits + 1),
/// from the dtype of output and accumulator. Summation in any order errs by at most (n-1)u * sum|x|
/// (Higham, "Accuracy and Stability of Numerical Algorithms", 4.2), and by about sqrt(n)u with
/// random signs; we ask for `4 sqrt(n) u`, which a wrong result exceeds and a right one does not.
Tolerance sum_tolerance(DType output, DType accumulator, double terms);

/// Which rule decides.
enum class Policy : std::uint8_t {
  derived,       // the operation's Tolerance
  assert_close,  // torch.testing.assert_close's rtol and atol for the output dtype; fp8, fp4:
                 // bitwise
};
Policy parse_policy(std::string_view text);

/// The outcome for one output. Absent figures are absent: with 0 elements nothing is compared.
struct Comparison {
  std::int64_t num_compared = 0;
  std::int64_t num_wrong = 0;
  std::int64_t worst_index = -1;  // row-major, of the element furthest beyond its bound
  double worst_actual = 0;
  double worst_expected = 0;
  double worst_bound = 0;
  double max_abs_error = 0;
  double max_rel_error = 0;  // over elements whose expected value is not 0
  double max_ulps = 0;       // of the output dtype
  double max_of_bound = 0;   // error / what is allowed there: 1 is the limit
  double max_abs_expected = 0;
  bool refuses_zeros = false;  // one element's bound at least does
  bool is_zero_right = true;   // everywhere, once rounded; only looked at while none refuses

  [[nodiscard]] bool passed() const { return num_wrong == 0; }
  /// Whether an output of zeros would have passed as well, though it is wrong: nothing was shown.
  [[nodiscard]] bool takes_zeros() const { return !refuses_zeros && !is_zero_right; }
  /// "y[3,17]: got 1.5, expected 1.25 within 0.004 (12 of 4096 wrong)"
  [[nodiscard]] std::string text(const Array& expected) const;
};

/// Compares every element of `actual` to `expected`, whose values are in double, unrounded.
/// What Array::also_right lists passes too, with no error.
/// A bound that is no finite number allows nothing but the right answer rounded.
/// Not finite: an expected infinity, or one that rounds to it in `dtype`, must be met exactly; an
/// expected NaN must be a NaN.
Comparison compare(const std::vector<double>& actual, const Array& expected, DType dtype,
                   const Tolerance& tolerance, Policy policy = Policy::derived);

}  // namespace rooftile
