// SPDX-License-Identifier: Apache-2.0
// TokenizerData from the files of Hugging Face's tokenizers: tokenizer.json, and beside it
// tokenizer_config.json, which has the chat template and the names of the special tokens.
//
// Read are the models BPE and Unigram, and the steps that language models use:
//   normalizer      Sequence, Prepend, Replace (of a string), NFC
//   pre_tokenizer   Sequence, ByteLevel, Split, Digits, Metaspace
//   post_processor  Sequence, ByteLevel, TemplateProcessing (one token before, one after)
//   decoder         Sequence, ByteLevel, ByteFallback, Fuse, Metaspace, Replace, Strip (one blank)
// Anything else is an error that names it: ids that differ a little are worse than none.
#pragma once

#include <string>
#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/model/tokenizer_data.h"

namespace ROOFTILE_API rooftile {

/// Reads tokenizer.json at `path`, and tokenizer_config.json and chat_template.jinja of its folder
/// where they are. Throws Error(io) for a file that cannot be read or is larger than 256 MiB,
/// Error(bad_input) with the path and the field for what is wrong in it.
TokenizerData load_tokenizer_json(const std::string& path);

/// The same from the files' texts; `config` may be empty.
TokenizerData tokenizer_data_from_json(std::string_view json, std::string_view config = "");

}  // namespace rooftile
