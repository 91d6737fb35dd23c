// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/fp4.h"

#include <gtest/gtest.h>

#include <array>

namespace rooftile {
namespace {

// ROCm/aiter#3992: midpoints go to the even code.
TEST(Fp4, MidpointsGoToTheEvenCode) {
  const std::array given{0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5.F, 6.F, 7.F, 1e30F};
  const std::array wanted{0.F, 1.F, 1.F, 2.F, 2.F, 4.F, 4.F, 6.F, 6.F, 6.F};
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(static_cast<float>(encode<e2m1>(given[i])), wanted[i]) << given[i];
    EXPECT_EQ(static_cast<float>(encode<e2m1>(-given[i])), -wanted[i]) << given[i];
  }
}

TEST(Fp4, TheTable) {
  const std::array wanted{0.F, 0.5F, 1.F, 1.5F, 2.F, 3.F, 4.F, 6.F};
  for (std::uint8_t code = 0; code < 8; ++code)
    EXPECT_EQ(static_cast<float>(e2m1{code}), wanted[code]);
}

}  // namespace
}  // namespace rooftile
