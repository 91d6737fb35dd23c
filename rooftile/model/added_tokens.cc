// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/added_tokens.h"

#include <algorithm>
#include <utility>

#include "rooftile/model/text_pipeline.h"
#include "rooftile/model/utf8.h"

namespace rooftile {
namespace {

std::size_t blanks_after(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size()) {
    const CodePoint point = code_point_at(text, end);
    if (point.status != Utf8::valid || !is_white_space(point.value)) break;
    end += point.size;
  }
  return end;
}

// Where the blanks that end at `end` begin, at `least` or later.
std::size_t blanks_before(std::string_view text, std::size_t least, std::size_t end) {
  while (end > least) {
    std::size_t begin = end - 1;
    while (begin > least && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80) --begin;
    const CodePoint point = code_point_at(text, begin);
    if (point.status != Utf8::valid || begin + point.size != end || !is_white_space(point.value))
      break;
    end = begin;
  }
  return end;
}

// The added tokens; those that the types alone make such where the data lists none.
std::vector<AddedToken> listed(const Vocabulary& vocabulary) {
  const TokenizerData& data = vocabulary.data();
  if (!data.added.empty()) return data.added;
  std::vector<AddedToken> added;
  for (std::size_t i = 0; i < data.types.size(); ++i)
    if (data.types[i] == TokenType::control || data.types[i] == TokenType::user_defined)
      added.push_back({.id = static_cast<std::int32_t>(i)});
  return added;
}

}  // namespace

AddedTokens::AddedTokens(const Vocabulary& vocabulary, AddedTokenChoice choice) {
  std::vector<std::int32_t> ids;
  for (const AddedToken& added : listed(vocabulary)) {
    const bool is_control = vocabulary.type(added.id) == TokenType::control;
    if (added.is_normalised != choice.is_normalised || (is_control && !choice.with_control))
      continue;
    const std::string_view spelt = vocabulary.spelt(added.id);
    contents_.push_back(added.is_normalised ? normalised(spelt, vocabulary.data().normaliser)
                                            : std::string(spelt));
    ids.push_back(added.id);
    if (added.strips_left || added.strips_right) flags_.emplace(added.id, added);
  }
  std::vector<PrefixIndex::Entry> entries;
  for (std::size_t i = 0; i < ids.size(); ++i) entries.push_back({contents_[i], ids[i]});
  index_ = PrefixIndex(std::move(entries));
}

void AddedTokens::split(std::string_view input,
                        FunctionRef<void(std::string_view, std::size_t)> text,
                        FunctionRef<void(std::int32_t)> token) const {
  std::size_t done = 0;
  for (std::size_t at = 0; at < input.size() && !index_.empty();) {
    const PrefixIndex::Entry* found = index_.longest_prefix(input.substr(at));
    if (found == nullptr) {
      ++at;
      continue;
    }
    std::size_t begin = at;
    std::size_t end = at + found->text.size();
    if (const auto flags = flags_.find(found->id); flags != flags_.end()) {
      if (flags->second.strips_left) begin = blanks_before(input, done, begin);
      if (flags->second.strips_right) end = blanks_after(input, end);
    }
    if (begin > done) text(input.substr(done, begin - done), done);
    token(found->id);
    at = done = end;
  }
  if (done < input.size()) text(input.substr(done), done);
}

}  // namespace rooftile
