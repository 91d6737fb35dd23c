// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/ptxas_report.h"

#include <gtest/gtest.h>

namespace rooftile {
namespace {

// As nvcc 13.0 writes it, for rows<float, 4>, rows<rooftile::bf16, 4> in an anonymous namespace,
// and a plain kernel.
constexpr const char* kReport =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function "
    "'_ZN8rooftile3ops46_GLOBAL__N__25d48ab9_13_sm90_plain_cu_9e1e39bd4rowsIfLi4EEEvPT_' for "
    "'sm_90a'\n"
    "ptxas info    : Function properties for x\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 40 registers, used 1 barriers, 256 bytes smem\n"
    "ptxas info    : Compiling entry function "
    "'_ZN8rooftile3ops12_GLOBAL__N_14rowsINS_4bf16ELi4EEEvPT_' for 'sm_90a'\n"
    "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
    "ptxas info    : Used 64 registers, used 1 barriers\n"
    "ptxas info    : Compiling entry function 'plain' for 'sm_90a'\n"
    "ptxas info    : Used 18 registers\n";

TEST(PtxasReport, FindsTheInstance) {
  const auto rows = resources_of(kReport, "rows<float, 4>");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->registers, 40);
  EXPECT_EQ(rows->static_shared_bytes, 256);
  EXPECT_EQ(rows->spilled_bytes, 0);
  EXPECT_EQ(rows->instances, 1);
  const auto narrow = resources_of(kReport, "rows<bf16, 4>");
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->registers, 64);
  EXPECT_EQ(narrow->static_shared_bytes, 0);
  EXPECT_EQ(narrow->spilled_bytes, 20);
  EXPECT_EQ(resources_of(kReport, "plain")->registers, 18);
}

TEST(PtxasReport, DoubtGivesTheLargest) {
  const auto some = resources_of(kReport, "rows<float, kFour>");
  ASSERT_TRUE(some);
  EXPECT_EQ(some->instances, 2);
  EXPECT_EQ(some->registers, 64);
  EXPECT_EQ(some->static_shared_bytes, 256);
}

TEST(PtxasReport, WhatIsNotThereIsUnknown) {
  EXPECT_FALSE(resources_of(kReport, "columns"));
  EXPECT_FALSE(resources_of("", "rows<float, 4>"));
  EXPECT_FALSE(resources_of("ptxas info : Compiling entry function '", "rows"));
}

}  // namespace
}  // namespace rooftile
