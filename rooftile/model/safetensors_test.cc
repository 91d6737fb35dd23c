// SPDX-License-Identifier: Apache-2.0
// Safetensors files: what is read from good ones, and that every wrong one is refused by name.
#include "rooftile/model/safetensors.h"

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

std::string file_of(std::string header, std::size_t data) {
  while (header.size() % 8 != 0) header += ' ';
  const auto size = static_cast<std::uint64_t>(header.size());
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + std::string(data, '\1');
}

TensorTable parsed(const std::string& file) {
  TensorTable table("m");
  parse_safetensors(std::as_bytes(std::span(file.data(), file.size())), "m", table);
  return table;
}

std::string refusal(const std::string& file) {
  try {
    (void)parsed(file);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "";
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

std::string refusal_of(const std::string& tensors, std::size_t data) {
  return refusal(file_of("{" + tensors + "}", data));
}

TEST(Safetensors, ReadsTensors) {
  const std::string file = file_of(
      "{\"__metadata__\":{\"format\":\"pt\"}," + tensor("b", "BF16", "[2,3]", "[4,16]") + "," +
          tensor("a", "F32", "[]", "[0,4]") + "," + tensor("n", "F32", "[0]", "[16,16]") + "}",
      16);
  const TensorTable table = parsed(file);
  EXPECT_EQ(table.all().size(), 3U);
  EXPECT_EQ(table["b"].dtype, DType::bf16);
  EXPECT_EQ(table["b"].shape, (Dims{2, 3}));
  EXPECT_EQ(table["b"].bytes, 12);
  EXPECT_EQ(table["b"].data, file.data() + file.size() - 12);
  EXPECT_EQ(table["a"].shape.rank(), 0);
  EXPECT_EQ(refusal(file_of("{}", 0)), "");
}

TEST(Safetensors, KnowsTheDtypes) {
  const std::pair<const char*, DType> types[]{
      {"F64", DType::f64},   {"F32", DType::f32},      {"F16", DType::fp16},
      {"BF16", DType::bf16}, {"F8_E4M3", DType::e4m3}, {"F8_E5M2", DType::e5m2},
      {"I64", DType::i64},   {"I32", DType::i32},      {"I16", DType::i16},
      {"I8", DType::i8},     {"U8", DType::u8},        {"BOOL", DType::u8}};
  for (const auto& [name, dtype] : types) {
    const auto bytes = static_cast<std::size_t>(info(dtype).unit_bytes);
    const std::string file =
        file_of("{" + tensor("t", name, "[1]", "[0," + std::to_string(bytes) + "]") + "}", bytes);
    EXPECT_EQ(parsed(file)["t"].dtype, dtype) << name;
  }
  EXPECT_THAT(refusal_of(tensor("t", "Q9", "[1]", "[0,4]"), 4),  // kekzl/imp#1603
              testing::AllOf(HasSubstr("tensor 't': dtype 'Q9'"), HasSubstr("BF16")));
}

// ztxz16/fastllm#712.
TEST(Safetensors, RefusesWrongHeaders) {
  EXPECT_THAT(refusal("1234567"), HasSubstr("needs 8 bytes"));
  EXPECT_THAT(refusal(std::string(8, '\xff')), HasSubstr("10^8 are allowed"));
  EXPECT_THAT(refusal(std::string("\x09\0\0\0\0\0\0\0{}", 10)), HasSubstr("needs 9 bytes"));
  EXPECT_THAT(refusal(std::string("\0\x7e\0\0\0\0\0\0{}", 10)), HasSubstr("2 are left"));
  EXPECT_THAT(refusal(file_of("", 0)), HasSubstr("begin with '{'"));
  EXPECT_THAT(refusal(file_of("[]", 0)), HasSubstr("begin with '{'"));
  EXPECT_THAT(refusal(file_of("{\"a\":", 0)), HasSubstr("no JSON"));
  EXPECT_THAT(refusal(file_of("{} {}", 0)), HasSubstr("no JSON"));
  EXPECT_THAT(refusal(file_of("{\"a\":\"\xff\"}", 0)), HasSubstr("no JSON"));
  EXPECT_THAT(refusal(file_of("{" + std::string(100000, '['), 0)), HasSubstr("no JSON"));
  EXPECT_THAT(refusal_of("\"a\":" + std::string(100000, '['), 0), HasSubstr("has an array"));
}

TEST(Safetensors, RefusesWhatTheFormatDoesNotHave) {
  EXPECT_THAT(refusal_of("\"a\":4", 0), HasSubstr("has a number where a tensor"));
  EXPECT_THAT(refusal_of("\"a\":{}", 0), HasSubstr("tensor 'a' needs dtype"));
  EXPECT_THAT(refusal_of("\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}", 0), HasSubstr("twice"));
  EXPECT_THAT(refusal_of("\"a\":{\"type\":\"F32\"}", 0), HasSubstr("unknown key 'type'"));
  EXPECT_THAT(refusal_of("\"a\":{\"dtype\":[]}", 0), HasSubstr("an array as dtype"));
  EXPECT_THAT(refusal_of("\"a\":{\"shape\":[[1]]}", 0), HasSubstr("an array as shape"));
  EXPECT_THAT(refusal_of("\"a\":{\"shape\":[1.5]}", 0), HasSubstr("1.5 as shape"));
  EXPECT_THAT(refusal_of("\"a\":{\"shape\":null}", 0), HasSubstr("null as shape"));
  EXPECT_THAT(refusal_of("\"__metadata__\":{\"a\":1}", 0), HasSubstr("a number as a"));
  EXPECT_THAT(
      refusal_of(tensor("a", "U8", "[1]", "[0,1]") + "," + tensor("a", "U8", "[1]", "[1,2]"), 2),
      HasSubstr("two tensors are named 'a'"));
}

// 0xShug0/audio.cpp#138.
TEST(Safetensors, RefusesWrongOffsets) {
  EXPECT_THAT(refusal_of(tensor("a", "F32", "[1]", "[-1,4]"), 8), HasSubstr("-1 as data_offsets"));
  EXPECT_THAT(refusal_of(tensor("a", "F32", "[1]", "[8,4]"), 8), HasSubstr("[8, 4] do not fit"));
  EXPECT_THAT(refusal_of(tensor("a", "F32", "[1]", "[0]"), 8), HasSubstr("two data_offsets"));
  EXPECT_THAT(refusal_of(tensor("a", "F32", "[1]", "[0,4,8]"), 8), HasSubstr("two data_offsets"));
  EXPECT_THAT(refusal_of(tensor("a", "F32", "[1]", "[9223372036854775808,9223372036854775812]"), 8),
              HasSubstr("do not fit 8 bytes"));
  EXPECT_THAT(refusal_of(tensor("a", "F32", "[1]", "[0,18446744073709551616]"), 8),
              HasSubstr("'a'"));
}

// ml-explore/mlx#3363.
TEST(Safetensors, RefusesShapesThatDoNotFitTheirBytes) {
  EXPECT_THAT(refusal_of(tensor("a", "F32", "[1000,1000]", "[0,4]"), 4),
              HasSubstr("its shape needs 4000000 bytes"));
  EXPECT_THAT(refusal_of(tensor("a", "F32", "[4294967296,4294967296]", "[0,0]"), 0),
              HasSubstr("63 bits"));
  EXPECT_THAT(refusal_of(tensor("a", "U8", "[18446744073709551615]", "[0,0]"), 0),
              HasSubstr("extent"));
  EXPECT_THAT(refusal_of(tensor("a", "U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1),
              HasSubstr("8 dimensions"));
}

// antirez/h3.c#48.
TEST(Safetensors, RefusesOverlapsAndGaps) {
  const auto two = [](const std::string& a, const std::string& b, std::size_t data) {
    return refusal_of(tensor("a", "F32", "[2]", a) + "," + tensor("b", "F32", "[2]", b), data);
  };
  EXPECT_EQ(two("[0,8]", "[8,16]", 16), "");
  EXPECT_EQ(two("[8,16]", "[0,8]", 16), "") << "the order in the header is free";
  EXPECT_THAT(two("[0,8]", "[4,12]", 12), HasSubstr("tensor 'b' begins at 4"));
  EXPECT_THAT(two("[0,8]", "[12,20]", 20), HasSubstr("begins at 12, the one before it ends at 8"));
  EXPECT_THAT(two("[4,12]", "[12,20]", 20), HasSubstr("begins at 4"));
  EXPECT_THAT(two("[0,8]", "[8,16]", 20), HasSubstr("end at byte 16 of 20"));
  EXPECT_THAT(
      refusal_of(tensor("a", "U8", "[1]", "[0,1]") + "," + tensor("b", "F32", "[1]", "[1,5]"), 5),
      HasSubstr("not aligned"));
}

struct ShardedModel {
  TestFolder folder;
  explicit ShardedModel(const std::string& map) {
    write_text(folder.file("one.safetensors"),
               file_of("{" + tensor("a", "U8", "[1]", "[0,1]") + "}", 1));
    write_text(folder.file("two.safetensors"),
               file_of("{" + tensor("b", "U8", "[1]", "[0,1]") + "}", 1));
    write_text(folder.file("model.safetensors.index.json"), "{\"weight_map\":{" + map + "}}");
  }
  [[nodiscard]] std::string refusal() const {
    try {
      (void)SafetensorsModel::open(folder.path());
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST(SafetensorsModel, OpensShards) {
  const ShardedModel sharded("\"a\":\"one.safetensors\",\"b\":\"two.safetensors\"");
  const SafetensorsModel model = SafetensorsModel::open(sharded.folder.path());
  EXPECT_EQ(model.tensors().all().size(), 2U);
  EXPECT_EQ(*static_cast<const char*>(model.tensors()["b"].data), 1);
  const SafetensorsModel one = SafetensorsModel::open(sharded.folder.file("one.safetensors"));
  EXPECT_EQ(one.tensors().all().size(), 1U);
}

TEST(SafetensorsModel, RefusesWrongIndices) {
  const auto refusal = [](const std::string& map) { return ShardedModel(map).refusal(); };
  EXPECT_THAT(refusal("\"c\":\"one.safetensors\""), HasSubstr("'c' is not in 'one.safetensors'"));
  EXPECT_THAT(refusal("\"b\":\"one.safetensors\",\"a\":\"two.safetensors\""),
              HasSubstr("is not in"));
  EXPECT_THAT(refusal("\"a\":\"none.safetensors\""), HasSubstr("none.safetensors"));
  EXPECT_THAT(refusal("\"a\":\"one.safetensors\",\"a\":\"two.safetensors\""), HasSubstr("twice"));
  for (const char* name : {"../one.safetensors", "/etc/passwd", "x/one.safetensors", "..", "",
                           "a\\\\b", ".hidden", "a\\u0000b"})
    EXPECT_THAT(refusal(std::string("\"a\":\"") + name + "\""), HasSubstr("no name of a file"))
        << name;
  EXPECT_THAT(refusal("\"a\":4"), HasSubstr("no name of a file"));
}

TEST(SafetensorsModel, RefusesTensorsInTwoShards) {
  const ShardedModel sharded("\"a\":\"one.safetensors\",\"b\":\"two.safetensors\"");
  write_text(sharded.folder.file("two.safetensors"),
             file_of("{" + tensor("a", "U8", "[1]", "[0,1]") + "}", 1));
  EXPECT_THAT(sharded.refusal(), HasSubstr("two tensors are named 'a'"));
}

TEST(SafetensorsIndex, RefusesWhatIsNoIndex) {
  for (const char* text : {"", "[]", "{}", "{\"weight_map\":[]}", "{\"weight_map\":null}", "3"})
    EXPECT_THROW((void)parse_safetensors_index(text, "i"), Error) << text;
}

}  // namespace
}  // namespace rooftile
