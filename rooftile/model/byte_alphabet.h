// SPDX-License-Identifier: Apache-2.0
// GPT-2's alphabet: 256 printable characters, one a byte, in which byte-level vocabularies are
// spelt. Printable Latin-1 bytes stand for themselves; the other 68 are U+0100 and up, in order
// (Radford et al., "Language models are unsupervised multitask learners", 2019, bytes_to_unicode).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rooftile {

/// The bytes spelt by `token`; nothing when it has a character that is not of the alphabet.
std::optional<std::string> bytes_from_alphabet(std::string_view token);

/// The spelling of `bytes`.
std::string alphabet_from_bytes(std::string_view bytes);

}  // namespace rooftile
