// SPDX-License-Identifier: Apache-2.0
// A text in a GGUF file: a length of 8 bytes, then the bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "rooftile/model/byte_reader.h"

namespace rooftile {

/// The next text, in place. Throws Error(bad_input) where it does not fit the file.
inline std::string_view read_gguf_text(ByteReader& reader, std::string_view what) {
  const auto length = reader.number<std::uint64_t>(what);
  const auto bytes = reader.take(length, what);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace rooftile
