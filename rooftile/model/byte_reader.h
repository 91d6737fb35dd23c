// SPDX-License-Identifier: Apache-2.0
// Reads a file's bytes from front to back and never past their end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rooftile/base/error.h"

namespace rooftile {

static_assert(std::endian::native == std::endian::little, "model files are read as they lie");

class ByteReader {
 public:
  /// `name` stands in errors. The caller keeps the bytes alive.
  ByteReader(std::span<const std::byte> bytes, std::string name)
      : bytes_(bytes), name_(std::move(name)) {}

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t left() const { return bytes_.size() - position_; }

  /// Throws Error(bad_input): "NAME: MESSAGE (byte N)".
  [[noreturn]] void fail(const std::string& message) const {
    fail_input(name_ + ": " + message + " (byte " + std::to_string(position_) + ")");
  }

  /// The next `count` bytes; `what` they are stands in the error.
  std::span<const std::byte> take(std::uint64_t count, std::string_view what) {
    if (count > left())
      fail(std::string(what) + " needs " + std::to_string(count) + " bytes, " +
           std::to_string(left()) + " are left");
    const auto taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }

  template <class T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
  std::size_t position_ = 0;
};

}  // namespace rooftile
