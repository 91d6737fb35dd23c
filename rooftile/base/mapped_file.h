// SPDX-License-Identifier: Apache-2.0
// A file as read-only memory: pages come from the disk when they are touched.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// The file must not shrink while it is mapped: reading a page that is gone ends the program, as
/// with every mapped file.
class MappedFile {
 public:
  /// Throws Error(io), naming the file, when it is missing, empty, not a regular file or
  /// unreadable.
  explicit MappedFile(std::string path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
};

/// Lets the whole pages within `bytes` of a mapped file go from memory: they come from the disk
/// again when they are touched. For what has been copied elsewhere. Never for other memory.
void let_go(std::span<const std::byte> bytes);

}  // namespace rooftile
