// SPDX-License-Identifier: Apache-2.0
// Many short texts by number, one after the other in a single piece of memory: a vocabulary as
// std::strings takes several times its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/error.h"

namespace rooftile {

class TextTable {
 public:
  void reserve(std::size_t texts) { ends_.reserve(texts); }

  /// Texts that operator[] gave before may have moved. Throws Error(bad_input) beyond 4 GiB.
  void append(std::string_view text) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max() - bytes_.size())
      fail_input("tokenizer: the texts of its tokens exceed 4 GiB");
    bytes_ += text;
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
  void shrink_to_fit() { bytes_.shrink_to_fit(); }

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(bytes_).substr(begin, ends_[index] - begin);
  }

 private:
  std::string bytes_{};
  std::vector<std::uint32_t> ends_{};
};

}  // namespace rooftile
