// SPDX-License-Identifier: Apache-2.0
// FP8 faults that other projects had; minifloat_test.cc covers the codecs exhaustively.
#include "rooftile/formats/fp8.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace rooftile {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// jax-ml/ml_dtypes#400: two stacks differ in what is past the maximum, so the mode has a name.
TEST(Fp8, OverflowModes) {
  const std::array given{448.F, 464.F, 465.F, 1000.F, -1000.F, kInf, kNan};
  const std::array saturated{448.F, 448.F, 448.F, 448.F, -448.F, 448.F, kNan};
  const std::array special{448.F, 448.F, kNan, kNan, kNan, kNan, kNan};
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto a = static_cast<float>(encode<e4m3>(given[i], Overflow::saturate));
    const auto b = static_cast<float>(encode<e4m3>(given[i], Overflow::to_special));
    EXPECT_TRUE(a == saturated[i] || (std::isnan(a) && std::isnan(saturated[i]))) << given[i];
    EXPECT_TRUE(b == special[i] || (std::isnan(b) && std::isnan(special[i]))) << given[i];
    EXPECT_EQ(encode<e4m3>(given[i]).bits, encode<e4m3>(given[i], Overflow::saturate).bits);
  }
}

// sgl-project/sglang#40581: exponent field 15 is not overflow, and ties go to even.
TEST(Fp8, TopBinadeAndTies) {
  const std::pair<float, int> cases[] = {{256, 0x78}, {272, 0x78},     {300, 0x79},    {304, 0x7a},
                                         {320, 0x7a}, {1.0625F, 0x38}, {1.1875F, 0x3a}};
  for (const auto& [value, code] : cases) EXPECT_EQ(encode<e4m3>(value).bits, code) << value;
}

// triton-lang/triton#10745: the same byte in the two dialects.
TEST(Fp8, FnAndFnuzDiffer) {
  EXPECT_TRUE(std::signbit(static_cast<float>(e4m3{0x80})) && static_cast<float>(e4m3{0x80}) == 0);
  EXPECT_EQ(static_cast<float>(e4m3{0x38}), 1);
  EXPECT_TRUE(std::isnan(static_cast<float>(e4m3{0x7f})));
  EXPECT_EQ(static_cast<float>(e4m3{0x7e}), 448);
  EXPECT_TRUE(std::isnan(static_cast<float>(e4m3fnuz{0x80})));
  EXPECT_EQ(static_cast<float>(e4m3fnuz{0x38}), 0.5);
  EXPECT_EQ(static_cast<float>(e4m3fnuz{0x7f}), 240);
  EXPECT_EQ(static_cast<float>(e4m3fnuz{0x7e}), 224);
}

TEST(Fp8, RelabelledCodesAreHalfAsMuch) {
  for (int code = 0; code < 256; ++code) {
    const e4m3 fn{static_cast<std::uint8_t>(code)};
    const auto value = static_cast<float>(fn), half = static_cast<float>(halved_as_fnuz(fn));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(half)) << code;
    else
      EXPECT_EQ(2 * half, value) << code;
  }
}

}  // namespace
}  // namespace rooftile
