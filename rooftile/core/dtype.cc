// SPDX-License-Identifier: Apache-2.0
#include "rooftile/core/dtype.h"

#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr auto kFloat = DTypeKind::floating;
constexpr auto kInt = DTypeKind::integer;
constexpr auto kBlock = DTypeKind::block;
constexpr double kHalf = 65504;  // the greatest scale or minimum of a block

// name, kind, elements and bytes of a unit, mantissa bits, exponent of the smallest normal, maximum
constexpr std::array kTypes{
    DTypeInfo{DType::f64, "f64", kFloat, 1, 8, 52, -1022, std::numeric_limits<double>::max()},
    DTypeInfo{DType::f32, "f32", kFloat, 1, 4, 23, -126, std::numeric_limits<float>::max()},
    DTypeInfo{DType::fp16, "fp16", kFloat, 1, 2, 10, -14, 65504.0},
    DTypeInfo{DType::bf16, "bf16", kFloat, 1, 2, 7, -126, 0x1.fep127},
    DTypeInfo{DType::e4m3, "e4m3", kFloat, 1, 1, 3, -6, 448.0},
    DTypeInfo{DType::e5m2, "e5m2", kFloat, 1, 1, 2, -14, 57344.0},
    DTypeInfo{DType::e4m3fnuz, "e4m3fnuz", kFloat, 1, 1, 3, -7, 240.0},
    DTypeInfo{DType::e5m2fnuz, "e5m2fnuz", kFloat, 1, 1, 2, -15, 57344.0},
    DTypeInfo{DType::e3m2, "e3m2", kFloat, 4, 3, 2, -2, 28.0},
    DTypeInfo{DType::e2m3, "e2m3", kFloat, 4, 3, 3, 0, 7.5},
    DTypeInfo{DType::e2m1, "e2m1", kFloat, 2, 1, 1, 0, 6.0},
    DTypeInfo{DType::e8m0, "e8m0", DTypeKind::scale, 1, 1, 0, -127, 0x1p127},
    DTypeInfo{DType::i64, "i64", kInt, 1, 8, 0, 0, 0x1p63},
    DTypeInfo{DType::i32, "i32", kInt, 1, 4, 0, 0, 2147483647.0},
    DTypeInfo{DType::i16, "i16", kInt, 1, 2, 0, 0, 32767.0},
    DTypeInfo{DType::i8, "i8", kInt, 1, 1, 0, 0, 127.0},
    DTypeInfo{DType::u8, "u8", kInt, 1, 1, 0, 0, 255.0},
    DTypeInfo{DType::i4, "i4", kInt, 2, 1, 0, 0, 7.0},
    DTypeInfo{DType::u4, "u4", kInt, 2, 1, 0, 0, 15.0},
    DTypeInfo{DType::q4_0, "q4_0", kBlock, 32, 18, 0, -14, 7 * kHalf},
    DTypeInfo{DType::q4_1, "q4_1", kBlock, 32, 20, 0, -14, kHalf},
    DTypeInfo{DType::q5_0, "q5_0", kBlock, 32, 22, 0, -14, 15 * kHalf},
    DTypeInfo{DType::q5_1, "q5_1", kBlock, 32, 24, 0, -14, kHalf},
    DTypeInfo{DType::q8_0, "q8_0", kBlock, 32, 34, 0, -14, 127 * kHalf},
    DTypeInfo{DType::q2_k, "q2_k", kBlock, 256, 84, 0, -14, 15 * kHalf},
    DTypeInfo{DType::q3_k, "q3_k", kBlock, 256, 110, 0, -14, 31 * 3 * kHalf},
    DTypeInfo{DType::q4_k, "q4_k", kBlock, 256, 144, 0, -14, 63 * kHalf},
    DTypeInfo{DType::q5_k, "q5_k", kBlock, 256, 176, 0, -14, 63 * kHalf},
    DTypeInfo{DType::q6_k, "q6_k", kBlock, 256, 210, 0, -14, 127 * 31 * kHalf},
};

using Alias = std::pair<std::string_view, DType>;
constexpr std::array kAliases{
    Alias{"f16", DType::fp16},         Alias{"float16", DType::fp16},
    Alias{"half", DType::fp16},        Alias{"bfloat16", DType::bf16},
    Alias{"float32", DType::f32},      Alias{"float", DType::f32},
    Alias{"fp32", DType::f32},         Alias{"float64", DType::f64},
    Alias{"e4m3fn", DType::e4m3},      Alias{"float8_e4m3fn", DType::e4m3},
    Alias{"float8_e5m2", DType::e5m2}, Alias{"fp8", DType::e4m3},
    Alias{"e2m1fn", DType::e2m1},      Alias{"fp4", DType::e2m1},
    Alias{"e8m0fnu", DType::e8m0},     Alias{"int8", DType::i8},
    Alias{"int32", DType::i32},        Alias{"int64", DType::i64},
};

}  // namespace

std::span<const DTypeInfo> dtypes() { return kTypes; }

const DTypeInfo& info(DType dtype) { return kTypes.at(static_cast<std::size_t>(dtype)); }

DType parse_dtype(std::string_view text) {
  for (const DTypeInfo& type : kTypes)
    if (type.name == text) return type.dtype;
  for (const auto& [alias, dtype] : kAliases)
    if (alias == text) return dtype;
  std::vector<std::string> known;
  for (const DTypeInfo& type : kTypes) known.emplace_back(type.name);
  fail_input(unknown_name("dtype", text, known));
}

std::int64_t bytes_of(DType dtype, std::int64_t elements) {
  const DTypeInfo& type = info(dtype);
  if (type.is_block() && elements % type.unit_elements != 0)
    fail_input(std::to_string(elements) + " elements of " + std::string(type.name) +
               " are no whole number of blocks of " + std::to_string(type.unit_elements));
  const std::int64_t units =
      elements / type.unit_elements + (elements % type.unit_elements != 0 ? 1 : 0);
  return checked_product({units, type.unit_bytes}, "a tensor's bytes");
}

int block_axis(const Dims& shape, const Dims& strides) {
  for (int i = shape.rank() - 1; i >= 0; --i)
    if (strides[i] == 1 && shape[i] > 1) return i;
  return shape.rank() - 1;
}

void check_whole_blocks(std::string_view what, DType dtype, const Dims& shape,
                        const Dims& strides) {
  const DTypeInfo& type = info(dtype);
  if (!type.is_block() || num_elements(shape) == 0) return;
  const std::string text = std::string(what) + ": " + std::string(type.name) + to_string(shape);
  const std::string block = std::to_string(type.unit_elements);
  const int axis = block_axis(shape, strides);
  if (axis < 0 || (strides[axis] != 1 && shape[axis] > 1))
    fail_input(text + " has strides " + to_string(strides) + ": blocks need 1 along one axis");
  if (shape[axis] % type.unit_elements != 0)
    fail_input(text + ": the extent with stride 1 must be a multiple of " + block + ", the block");
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis && shape[i] > 1 && strides[i] % type.unit_elements != 0)
      fail_input(text + " has strides " + to_string(strides) +
                 ": all but the 1 must be multiples of " + block + ", the block");
}

}  // namespace rooftile
