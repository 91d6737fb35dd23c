// SPDX-License-Identifier: Apache-2.0
// Element types: their names, sizes and ranges, and the bytes of many of them.
#include "rooftile/core/dtype.h"

#include <cmath>
#include <limits>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"

namespace rooftile {
namespace {

using testing::HasSubstr;
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

std::string message_of(std::string_view text) {
  try {
    parse_dtype(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "";
}

TEST(DTypes, AreListedInTheOrderOfTheEnum) {
  EXPECT_EQ(dtypes().size(), 29U);
  for (std::size_t i = 0; i < dtypes().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(dtypes()[i].dtype), i);
    EXPECT_EQ(&info(dtypes()[i].dtype), &dtypes()[i]);
  }
}

TEST(DTypes, HaveNamesThatReadBack) {
  std::set<std::string_view> names;
  for (const DTypeInfo& type : dtypes()) {
    EXPECT_EQ(parse_dtype(name(type.dtype)), type.dtype);
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
  }
}

TEST(DTypes, HaveTheNamesOfOtherLibraries) {
  EXPECT_EQ(parse_dtype("f16"), DType::fp16);
  EXPECT_EQ(parse_dtype("float16"), DType::fp16);
  EXPECT_EQ(parse_dtype("half"), DType::fp16);
  EXPECT_EQ(parse_dtype("bfloat16"), DType::bf16);
  EXPECT_EQ(parse_dtype("float32"), DType::f32);
  EXPECT_EQ(parse_dtype("fp32"), DType::f32);
  EXPECT_EQ(parse_dtype("float64"), DType::f64);
  EXPECT_EQ(parse_dtype("float8_e4m3fn"), DType::e4m3);
  EXPECT_EQ(parse_dtype("float8_e5m2"), DType::e5m2);
  EXPECT_EQ(parse_dtype("e8m0fnu"), DType::e8m0);
  EXPECT_EQ(parse_dtype("int8"), DType::i8);
  EXPECT_EQ(parse_dtype("int64"), DType::i64);
}

TEST(DTypes, RefuseOtherNamesWithSuggestions) {
  EXPECT_THAT(message_of("bf61"), HasSubstr("did you mean"));
  EXPECT_THAT(message_of("bf61"), HasSubstr("'bf16'"));
  for (const char* text : {"", "F32", "f32 ", "tf32", "e4m", "i", "u64"})
    EXPECT_NE(message_of(text), "");
}

// The ranges of the formats' own documents: IEEE 754, OCP OFP8 and MX v1.0, and the fnuz paper.
TEST(DTypes, HaveTheirGreatestNumbers) {
  const auto most = [](DType dtype) { return info(dtype).max_finite; };
  EXPECT_EQ(most(DType::fp16), 65504);
  EXPECT_EQ(most(DType::bf16), 3.3895313892515355e38);
  EXPECT_EQ(most(DType::e4m3), 448);
  EXPECT_EQ(most(DType::e5m2), 57344);
  EXPECT_EQ(most(DType::e4m3fnuz), 240);
  EXPECT_EQ(most(DType::e5m2fnuz), 57344);
  EXPECT_EQ(most(DType::e3m2), 28);
  EXPECT_EQ(most(DType::e2m3), 7.5);
  EXPECT_EQ(most(DType::e2m1), 6);
  EXPECT_EQ(most(DType::i4), 7);
  EXPECT_EQ(most(DType::u4), 15);
}

// The greatest number follows from the bits for every format without infinities in its top binade.
TEST(DTypes, AreConsistent) {
  for (const DTypeInfo& type : dtypes()) {
    EXPECT_GE(type.unit_elements, 1) << type.name;
    EXPECT_EQ(type.is_packed(), type.unit_elements > 1) << type.name;
    if (type.is_block()) continue;
    EXPECT_EQ(type.kind == DTypeKind::integer, type.mantissa_bits == 0 && type.min_exponent == 0)
        << type.name;
    if (type.kind != DTypeKind::floating) continue;
    const int top = std::ilogb(type.max_finite);
    const double steps = std::ldexp(type.max_finite, type.mantissa_bits - top);
    EXPECT_EQ(steps, std::floor(steps)) << type.name << ": not a number of the type";
  }
}

TEST(BytesOf, CountsWholeUnits) {
  EXPECT_EQ(bytes_of(DType::f32, 0), 0);
  EXPECT_EQ(bytes_of(DType::f64, 3), 24);
  EXPECT_EQ(bytes_of(DType::bf16, 3), 6);
  EXPECT_EQ(bytes_of(DType::e2m1, 1), 1);  // two to a byte
  EXPECT_EQ(bytes_of(DType::e2m1, 2), 1);
  EXPECT_EQ(bytes_of(DType::i4, 3), 2);
  EXPECT_EQ(bytes_of(DType::e3m2, 4), 3);  // four to three bytes
  EXPECT_EQ(bytes_of(DType::e3m2, 5), 6);
}

// The sizes of the blocks that ggml writes.
TEST(BytesOf, CountsBlocks) {
  const auto block = [](DType dtype, std::int64_t elements, std::int64_t bytes) {
    EXPECT_EQ(info(dtype).unit_elements, elements) << name(dtype);
    EXPECT_EQ(bytes_of(dtype, 3 * elements), 3 * bytes) << name(dtype);
    EXPECT_EQ(bytes_of(dtype, 0), 0) << name(dtype);
    EXPECT_THROW(bytes_of(dtype, elements + 1), Error) << name(dtype);
  };
  block(DType::q4_0, 32, 18);
  block(DType::q4_1, 32, 20);
  block(DType::q5_0, 32, 22);
  block(DType::q5_1, 32, 24);
  block(DType::q8_0, 32, 34);
  block(DType::q2_k, 256, 84);
  block(DType::q3_k, 256, 110);
  block(DType::q4_k, 256, 144);
  block(DType::q5_k, 256, 176);
  block(DType::q6_k, 256, 210);
  EXPECT_THROW(bytes_of(DType::q8_0, kMost / 32 * 32), Error) << "34 bytes for 32 elements";
}

TEST(WholeBlocks, AreAskedFor) {
  const auto refusal = [](DType dtype, const Dims& shape, const Dims& strides) -> std::string {
    try {
      check_whole_blocks("argument 'w'", dtype, shape, strides);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(DType::q4_1, {3, 64}, {64, 1}), "");
  EXPECT_EQ(refusal(DType::q4_1, {3, 64}, {96, 1}), "");
  EXPECT_EQ(refusal(DType::q4_1, {0, 64}, {64, 1}), "");
  EXPECT_EQ(refusal(DType::f32, {3, 7}, {1, 3}), "");
  EXPECT_THAT(refusal(DType::q4_k, {3, 128}, {128, 1}),
              AllOf(HasSubstr("argument 'w': q4_k[3,128]"), HasSubstr("multiple of 256")));
  EXPECT_EQ(refusal(DType::q4_1, {64, 3}, {1, 64}), "") << "a weight, transposed";
  EXPECT_EQ(refusal(DType::q4_1, {64, 1}, {1, 1}), "") << "the same of one row";
  EXPECT_EQ(refusal(DType::q4_1, {0, 5}, {5, 1}), "") << "nothing";
  EXPECT_THAT(refusal(DType::q4_1, {48, 3}, {1, 64}), HasSubstr("multiple of 32"));
  EXPECT_THAT(refusal(DType::q4_0, {64, 64}, {64, 2}), HasSubstr("blocks need 1 along one axis"));
  EXPECT_THAT(refusal(DType::q4_0, {2, 64}, {80, 1}), HasSubstr("multiples of 32"));
  EXPECT_THAT(refusal(DType::q4_0, {}, {}), HasSubstr("along one axis"));
}

TEST(BytesOf, RefusesWhatDoesNotFit) {
  EXPECT_EQ(bytes_of(DType::i8, kMost), kMost);
  EXPECT_EQ(bytes_of(DType::u4, kMost), (std::int64_t{1} << 62));
  EXPECT_EQ(bytes_of(DType::f64, kMost / 8), kMost - 7);
  EXPECT_THROW(bytes_of(DType::f64, kMost / 8 + 1), Error);
  EXPECT_THROW(bytes_of(DType::bf16, kMost), Error);
  EXPECT_THROW(bytes_of(DType::f32, -1), Error);
}

}  // namespace
}  // namespace rooftile
