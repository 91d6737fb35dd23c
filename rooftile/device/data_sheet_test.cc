// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/data_sheet.h"

#include "gtest/gtest.h"
#include "rooftile/hardware/gpu.h"

namespace rooftile {
namespace {

double ops_per_s(const Ceilings& sheet, Unit unit) {
  return sheet.sheet_ops_per_s[static_cast<std::size_t>(unit)].value_or(0);
}

TEST(DataSheet, IsTheTablesRow) {
  const Ceilings h200 = data_sheet(find_gpu("h200"));
  EXPECT_EQ(h200.sheet_bytes_per_s, 4.8e12);
  EXPECT_NEAR(ops_per_s(h200, Unit::bf16), 989e12, 1e12);
  EXPECT_NEAR(ops_per_s(h200, Unit::fp8), 1979e12, 1e12);
  EXPECT_NEAR(ops_per_s(h200, Unit::fp32), 67e12, 1e12);
  EXPECT_EQ(ops_per_s(h200, Unit::fp4), 0) << "Hopper has no fp4";
}

TEST(DataSheet, TakesTheFasterEngineAndAccumulator) {
  EXPECT_NEAR(ops_per_s(data_sheet(find_gpu("h200")), Unit::fp64), 67e12, 1e12)
      << "tensor, not vector";
  const Gpu& geforce = find_gpu("rtx4090");
  EXPECT_EQ(ops_per_s(data_sheet(geforce), Unit::fp16),
            peak_ops_per_s(geforce, kTensorFp16AccFp16));
}

TEST(DataSheet, SaysNothingOfWhatIsNotKnown) {
  const Ceilings empty = data_sheet(Gpu{});
  EXPECT_FALSE(empty.sheet_bytes_per_s);
  EXPECT_EQ(ops_per_s(empty, Unit::bf16), 0);
}

}  // namespace
}  // namespace rooftile
