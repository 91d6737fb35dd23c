// SPDX-License-Identifier: Apache-2.0
// Tokens that are looked for in the text itself, before it is split into words: leftmost first, the
// longest where several begin at one place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rooftile/base/function_ref.h"
#include "rooftile/model/prefix_index.h"
#include "rooftile/model/vocabulary.h"

namespace rooftile {

/// Which of the added tokens a finder looks for.
struct AddedTokenChoice {
  bool with_control;   // control tokens too, or user-defined ones only
  bool is_normalised;  // those looked for after normalisation, or those before
};

class AddedTokens {
 public:
  AddedTokens(const Vocabulary& vocabulary, AddedTokenChoice choice);

  /// Calls `text` for each stretch between tokens that is not empty, with the byte where it begins,
  /// and `token` for each token found, in order.
  void split(std::string_view input, FunctionRef<void(std::string_view, std::size_t)> text,
             FunctionRef<void(std::int32_t)> token) const;

 private:
  std::vector<std::string> contents_{};  // what index_ refers to
  PrefixIndex index_{};
  std::unordered_map<std::int32_t, AddedToken> flags_{};  // of those that take blanks along
};

}  // namespace rooftile
