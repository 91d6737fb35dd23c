// SPDX-License-Identifier: Apache-2.0
// Safetensors files, one or several with an index, as the format's README describes them:
//
//   header size u64 | header, JSON | data
//   {"NAME": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [begin, end]}, …}
//
// Offsets count from the start of the data; every byte of it belongs to exactly one tensor. Files
// are untrusted: every size, offset and product is checked before it is used.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/base/mapped_file.h"
#include "rooftile/model/tensor_table.h"

namespace ROOFTILE_API rooftile {

/// Adds the tensors of a file to `table`; they point into `bytes`, which the caller keeps alive.
/// F64 F32 F16 BF16 F8_E4M3 F8_E5M2 I64 I32 I16 I8 U8 and BOOL (as u8) can be read. `name` stands
/// in errors. Throws Error(bad_input) that names the file and the tensor.
void parse_safetensors(std::span<const std::byte> bytes, const std::string& name,
                       TensorTable& table);

/// The files that an index (model.safetensors.index.json) names, sorted, and for each tensor the
/// one that should hold it. Throws Error(bad_input) for names that leave the index's folder.
struct SafetensorsIndex {
  std::vector<std::string> shards;
  std::vector<std::pair<std::string, std::string>> shard_of;  // tensor, shard
};
SafetensorsIndex parse_safetensors_index(std::string_view text, const std::string& name);

/// Mapped files and their tensors.
class SafetensorsModel {
 public:
  /// `path`: a .safetensors file, an index ending in .json, or a folder that holds
  /// model.safetensors.index.json or model.safetensors. Throws Error(io) when a file cannot be
  /// read, Error(bad_input) when one is invalid or lacks a tensor that the index promises.
  static SafetensorsModel open(const std::string& path);

  [[nodiscard]] const TensorTable& tensors() const { return tensors_; }

 private:
  SafetensorsModel() = default;
  void add_file(const std::string& path);
  void add_index(const std::string& path);

  std::vector<MappedFile> files_;
  TensorTable tensors_;
};

}  // namespace rooftile
