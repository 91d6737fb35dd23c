// SPDX-License-Identifier: Apache-2.0
// The last step of encoding: one word, as the splitter made it, becomes ids.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "rooftile/model/vocabulary.h"

namespace rooftile {

class TextModel {
 public:
  virtual ~TextModel() = default;
  /// Appends the ids of `word`. Thread-safe.
  virtual void encode(std::vector<std::int32_t>& ids, std::string_view word) const = 0;
};

/// Byte-pair encoding (Sennrich, Haddow and Birch 2016), for byte_level_bpe and piece_bpe. The
/// vocabulary must outlive the model, here and below. Throws Error(bad_input) for a merge of, or
/// into, something that is no token.
std::unique_ptr<TextModel> make_bpe(const Vocabulary& vocabulary);

/// The most probable segmentation under a unigram model (Kudo 2018).
std::unique_ptr<TextModel> make_unigram(const Vocabulary& vocabulary);

}  // namespace rooftile
