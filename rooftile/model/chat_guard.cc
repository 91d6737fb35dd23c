// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/chat_guard.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/function_ref.h"
#include "rooftile/model/utf8.h"

namespace rooftile {
namespace {

constexpr char32_t kFirstMark = 0xFDD0;
constexpr char32_t kLastMark = 0xFDEF;

// Whether `holds` for a text within `value`.
bool any_text(const jinja::Value& value, FunctionRef<bool(const std::string&)> holds) {
  if (const std::string* text = value.text()) return holds(*text);
  if (const jinja::List* list = value.list())
    return std::ranges::any_of(list->items,
                               [&](const jinja::Value& item) { return any_text(item, holds); });
  if (const jinja::Dict* dict = value.dict())
    return std::ranges::any_of(dict->items, [&](const auto& item) {
      return holds(item.first) || any_text(item.second, holds);
    });
  return false;
}

PrefixIndex index_of(std::span<const std::string> tokens) {
  std::vector<PrefixIndex::Entry> entries;
  for (const std::string& token : tokens) entries.push_back({token, 0});
  return PrefixIndex(std::move(entries));
}

}  // namespace

ChatGuard::ChatGuard(std::span<const std::string> control_tokens)
    : tokens_(control_tokens), index_(index_of(control_tokens)) {}

// Whether a control token stands at the start of `text`, or the whole text is the start of one.
bool ChatGuard::begins_token(std::string_view text) const {
  if (index_.longest_prefix(text) != nullptr) return true;
  return text.size() < index_.longest() &&
         std::ranges::any_of(tokens_, [&](const auto& token) { return token.starts_with(text); });
}

bool ChatGuard::is_needed(const jinja::Value& value) const {
  return any_text(value, [&](const std::string& text) {
    for (std::size_t at = 0; at < text.size(); ++at)
      if (begins_token(std::string_view(text).substr(at))) return true;
    return false;
  });
}

std::string ChatGuard::marked_text(std::string_view text, std::string_view mark) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = code_point_at(text, at).size;
    out += text.substr(at, size);
    if (begins_token(text.substr(at))) out += mark;
    at += size;
  }
  return out;
}

jinja::Value ChatGuard::marked(const jinja::Value& value, std::string_view mark) const {
  if (const std::string* text = value.text()) return jinja::Value::text(marked_text(*text, mark));
  if (const jinja::List* list = value.list()) {
    std::vector<jinja::Value> items;
    for (const jinja::Value& item : list->items) items.push_back(marked(item, mark));
    return jinja::Value::list(std::move(items), list->is_tuple);
  }
  if (const jinja::Dict* dict = value.dict()) {
    std::vector<std::pair<std::string, jinja::Value>> items;
    for (const auto& [name, item] : dict->items)
      items.emplace_back(marked_text(name, mark), marked(item, mark));
    return jinja::Value::dict(std::move(items));
  }
  return value;
}

std::string ChatGuard::new_mark(std::string_view source, std::span<const jinja::Value> values) {
  for (char32_t c = kFirstMark; c <= kLastMark; ++c) {
    std::string mark;
    append_utf8(mark, c);
    const std::string spelt = escaped(mark);
    const auto has_mark = [&](std::string_view text) {
      return text.find(mark) != std::string_view::npos ||
             text.find(spelt) != std::string_view::npos;
    };
    if (has_mark(source)) continue;
    if (std::ranges::none_of(values, [&](const auto& value) { return any_text(value, has_mark); }))
      return mark;
  }
  fail_input(
      "a conversation that holds control tokens may not have all of the characters U+FDD0 to "
      "U+FDEF, one of which marks what is no control token");
}

std::string ChatGuard::escaped(std::string_view mark) {
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(code_point_at(mark, 0).value));
  return text;
}

}  // namespace rooftile
