// SPDX-License-Identifier: Apache-2.0
// The tensor table of a GGUF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rooftile/model/byte_reader.h"
#include "rooftile/model/tensor_table.h"

namespace rooftile {

/// Reads `count` entries at the reader's place and checks that each tensor lies within `bytes`, at
/// a multiple of `alignment` of the data section, and overlaps no other. Throws Error(bad_input).
TensorTable read_gguf_tensors(ByteReader& reader, std::uint64_t count, std::uint64_t alignment,
                              std::span<const std::byte> bytes, const std::string& file);

}  // namespace rooftile
