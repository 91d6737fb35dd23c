// SPDX-License-Identifier: Apache-2.0
// GGUF files: what is read from good ones, and that every wrong one is refused by name.
#include "rooftile/model/gguf.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/model/test_gguf_writer.h"

namespace rooftile {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kF32 = 0, kQ4K = 12;

std::string refusal(const std::string& file) {
  try {
    (void)parse_gguf(bytes_of_text(file), "m.gguf");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_THAT(error.what(), HasSubstr("m.gguf: "));
    return error.what();
  }
  return "";
}
std::string refusal(const GgufWriter& writer) { return refusal(writer.file()); }

std::string floats(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += GgufWriter::raw(static_cast<float>(i));
  return bytes;
}

TEST(Gguf, ReadsMetadataByType) {
  GgufWriter writer;
  writer.add_u32("a", 7);
  writer.add_f32("b", 0.5F);
  writer.add_bool("c", true);
  writer.add_string("d", "text");
  writer.add("e", GgufType::i64, GgufWriter::raw<std::int64_t>(-1));
  writer.add("f", GgufType::u64, GgufWriter::raw<std::uint64_t>(9));
  writer.add("g", GgufType::f64, GgufWriter::raw(0.25));
  writer.add_array("texts", GgufType::string, 2, GgufWriter::text("x") + GgufWriter::text(""));
  writer.add_array("ints", GgufType::i32, 2, GgufWriter::raw(-3) + GgufWriter::raw(4));
  writer.add_array("floats", GgufType::f32, 2, floats(2));
  const std::string file = writer.file();
  const GgufContent gguf = parse_gguf(bytes_of_text(file), "m.gguf");
  const GgufMetadata& metadata = gguf.metadata;
  EXPECT_EQ(gguf.version, 3U);
  EXPECT_EQ(metadata.get_u32("a"), 7U);
  EXPECT_EQ(metadata.get_f32("b"), 0.5F);
  EXPECT_TRUE(metadata.get_bool("c"));
  EXPECT_EQ(metadata.get_string("d"), "text");
  EXPECT_EQ(metadata.get_u32("f"), 9U);
  EXPECT_EQ(metadata.get_f32("g"), 0.25F);
  EXPECT_THAT(metadata.get_strings("texts"), ElementsAre("x", ""));
  EXPECT_THAT(metadata.get_i32s("ints"), ElementsAre(-3, 4));
  EXPECT_THAT(metadata.get_f32s("floats"), ElementsAre(0, 1));
  EXPECT_FALSE(metadata.find_u32("none").has_value());
  EXPECT_EQ(metadata.find_string("d"), "text");
}

TEST(Gguf, GettersNameKeyAndTypes) {
  GgufWriter writer;
  writer.add_u32("a", 7);
  writer.add("minus", GgufType::i32, GgufWriter::raw(-1));
  writer.add("huge", GgufType::u64, GgufWriter::raw(~std::uint64_t{0}));
  writer.add_array("ints", GgufType::i32, 1, GgufWriter::raw(1));
  const std::string file = writer.file();
  const GgufContent gguf = parse_gguf(bytes_of_text(file), "m.gguf");
  const GgufMetadata& metadata = gguf.metadata;
  const auto message = [](auto get) -> std::string {
    try {
      get();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { (void)metadata.get_string("a"); }),
            "m.gguf: metadata key 'a' is u32, expected string");
  EXPECT_THAT(message([&] { (void)metadata.get_u32("none"); }), HasSubstr("'none' is missing"));
  EXPECT_THAT(message([&] { (void)metadata.get_u32("minus"); }), HasSubstr("holds -1, expected 0"));
  EXPECT_THAT(message([&] { (void)metadata.get_u32("huge"); }), HasSubstr("expected 0 to"));
  EXPECT_THAT(message([&] { (void)metadata.get_u32("ints"); }),
              HasSubstr("is an array of 1 i32, expected u32"));
  EXPECT_THAT(message([&] { (void)metadata.find_f32("a"); }), HasSubstr("is u32, expected f32"));
  EXPECT_THAT(message([&] { (void)metadata.get_strings("ints"); }), HasSubstr("array of string"));
  EXPECT_THAT(message([&] { (void)metadata.get_f32s("ints"); }), HasSubstr("array of f32"));
  EXPECT_THAT(message([&] { (void)metadata.get_bool("a"); }), HasSubstr("expected bool"));
}

TEST(Gguf, ReadsTensorsOutermostFirst) {
  GgufWriter writer;
  writer.version = 2;
  writer.add_tensor("a", {3, 2}, kF32, floats(6));
  writer.add_tensor("q", {256, 1, 2}, kQ4K, std::string(2 * 144, 'x'));
  writer.add_tensor("none", {0, 5}, kF32, "");
  const std::string file = writer.file();
  const GgufContent gguf = parse_gguf(bytes_of_text(file), "m.gguf");
  const ModelTensor& a = gguf.tensors["a"];
  EXPECT_EQ(a.shape, (Dims{2, 3}));
  EXPECT_EQ(a.bytes, 24);
  float last = 0;
  std::memcpy(&last, static_cast<const char*>(a.data) + 20, 4);
  EXPECT_EQ(last, 5);
  EXPECT_EQ(gguf.tensors["q"].shape, (Dims{2, 1, 256}));
  EXPECT_EQ(gguf.tensors["q"].dtype, DType::q4_k);
  EXPECT_EQ(gguf.tensors["none"].bytes, 0);
  EXPECT_EQ(gguf.tensors.find("b"), nullptr);
  EXPECT_THROW((void)gguf.tensors["b"], Error);
  EXPECT_THROW((void)gguf.tensors.with_shape("a", {3, 2}), Error);
}

TEST(Gguf, OpensFiles) {
  const TestFolder folder;
  write_text(folder.file("m.gguf"), small_model("llama").file());
  const GgufFile gguf = GgufFile::open(folder.file("m.gguf"));
  EXPECT_EQ(gguf.metadata().get_string("general.architecture"), "llama");
  EXPECT_EQ(gguf.tensors().all().size(), 1U);
  EXPECT_THROW((void)GgufFile::open(folder.file("none.gguf")), Error);
}

TEST(Gguf, RefusesOtherFilesAndVersions) {
  EXPECT_THAT(refusal("GG"), HasSubstr("not a GGUF file"));
  EXPECT_THAT(refusal("PK\3\4 and more"), HasSubstr("not a GGUF file"));
  GgufWriter writer;
  writer.version = 1;
  EXPECT_THAT(refusal(writer), HasSubstr("version 1; versions 2 and 3"));
  writer.version = 0;
  EXPECT_THAT(refusal(writer), HasSubstr("version 0"));
  writer.version = 0x03000000;  // ggml-org/llama.cpp#3298
  EXPECT_THAT(refusal(writer), HasSubstr("byte order is big-endian"));
}

// ggml-org/llama.cpp#15711: counts far beyond the file, each in 100 bytes.
TEST(Gguf, RefusesCountsBeyondTheFile) {
  for (const std::uint64_t count : {std::uint64_t{5}, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    GgufWriter tensors, entries, key, array, texts;
    tensors.num_tensors = count;
    EXPECT_THAT(refusal(tensors), HasSubstr("tensors in"));
    entries.num_entries = count;
    EXPECT_THAT(refusal(entries), HasSubstr("metadata entries in"));
    key.add("", GgufType::u32, "");
    std::string file = key.file();
    file.replace(24, 8, GgufWriter::raw(count));
    EXPECT_NE(refusal(file + "ab"), "");
    array.add_array("a", GgufType::i32, count, "1234");
    EXPECT_THAT(refusal(array), HasSubstr("'a' has " + std::to_string(count) + " elements"));
    texts.add("t", GgufType::string, GgufWriter::raw(count) + "1234");
    EXPECT_THAT(refusal(texts), HasSubstr("'t' needs " + std::to_string(count) + " bytes"));
  }
}

TEST(Gguf, RefusesEveryTruncation) {
  GgufWriter writer = small_model("llama");
  writer.add_array("texts", GgufType::string, 1, GgufWriter::text("x"));
  const std::string file = writer.file();
  EXPECT_EQ(refusal(file), "");
  for (std::size_t size = 0; size < file.size(); ++size)
    ASSERT_NE(refusal(file.substr(0, size)), "") << size;
}

TEST(Gguf, RefusesWrongValues) {
  const auto with = [](auto change) {
    GgufWriter writer;
    change(writer);
    return refusal(writer);
  };
  EXPECT_THAT(with([](auto& w) { w.add("k", static_cast<GgufType>(13), "1234"); }),
              HasSubstr("'k' has the unknown type 13"));
  EXPECT_THAT(with([](auto& w) { w.add_array("k", GgufType::array, 1, std::string(40, 0)); }),
              HasSubstr("'k' is an array of arrays"));
  EXPECT_THAT(with([](auto& w) { w.add("k", GgufType::boolean, "\2"); }),
              HasSubstr("neither 0 nor 1"));
  EXPECT_THAT(with([](auto& w) { w.add_u32("", 1); }), HasSubstr("has 0 bytes"));
  EXPECT_THAT(with([](auto& w) { w.add_u32("k", 1), w.add_u32("k", 1); }), HasSubstr("twice"));
}

// antirez/gguf-tools#28.
TEST(Gguf, RefusesWrongAlignments) {
  for (const std::uint32_t alignment : {0U, 3U, 0x80000000U}) {
    GgufWriter writer;
    writer.add_u32("general.alignment", alignment);
    EXPECT_THAT(refusal(writer), HasSubstr("power of two")) << alignment;
  }
  GgufWriter text, minus, good;
  text.add_string("general.alignment", "32");
  EXPECT_THAT(refusal(text), HasSubstr("must be u32"));
  minus.add("general.alignment", GgufType::i32, GgufWriter::raw(32));
  EXPECT_THAT(refusal(minus), HasSubstr("must be u32"));
  good.alignment = 8;
  good.add_u32("general.alignment", 8);
  good.add_tensor("a", {1}, kF32, floats(1));
  good.add_tensor("b", {1}, kF32, floats(1));
  EXPECT_EQ(refusal(good), "");
}

TEST(Gguf, RefusesWrongTensors) {
  const auto with = [](const std::vector<std::uint64_t>& extents, std::uint32_t type,
                       std::optional<std::uint64_t> offset = std::nullopt) {
    GgufWriter writer;
    writer.add_tensor("t", extents, type, std::string(144, 'x'), offset);
    return refusal(writer);
  };
  EXPECT_EQ(with({256}, kQ4K), "");
  // ggml-org/llama.cpp#18674: products that wrap.
  EXPECT_THAT(with({1152, (std::uint64_t{1} << 42) + 1}, kF32), HasSubstr("tensor 't'"));
  EXPECT_THAT(with({~std::uint64_t{0}, 2, 1, 1}, kF32), HasSubstr("extent of"));
  EXPECT_THAT(with({std::uint64_t{1} << 61, 8}, kF32), HasSubstr("63 bits"));
  // antirez/gguf-tools#25.
  EXPECT_THAT(with({}, kF32), HasSubstr("0 dimensions"));
  EXPECT_THAT(with({1, 1, 1, 1, 1}, kF32), HasSubstr("5 dimensions"));
  // ggml-org/llama.cpp#11976.
  EXPECT_THAT(with({100}, kQ4K), HasSubstr("multiple of 256"));
  EXPECT_THAT(with({32}, 9999), AllOf(HasSubstr("'t' has type 9999,"), HasSubstr("q4_k")));
  EXPECT_THAT(with({256}, 16), HasSubstr("type 16 (IQ2_XXS)"));
  EXPECT_THAT(with({256}, 4), HasSubstr("type 4,"));
  EXPECT_THAT(with({36}, kF32, 16), HasSubstr("no multiple of 32"));
  EXPECT_THAT(with({37}, kF32), HasSubstr("148 bytes at offset 0, the data has 144"));
  EXPECT_THAT(with({1}, kF32, 160), HasSubstr("at offset 160"));
  EXPECT_THAT(with({1}, kF32, ~std::uint64_t{31}), HasSubstr("the data has 144"));
}

TEST(Gguf, RefusesTensorsThatMeet) {
  GgufWriter twice, overlap;
  twice.add_tensor("a", {1}, kF32, floats(1));  // ggml-org/llama.cpp#6836
  twice.add_tensor("a", {1}, kF32, floats(1));
  EXPECT_THAT(refusal(twice), HasSubstr("two tensors are named 'a'"));
  overlap.add_tensor("a", {16}, kF32, floats(16));
  overlap.add_tensor("b", {1}, kF32, floats(1), 32);
  EXPECT_THAT(refusal(overlap), HasSubstr("tensors 'a' and 'b' overlap at offset 32"));
}

}  // namespace
}  // namespace rooftile
