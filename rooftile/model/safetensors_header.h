// SPDX-License-Identifier: Apache-2.0
// The JSON header of a safetensors file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rooftile {

struct SafetensorsEntry {
  std::string name{};
  std::string dtype{};
  std::vector<std::uint64_t> shape{};
  std::vector<std::uint64_t> offsets{};
};

/// The tensors in the order written. Reads event by event, so that a hostile header costs no more
/// memory than its tensors. Throws Error(bad_input), with `file`, where the text is not of the
/// format's shape or has a name twice.
std::vector<SafetensorsEntry> read_safetensors_header(std::string_view text,
                                                      const std::string& file);

}  // namespace rooftile
