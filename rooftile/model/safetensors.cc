// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/safetensors.h"

#include <algorithm>
#include <array>
#include <limits>

#include "rooftile/model/byte_reader.h"
#include "rooftile/model/safetensors_header.h"

namespace rooftile {
namespace {

constexpr std::uint64_t kMostHeader = 100'000'000;  // the format's own limit

struct TypeName {
  const char* name;
  DType dtype;
};
constexpr std::array kTypes{
    TypeName{"F64", DType::f64},      TypeName{"F32", DType::f32},
    TypeName{"F16", DType::fp16},     TypeName{"BF16", DType::bf16},
    TypeName{"F8_E4M3", DType::e4m3}, TypeName{"F8_E5M2", DType::e5m2},
    TypeName{"I64", DType::i64},      TypeName{"I32", DType::i32},
    TypeName{"I16", DType::i16},      TypeName{"I8", DType::i8},
    TypeName{"U8", DType::u8},        TypeName{"BOOL", DType::u8},
};

DType dtype_of(const SafetensorsEntry& entry, const std::string& where) {
  std::string known;
  for (const TypeName& type : kTypes) {
    if (entry.dtype == type.name) return type.dtype;
    known += (known.empty() ? "" : ", ") + std::string(type.name);
  }
  fail_input(where + "dtype '" + entry.dtype + "' cannot be read; these can: " + known);
}

// Checks all of an entry but its neighbours.
ModelTensor tensor_of(const SafetensorsEntry& entry, std::span<const std::byte> data,
                      const std::string& where) {
  if (entry.offsets.size() != 2) fail_input(where + "needs two data_offsets");
  const std::uint64_t begin = entry.offsets[0], end = entry.offsets[1];
  const std::string range = "[" + std::to_string(begin) + ", " + std::to_string(end) + "]";
  if (begin > end || end > data.size())
    fail_input(where + "data_offsets " + range + " do not fit " + std::to_string(data.size()) +
               " bytes of data");
  ModelTensor tensor{.dtype = dtype_of(entry, where)};
  for (const std::uint64_t extent : entry.shape) {
    if (extent > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      fail_input(where + "an extent of " + std::to_string(extent));
    tensor.shape.push_back(static_cast<std::int64_t>(extent));
  }
  try {
    tensor.bytes = bytes_of(tensor.dtype, num_elements(tensor.shape));
  } catch (const Error& error) {
    fail_input(where + error.what());
  }
  if (static_cast<std::uint64_t>(tensor.bytes) != end - begin)
    fail_input(where + "its shape needs " + std::to_string(tensor.bytes) + " bytes, data_offsets " +
               range + " give " + std::to_string(end - begin));
  tensor.data = data.data() + begin;
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  if (address % static_cast<std::uintptr_t>(info(tensor.dtype).unit_bytes) != 0)
    fail_input(where +
               "its data is not aligned to its elements: write the file again with a header "
               "padded to 8 bytes");
  return tensor;
}

// Every byte must belong to exactly one tensor.
void check_coverage(std::vector<SafetensorsEntry>& entries, std::uint64_t size,
                    const std::string& file) {
  std::ranges::sort(entries, {}, [](const SafetensorsEntry& entry) { return entry.offsets; });
  std::uint64_t end = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.offsets[0] != end)
      fail_input(file + ": tensor '" + entry.name + "' begins at " +
                 std::to_string(entry.offsets[0]) + ", the one before it ends at " +
                 std::to_string(end));
    end = entry.offsets[1];
  }
  if (end != size)
    fail_input(file + ": the tensors end at byte " + std::to_string(end) + " of " +
               std::to_string(size) + " bytes of data");
}

}  // namespace

void parse_safetensors(std::span<const std::byte> bytes, const std::string& name,
                       TensorTable& table) {
  ByteReader reader(bytes, name);
  const auto length = reader.number<std::uint64_t>("the size of the header");
  if (length > kMostHeader)
    reader.fail("the header has " + std::to_string(length) + " bytes; 10^8 are allowed");
  const auto header = reader.take(length, "the header");
  const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
  if (text.empty() || text[0] != '{') reader.fail("the header does not begin with '{'");
  std::vector<SafetensorsEntry> entries = read_safetensors_header(text, name);
  const auto data = reader.take(reader.left(), "the data");
  for (const SafetensorsEntry& entry : entries)
    table.add(entry.name, tensor_of(entry, data, name + ": tensor '" + entry.name + "': "));
  check_coverage(entries, data.size(), name);
}

}  // namespace rooftile
