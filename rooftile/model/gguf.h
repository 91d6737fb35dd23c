// SPDX-License-Identifier: Apache-2.0
// GGUF model files, versions 2 and 3, little-endian, as ggml's docs/gguf.md describes them:
//
//   "GGUF" | version u32 | tensors u64 | entries u64
//   entries:  key | type u32 | value                     see gguf_metadata.h
//   tensors:  name | rank u32 | extents u64, innermost first | type u32 | offset u64
//   padding to general.alignment (32 unless told) | data; offsets count from here
//
// Files are untrusted: every size, offset, count and product is checked before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rooftile/base/api.h"
#include "rooftile/base/mapped_file.h"
#include "rooftile/model/gguf_metadata.h"
#include "rooftile/model/tensor_table.h"

namespace ROOFTILE_API rooftile {

/// What stands in a file; texts and tensors point into its bytes.
struct GgufContent {
  std::uint32_t version = 0;
  GgufMetadata metadata;
  TensorTable tensors;  // shapes outermost first, that is, GGUF's reversed
};

/// Reads the header of `bytes`, which the caller keeps alive; `name` stands in errors.
/// Throws Error(bad_input) that names the file, the tensor or key, and the byte.
GgufContent parse_gguf(std::span<const std::byte> bytes, const std::string& name);

/// A mapped file and its content.
class GgufFile {
 public:
  /// Throws Error(io) when the file cannot be read, Error(bad_input) when it is no valid GGUF file.
  static GgufFile open(const std::string& path);

  [[nodiscard]] const GgufMetadata& metadata() const { return content_.metadata; }
  [[nodiscard]] const TensorTable& tensors() const { return content_.tensors; }
  [[nodiscard]] const GgufContent& content() const { return content_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return file_.bytes(); }

 private:
  GgufFile(MappedFile file, GgufContent content)
      : file_(std::move(file)), content_(std::move(content)) {}

  MappedFile file_;
  GgufContent content_;
};

}  // namespace rooftile
