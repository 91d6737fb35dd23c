// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/gguf_tensors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "rooftile/model/gguf_text.h"

namespace rooftile {
namespace {

// A length of 8 bytes, a name of one, a rank of four, one extent of 8, a type of 4, an offset of 8.
constexpr std::uint64_t kLeastEntry = 33;
constexpr std::uint32_t kMaxGgufRank = 4;

struct TypeId {
  std::uint32_t number;
  DType dtype;
};
constexpr std::array kTypes{
    TypeId{0, DType::f32},   TypeId{1, DType::fp16},  TypeId{2, DType::q4_0},
    TypeId{3, DType::q4_1},  TypeId{6, DType::q5_0},  TypeId{7, DType::q5_1},
    TypeId{8, DType::q8_0},  TypeId{10, DType::q2_k}, TypeId{11, DType::q3_k},
    TypeId{12, DType::q4_k}, TypeId{13, DType::q5_k}, TypeId{14, DType::q6_k},
    TypeId{24, DType::i8},   TypeId{25, DType::i16},  TypeId{26, DType::i32},
    TypeId{27, DType::i64},  TypeId{28, DType::f64},  TypeId{30, DType::bf16},
};

// Known, but not read here; empty where no type has the number.
std::string other_type(std::uint32_t number) {
  constexpr std::array<std::pair<std::uint32_t, const char*>, 15> kOthers{{{9, "Q8_1"},
                                                                           {15, "Q8_K"},
                                                                           {16, "IQ2_XXS"},
                                                                           {17, "IQ2_XS"},
                                                                           {18, "IQ3_XXS"},
                                                                           {19, "IQ1_S"},
                                                                           {20, "IQ4_NL"},
                                                                           {21, "IQ3_S"},
                                                                           {22, "IQ2_S"},
                                                                           {23, "IQ4_XS"},
                                                                           {29, "IQ1_M"},
                                                                           {34, "TQ1_0"},
                                                                           {35, "TQ2_0"},
                                                                           {39, "MXFP4"},
                                                                           {40, "NVFP4"}}};
  for (const auto& [id, name] : kOthers)
    if (id == number) return std::string(" (") + name + ")";
  return "";
}

DType read_dtype(ByteReader& reader, const std::string& what) {
  const auto number = reader.number<std::uint32_t>(what);
  for (const TypeId& type : kTypes)
    if (type.number == number) return type.dtype;
  std::string known;
  for (const TypeId& type : kTypes)
    known += (known.empty() ? "" : ", ") + std::string(name(type.dtype));
  reader.fail(what + " has type " + std::to_string(number) + other_type(number) +
              ", which cannot be read; these can: " + known);
}

struct Entry {
  std::string name;
  ModelTensor tensor;
  std::uint64_t offset = 0;
};

// The shape, outermost first.
Dims read_shape(ByteReader& reader, const std::string& what) {
  const auto rank = reader.number<std::uint32_t>(what);
  if (rank < 1 || rank > kMaxGgufRank)
    reader.fail(what + " has " + std::to_string(rank) + " dimensions; 1 to 4 are allowed");
  std::array<std::int64_t, kMaxGgufRank> extents{};
  for (std::uint32_t i = 0; i < rank; ++i) {
    const auto extent = reader.number<std::uint64_t>(what);
    if (extent > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      reader.fail(what + " has an extent of " + std::to_string(extent));
    extents.at(i) = static_cast<std::int64_t>(extent);
  }
  Dims shape;
  for (std::uint32_t i = rank; i-- > 0;) shape.push_back(extents.at(i));
  return shape;
}

Entry read_entry(ByteReader& reader, std::uint64_t index) {
  Entry entry;
  entry.name = read_gguf_text(reader, "the name of tensor " + std::to_string(index));
  const std::string what = "tensor '" + entry.name.substr(0, 100) + "'";
  if (entry.name.empty()) reader.fail("tensor " + std::to_string(index) + " has no name");
  entry.tensor.shape = read_shape(reader, what);
  entry.tensor.dtype = read_dtype(reader, what);
  entry.offset = reader.number<std::uint64_t>(what);
  try {
    const Dims& shape = entry.tensor.shape;
    check_whole_blocks("its shape", entry.tensor.dtype, shape, row_major(shape));
    entry.tensor.bytes = bytes_of(entry.tensor.dtype, num_elements(shape));
  } catch (const Error& error) {
    reader.fail(what + ": " + error.what());
  }
  return entry;
}

void check_overlap(std::vector<Entry>& entries, const ByteReader& reader) {
  std::ranges::sort(entries, {}, &Entry::offset);
  std::uint64_t end = 0;
  const Entry* before = nullptr;
  for (const Entry& entry : entries) {
    if (entry.tensor.bytes == 0) continue;
    if (entry.offset < end)
      reader.fail("tensors '" + before->name + "' and '" + entry.name + "' overlap at offset " +
                  std::to_string(entry.offset));
    end = entry.offset + static_cast<std::uint64_t>(entry.tensor.bytes);
    before = &entry;
  }
}

}  // namespace

TensorTable read_gguf_tensors(ByteReader& reader, std::uint64_t count, std::uint64_t alignment,
                              std::span<const std::byte> bytes, const std::string& file) {
  if (count > reader.left() / kLeastEntry)
    reader.fail("the header counts " + std::to_string(count) + " tensors in " +
                std::to_string(reader.left()) + " bytes");
  std::vector<Entry> entries;
  entries.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) entries.push_back(read_entry(reader, i));
  const std::uint64_t begin = (reader.position() + alignment - 1) / alignment * alignment;
  const std::uint64_t size = begin < bytes.size() ? bytes.size() - begin : 0;
  TensorTable table(file);
  for (Entry& entry : entries) {
    const std::string what = "tensor '" + entry.name + "'";
    if (entry.offset % alignment != 0)
      reader.fail(what + " has offset " + std::to_string(entry.offset) +
                  ", which is no multiple of " + std::to_string(alignment));
    const auto needed = static_cast<std::uint64_t>(entry.tensor.bytes);
    if (entry.offset > size || needed > size - entry.offset)
      reader.fail(what + " has " + std::to_string(needed) + " bytes at offset " +
                  std::to_string(entry.offset) + ", the data has " + std::to_string(size));
    entry.tensor.data = bytes.data() + std::min<std::uint64_t>(begin, bytes.size()) + entry.offset;
    table.add(entry.name, entry.tensor);
  }
  check_overlap(entries, reader);
  return table;
}

}  // namespace rooftile
