// SPDX-License-Identifier: Apache-2.0
// What is refused before a driver sees a tensor map, which would give no reason.
#include "rooftile/device/tensor_map.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

alignas(128) char memory[256];

// A bf16 matrix of 64 rows of 128 columns, in boxes of 32 x 64.
TensorMapSpec matrix() {
  return {.data = memory,
          .extent = {128, 64},
          .stride_bytes = {0, 256},
          .box = {64, 32},
          .swizzle = Swizzle::bytes128};
}

template <class Change>
std::string refusal(Change change) {
  TensorMapSpec spec = matrix();
  change(spec);
  try {
    check_tensor_map(spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "nothing thrown";
}

TEST(TensorMap, AllowsWhatTmaCan) {
  EXPECT_EQ(refusal([](TensorMapSpec&) {}), "nothing thrown");
  EXPECT_EQ(refusal([](auto& s) { s.extent[1] = std::int64_t{1} << 32; }), "nothing thrown");
  EXPECT_EQ(refusal([](auto& s) { s.swizzle = Swizzle::none, s.box[0] = 256; }), "nothing thrown");
  // As on an H200: rows that overlap, extents that end within 16 bytes.
  EXPECT_EQ(refusal([](auto& s) { s.stride_bytes[1] = 0; }), "nothing thrown");
  EXPECT_EQ(refusal([](auto& s) { s.stride_bytes[1] = 16; }), "nothing thrown");
  EXPECT_EQ(refusal([](auto& s) { s.extent[0] = 123; }), "nothing thrown");
}

TEST(TensorMap, NamesTheRuleThatIsBroken) {
  EXPECT_THAT(refusal([](auto& s) { s.rank = 0; }), HasSubstr("rank 0"));
  EXPECT_THAT(refusal([](auto& s) { s.rank = 6; }), HasSubstr("rank 6"));
  EXPECT_THAT(refusal([](auto& s) { s.rank = 3; }), HasSubstr("dimension 2: extent 0"));
  EXPECT_THAT(refusal([](auto& s) { s.data = nullptr; }), HasSubstr("address"));
  EXPECT_THAT(refusal([](auto& s) { s.data = memory + 8; }), HasSubstr("multiple of 16"));
  EXPECT_THAT(refusal([](auto& s) { s.dtype = DType::e2m1; }), HasSubstr("e2m1"));
  EXPECT_THAT(refusal([](auto& s) { s.extent[0] = (std::int64_t{1} << 32) + 1; }),
              HasSubstr("2^32"));
  EXPECT_THAT(refusal([](auto& s) { s.box[1] = 257; }), HasSubstr("dimension 1: box 257"));
  EXPECT_THAT(refusal([](auto& s) { s.stride_bytes[1] = 264; }), HasSubstr("264"));
  EXPECT_THAT(refusal([](auto& s) { s.stride_bytes[1] = -16; }), HasSubstr("-16"));
  EXPECT_THAT(refusal([](auto& s) { s.stride_bytes[1] = std::int64_t{1} << 40; }),
              HasSubstr("2^40"));
  EXPECT_THAT(refusal([](auto& s) { s.element_stride[0] = 9; }), HasSubstr("element stride 9"));
  EXPECT_THAT(refusal([](auto& s) { s.box[0] = 4; }), HasSubstr("8 bytes wide"));
  EXPECT_THAT(refusal([](auto& s) { s.box[0] = 72; }), HasSubstr("swizzle of 128"));
  EXPECT_THAT(refusal([](auto& s) { s.swizzle = Swizzle::none, s.box = {256, 256}, s.rank = 2; }),
              "nothing thrown");
  EXPECT_THAT(refusal([](auto& s) {
                s.rank = 3, s.extent[2] = 8, s.stride_bytes[2] = 16, s.box = {64, 256, 8};
              }),
              HasSubstr("262144 bytes, at most 233472"));
}

TEST(TensorMap, NeedsADeviceThatHasTma) {
  const auto cpu = open_device("cpu");
  EXPECT_THROW((void)make_tensor_map(*cpu, matrix()), Error);
}

}  // namespace
}  // namespace rooftile
