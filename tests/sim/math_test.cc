// SPDX-License-Identifier: Apache-2.0
// tile/math.h against the host's double functions, over all magnitudes of f32.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"
#include "rooftile/tile/math.h"

namespace rooftile {
namespace {

constexpr double kInfinite = 0x1.ffffffp127;  // what rounds to infinity, and all beyond

// The last place of an f32 near this value.
double last_place(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent - 24, -149));
}

struct Worst {
  double ulps = 0;
  float x = 0;
};

// The largest error in last places over every 997th f32; infinity where that is wrong.
template <class Fast, class Exact>
Worst worst_error(const Fast& fast, const Exact& exact) {
  Worst worst;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 997) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(x)) continue;
    const double expected = exact(static_cast<double>(x));
    const auto actual = static_cast<double>(fast(x));
    double error = std::abs(actual - expected) / last_place(expected);
    if (expected >= kInfinite) error = std::isinf(actual) ? 0 : HUGE_VAL;
    if (!(error <= worst.ulps)) worst = {error, x};
  }
  return worst;
}

TEST(TileMath, Exp2IsWithinOneUlp) {
  const Worst worst =
      worst_error([](float x) { return tile::exp2(x); }, [](double x) { return std::exp2(x); });
  EXPECT_LT(worst.ulps, 0.9) << "at " << worst.x;
}

TEST(TileMath, ExpIsWithinOneUlp) {
  const Worst worst =
      worst_error([](float x) { return tile::exp(x); }, [](double x) { return std::exp(x); });
  EXPECT_LT(worst.ulps, 0.9) << "at " << worst.x;
}

TEST(TileMath, Exp2IsExactAtIntegers) {
  for (int n = -149; n < 128; ++n)
    EXPECT_EQ(tile::exp2(static_cast<float>(n)), std::ldexp(1.0F, n)) << n;
}

TEST(TileMath, ExtremesAreThoseOfIeee) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& function : {tile::exp, tile::exp2}) {
    EXPECT_EQ(function(-infinity), 0);
    EXPECT_EQ(function(-1e30F), 0);
    EXPECT_EQ(function(infinity), infinity);
    EXPECT_EQ(function(1e30F), infinity);
    EXPECT_EQ(function(-0.0F), 1);
    EXPECT_TRUE(std::isnan(function(std::nanf(""))));
  }
}

}  // namespace
}  // namespace rooftile
