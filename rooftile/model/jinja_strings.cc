// SPDX-License-Identifier: Apache-2.0
// Methods of str, list, dict and loop.
#include <algorithm>

#include "rooftile/base/error.h"
#include "rooftile/model/jinja_library.h"
#include "rooftile/model/utf8.h"

namespace rooftile::jinja {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) {
  return is_upper(c) || is_lower(c) || static_cast<unsigned char>(c) >= 0x80;
}
char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - 32) : c; }
char to_lower(char c) { return is_upper(c) ? static_cast<char>(c + 32) : c; }

// What Python's str.strip() takes: White_Space, and four separators of ASCII.
bool is_strippable(char32_t c) { return is_white_space(c) || (c >= 0x1C && c <= 0x1F); }

bool is_in(std::string_view characters, std::string_view character, char32_t value) {
  if (characters.empty()) return is_strippable(value);
  return characters.find(character) != std::string_view::npos;
}

// Pieces between `separator`s; from the right when there are more than `most` of them.
std::vector<std::string> split_at(std::string_view text, std::string_view separator,
                                  std::int64_t most, bool from_right) {
  std::vector<std::string> pieces;
  while (most < 0 || static_cast<std::int64_t>(pieces.size()) < most) {
    const std::size_t at = from_right ? text.rfind(separator) : text.find(separator);
    if (at == std::string_view::npos) break;
    const std::string_view after = text.substr(at + separator.size());
    pieces.emplace_back(from_right ? after : text.substr(0, at));
    text = from_right ? text.substr(0, at) : after;
  }
  pieces.emplace_back(text);
  if (from_right) std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

// Words between runs of blanks; the rest of the text comes last after `most` splits.
std::vector<std::string> split_at_blanks(std::string_view text, std::int64_t most) {
  std::vector<std::string> words;
  text = stripped(text, "", Side::left);
  while (!text.empty()) {
    std::size_t end = 0;
    const bool is_last = most >= 0 && static_cast<std::int64_t>(words.size()) == most;
    while (end < text.size() && (is_last || !is_strippable(code_point_at(text, end).value)))
      end += code_point_at(text, end).size;
    words.emplace_back(text.substr(0, end));
    text = stripped(text.substr(end), "", Side::left);
  }
  return words;
}

Value split(Evaluator& evaluator, const std::string& text, const Args& args, bool from_right) {
  evaluator.check_args(args, 2, {"sep", "maxsplit"});
  evaluator.budget().spend(1 + text.size());
  const Value* separator = args.find(0, "sep");
  const Value* limit = args.find(1, "maxsplit");
  const std::int64_t most = limit != nullptr ? evaluator.integer(*limit, "maxsplit") : -1;
  std::vector<std::string> pieces;
  if (separator == nullptr || separator->is_none()) {
    if (from_right && most >= 0) evaluator.fail_unsupported_here("rsplit() at blanks with a limit");
    pieces = split_at_blanks(text, most);
  } else {
    const std::string& at = evaluator.string(*separator, "the separator");
    if (at.empty()) evaluator.fail("split() at an empty separator");
    pieces = split_at(text, at, most, from_right);
  }
  std::vector<Value> values;
  for (std::string& piece : pieces) values.push_back(evaluator.new_text(std::move(piece)));
  return Value::list(std::move(values));
}

bool starts_or_ends(Evaluator& evaluator, const std::string& text, const Args& args,
                    bool at_start) {
  evaluator.check_args(args, 1, {});
  if (args.positional.empty()) evaluator.fail("startswith() or endswith() without an argument");
  const auto matches = [&](const Value& value) {
    const std::string& part = evaluator.string(value, "what a str begins or ends with");
    return at_start ? text.starts_with(part) : text.ends_with(part);
  };
  const Value& what = args.positional[0];
  if (const List* list = what.list())
    return std::any_of(list->items.begin(), list->items.end(), matches);
  return matches(what);
}

Value strip(Evaluator& evaluator, const std::string& text, const Args& args, Side side) {
  evaluator.check_args(args, 1, {});
  const bool has_set = !args.positional.empty() && !args.positional[0].is_none();
  const std::string set = has_set ? evaluator.string(args.positional[0], "the characters") : "";
  if (has_set && set.empty()) return evaluator.new_text(text);
  return evaluator.new_text(std::string(stripped(text, set, side)));
}

Value find(Evaluator& evaluator, const std::string& text, const Args& args) {
  evaluator.check_args(args, 1, {});
  if (args.positional.empty()) evaluator.fail("find() without an argument");
  const std::size_t at = text.find(evaluator.string(args.positional[0], "what is looked for"));
  if (at == std::string::npos) return Value::integer(-1);
  return Value::integer(length_of(evaluator, Value::text(text.substr(0, at))));
}

std::int64_t count(Evaluator& evaluator, const std::string& text, const Args& args) {
  evaluator.check_args(args, 1, {});
  if (args.positional.empty()) evaluator.fail("count() without an argument");
  const std::string& what = evaluator.string(args.positional[0], "what is counted");
  if (what.empty()) return length_of(evaluator, Value::text(text)) + 1;
  return static_cast<std::int64_t>(split_at(text, what, -1, false).size()) - 1;
}

Value join(Evaluator& evaluator, const std::string& separator, const Args& args) {
  evaluator.check_args(args, 1, {});
  if (args.positional.empty()) evaluator.fail("join() without an argument");
  std::string out;
  bool is_first = true;
  for (const Value& item : evaluator.items_of(args.positional[0])) {
    if (!std::exchange(is_first, false)) out += separator;
    out += evaluator.string(item, "an item of join()");
    evaluator.budget().spend(1 + separator.size() / 8);
  }
  return evaluator.new_text(std::move(out));
}

bool is_made_of(std::string_view text, bool (*holds)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), holds);
}

Value replace(Evaluator& evaluator, const std::string& text, const Args& args) {
  evaluator.check_args(args, 3, {"count"});
  if (args.positional.size() < 2) evaluator.fail("replace() takes what and by what");
  const Value* most = args.find(2, "count");
  return evaluator.new_text(replaced(evaluator, text,
                                     evaluator.string(args.positional[0], "what is replaced"),
                                     evaluator.string(args.positional[1], "the replacement"),
                                     most != nullptr ? evaluator.integer(*most, "count") : -1));
}

Value of_text(Evaluator& evaluator, std::string_view name, const std::string& text,
              const Args& args) {
  evaluator.budget().spend(1 + text.size() / 8);
  if (name == "strip") return strip(evaluator, text, args, Side::both);
  if (name == "lstrip") return strip(evaluator, text, args, Side::left);
  if (name == "rstrip") return strip(evaluator, text, args, Side::right);
  if (name == "split") return split(evaluator, text, args, false);
  if (name == "rsplit") return split(evaluator, text, args, true);
  if (name == "startswith") return Value::boolean(starts_or_ends(evaluator, text, args, true));
  if (name == "endswith") return Value::boolean(starts_or_ends(evaluator, text, args, false));
  if (name == "replace") return replace(evaluator, text, args);
  if (name == "join") return join(evaluator, text, args);
  if (name == "find") return find(evaluator, text, args);
  if (name == "count") return Value::integer(count(evaluator, text, args));
  evaluator.check_args(args, 0, {});
  if (name == "upper") return evaluator.new_text(upper(text));
  if (name == "lower") return evaluator.new_text(lower(text));
  if (name == "title") return evaluator.new_text(title(text));
  if (name == "capitalize") return evaluator.new_text(capitalised(text));
  if (name == "isdigit")
    return Value::boolean(is_made_of(text, [](char c) { return c >= '0' && c <= '9'; }));
  if (name == "isspace")
    return Value::boolean(!text.empty() && stripped(text, "", Side::both).empty());
  evaluator.fail_unsupported_here("the method " + std::string(name) + "() of str");
}

Value of_dict(Evaluator& evaluator, std::string_view name, const Dict& dict, const Args& args) {
  if (name == "get") {
    evaluator.check_args(args, 2, {});
    if (args.positional.empty()) evaluator.fail("get() without a key");
    const std::string* key = args.positional[0].text();
    const Value* found = key != nullptr ? dict.find(*key) : nullptr;
    if (found != nullptr) return *found;
    return args.positional.size() > 1 ? args.positional[1] : Value::none();
  }
  if (name == "cycle" && dict.find("index0") != nullptr) {  // of the variable loop
    if (args.positional.empty()) evaluator.fail("cycle() without arguments");
    const auto round =
        static_cast<std::size_t>(evaluator.integer(*dict.find("index0"), "loop.index0"));
    return args.positional[round % args.positional.size()];
  }
  evaluator.check_args(args, 0, {});
  std::vector<Value> list;
  for (const auto& [key, value] : dict.items) {
    if (name == "items")
      list.push_back(Value::list({evaluator.new_text(key), value}, true));
    else
      list.push_back(name == "keys" ? evaluator.new_text(key) : value);
  }
  if (name == "items" || name == "keys" || name == "values") return Value::list(std::move(list));
  evaluator.fail_unsupported_here("the method " + std::string(name) + "() of dict");
}

}  // namespace

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_upper);
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower);
  return out;
}

std::string capitalised(std::string_view text) {
  std::string out = lower(text);
  if (!out.empty()) out[0] = to_upper(out[0]);
  return out;
}

std::string title(std::string_view text) {
  std::string out = lower(text);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (i == 0 || !is_letter(out[i - 1])) out[i] = to_upper(out[i]);
  return out;
}

std::string_view stripped(std::string_view text, std::string_view characters, Side side) {
  while (side != Side::right && !text.empty()) {
    const CodePoint point = code_point_at(text, 0);
    if (!is_in(characters, text.substr(0, point.size), point.value)) break;
    text.remove_prefix(point.size);
  }
  while (side != Side::left && !text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80) --begin;
    if (!is_in(characters, text.substr(begin), code_point_at(text, begin).value)) break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string replaced(Evaluator& evaluator, std::string_view text, std::string_view from,
                     std::string_view to, std::int64_t most) {
  std::string out;
  std::size_t at = 0;
  for (std::int64_t done = 0; (most < 0 || done < most) && at <= text.size(); ++done) {
    evaluator.budget().spend(1 + to.size() / 8);
    std::size_t found = text.find(from, at);
    if (found == std::string_view::npos) break;
    out += text.substr(at, found - at);
    out += to;
    at = found + from.size();
    if (from.empty() && at < text.size()) {  // an empty text is between all characters
      const std::size_t size = code_point_at(text, at).size;
      out += text.substr(at, size);
      at += size;
    } else if (from.empty()) {
      return out;
    }
  }
  return out + std::string(text.substr(std::min(at, text.size())));
}

Value call_method(Evaluator& evaluator, std::string_view name, const Value& value,
                  const Args& args) {
  if (const std::string* text = value.text()) return of_text(evaluator, name, *text, args);
  if (const Dict* dict = value.dict()) return of_dict(evaluator, name, *dict, args);
  evaluator.fail_unsupported_here("the method " + std::string(name) + "() of " +
                                  std::string(value.type_name()));
}

}  // namespace rooftile::jinja
