// SPDX-License-Identifier: Apache-2.0
// What happens to text before a model sees it: the normaliser changes it, the splitter cuts it into
// words. Both are lists of steps from a tokenizer's data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/function_ref.h"
#include "rooftile/model/pattern.h"
#include "rooftile/model/tokenizer_data.h"

namespace rooftile {

/// `text` after all steps, in order. An empty text stays empty. Bytes that are no UTF-8 pass
/// through.
std::string normalised(std::string_view text, const std::vector<NormaliseStep>& steps);

class Splitter {
 public:
  /// Compiles the patterns. Throws Error(bad_input) as Pattern does.
  explicit Splitter(const std::vector<SplitStep>& steps);

  /// Calls `word` for each word of `text`, in order. `is_at_start`: nothing stands before the text.
  void each_word(std::string_view text, bool is_at_start,
                 FunctionRef<void(std::string_view)> word) const;

 private:
  struct Step {
    SplitStep step;
    std::vector<Pattern> pattern;  // one for a regex, else none
  };
  std::vector<Step> steps_{};
};

/// The steps of the pre-tokenizer that GGUF calls `name` (tokenizer.ggml.pre). Throws
/// Error(bad_input) with near misses for a name that is not known.
std::vector<SplitStep> splitter_named(std::string_view name);

/// GPT-2's pattern, which ByteLevel of tokenizer.json uses.
extern const char* const kGpt2Pattern;

}  // namespace rooftile
