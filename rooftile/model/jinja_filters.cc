// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/model/jinja_library.h"
#include "rooftile/model/utf8.h"

namespace rooftile::jinja {
namespace {

// The member at "a.b" of `value`, as attribute= names it.
Value at_path(Evaluator& evaluator, Value value, const Value& path) {
  if (path.text() == nullptr) return evaluator.member(value, path);
  for (const std::string& name : split(*path.text(), '.')) {
    const auto index = parse_int(name);
    value = evaluator.member(value, index ? Value::integer(*index) : Value::text(name));
  }
  return value;
}

Value trim(Evaluator& evaluator, const Value& value, const Args& args) {
  evaluator.check_args(args, 1, {"chars"});
  const Value* set = args.find(0, "chars");
  return evaluator.new_text(std::string(stripped(
      evaluator.text(value), set != nullptr ? evaluator.string(*set, "chars") : "", Side::both)));
}

Value default_value(Evaluator& evaluator, const Value& value, const Args& args) {
  evaluator.check_args(args, 2, {"default_value", "boolean"});
  const Value* otherwise = args.find(0, "default_value");
  const Value* also_false = args.find(1, "boolean");
  const bool is_missing =
      value.is_undefined() || (also_false != nullptr && also_false->is_true() && !value.is_true());
  if (!is_missing) return value;
  return otherwise != nullptr ? *otherwise : Value::text("");
}

Value join(Evaluator& evaluator, const Value& value, const Args& args) {
  evaluator.check_args(args, 2, {"d", "attribute"});
  const Value* separator = args.find(0, "d");
  const Value* attribute = args.find(1, "attribute");
  std::string out;
  bool is_first = true;
  for (const Value& item : evaluator.items_of(value)) {
    if (!std::exchange(is_first, false) && separator != nullptr) out += evaluator.text(*separator);
    out += evaluator.text(attribute != nullptr ? at_path(evaluator, item, *attribute) : item);
  }
  return evaluator.new_text(std::move(out));
}

Value tojson(Evaluator& evaluator, const Value& value, const Args& args) {
  evaluator.check_args(args, 4, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  const Value* is_ascii = args.find(0, "ensure_ascii");
  const Value* indent = args.find(1, "indent");
  const Value* separators = args.find(2, "separators");
  const Value* is_sorted = args.find(3, "sort_keys");
  if (is_ascii != nullptr) style.is_ascii = is_ascii->is_true();
  if (is_sorted != nullptr) style.is_sorted = is_sorted->is_true();
  if (indent != nullptr && !indent->is_none()) {
    style.indent =
        static_cast<int>(std::clamp<std::int64_t>(evaluator.integer(*indent, "indent"), 0, 16));
    style.item_separator = ",";
  }
  if (separators != nullptr && !separators->is_none()) {
    const std::vector<Value> pair = evaluator.items_of(*separators);
    if (pair.size() != 2) evaluator.fail("separators: two of them are needed");
    style.item_separator = evaluator.string(pair[0], "separators");
    style.key_separator = evaluator.string(pair[1], "separators");
  }
  return evaluator.new_text(to_json(value, style, evaluator.budget()));
}

// select, reject, selectattr, rejectattr: the items for which a test holds, or does not.
Value select(Evaluator& evaluator, const Value& value, const Args& args, bool wanted,
             bool by_attribute) {
  const std::size_t first = by_attribute ? 1 : 0;
  if (args.positional.size() < first) evaluator.fail("the name of an attribute is missing");
  Args rest{.named = args.named};
  for (std::size_t i = first + 1; i < args.positional.size(); ++i)
    rest.positional.push_back(args.positional[i]);
  std::vector<Value> kept;
  for (const Value& item : evaluator.items_of(value)) {
    const Value tested = by_attribute ? at_path(evaluator, item, args.positional[0]) : item;
    const bool holds =
        args.positional.size() > first
            ? apply_test(evaluator, evaluator.string(args.positional[first], "a test's name"),
                         tested, rest)
            : tested.is_true();
    if (holds == wanted) kept.push_back(item);
  }
  return Value::list(std::move(kept));
}

Value map(Evaluator& evaluator, const Value& value, const Args& args) {
  const Value* attribute = args.positional.empty() ? args.find(0, "attribute") : nullptr;
  const Value* otherwise = attribute != nullptr ? args.find(1, "default") : nullptr;
  if (attribute == nullptr && args.positional.empty())
    evaluator.fail("map() takes the name of a filter, or attribute=");
  std::vector<Value> mapped;
  Args rest{.named = args.named};
  for (std::size_t i = 1; i < args.positional.size(); ++i)
    rest.positional.push_back(args.positional[i]);
  for (const Value& item : evaluator.items_of(value)) {
    if (attribute != nullptr) {
      const Value found = at_path(evaluator, item, *attribute);
      mapped.push_back(found.is_undefined() && otherwise != nullptr ? *otherwise : found);
    } else {
      const std::string& filter = evaluator.string(args.positional[0], "a filter's name");
      mapped.push_back(apply_filter(evaluator, filter, item, rest));
    }
  }
  return Value::list(std::move(mapped));
}

// What sorting compares: the attribute, without case unless asked for.
Value sort_key(Evaluator& evaluator, const Value& item, const Value* attribute, bool with_case) {
  Value key = attribute != nullptr ? at_path(evaluator, item, *attribute) : item;
  return key.text() != nullptr && !with_case ? evaluator.new_text(lower(*key.text())) : key;
}

Value sort(Evaluator& evaluator, const Value& value, const Args& args) {
  evaluator.check_args(args, 3, {"reverse", "case_sensitive", "attribute"});
  const Value* is_reversed = args.find(0, "reverse");
  const Value* with_case = args.find(1, "case_sensitive");
  const Value* attribute = args.find(2, "attribute");
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : evaluator.items_of(value))
    keyed.emplace_back(
        sort_key(evaluator, item, attribute, with_case != nullptr && with_case->is_true()), item);
  const bool reverse = is_reversed != nullptr && is_reversed->is_true();
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    const int order = compare(a.first, b.first, evaluator.budget());
    return reverse ? order > 0 : order < 0;
  });
  std::vector<Value> sorted;
  for (auto& [key, item] : keyed) sorted.push_back(std::move(item));
  return Value::list(std::move(sorted));
}

Value dictsort(Evaluator& evaluator, const Value& value, const Args& args) {
  evaluator.check_args(args, 0, {});
  if (value.dict() == nullptr) evaluator.fail("dictsort of " + std::string(value.type_name()));
  auto items = value.dict()->items;
  std::stable_sort(items.begin(), items.end(),
                   [](const auto& a, const auto& b) { return lower(a.first) < lower(b.first); });
  std::vector<Value> list;
  for (auto& [key, item] : items)
    list.push_back(Value::list({evaluator.new_text(key), item}, true));
  return Value::list(std::move(list));
}

Value unique(Evaluator& evaluator, const Value& value, const Args& args) {
  evaluator.check_args(args, 0, {});
  std::vector<Value> kept;
  std::vector<Value> keys;
  for (const Value& item : evaluator.items_of(value)) {
    Value key = sort_key(evaluator, item, nullptr, false);
    const bool is_known = std::any_of(keys.begin(), keys.end(), [&](const Value& known) {
      return equal(known, key, evaluator.budget());
    });
    if (is_known) continue;
    kept.push_back(item);
    keys.push_back(std::move(key));
  }
  return Value::list(std::move(kept));
}

Value indent(Evaluator& evaluator, const Value& value, const Args& args) {
  evaluator.check_args(args, 3, {"width", "first", "blank"});
  const Value* width = args.find(0, "width");
  const Value* first = args.find(1, "first");
  const Value* blank = args.find(2, "blank");
  std::string margin = "    ";
  if (width != nullptr && width->text() != nullptr)
    margin = *width->text();
  else if (width != nullptr)
    margin = std::string(static_cast<std::size_t>(
                             std::clamp<std::int64_t>(evaluator.integer(*width, "width"), 0, 1000)),
                         ' ');
  std::string out;
  bool is_first = true;
  for (const std::string& line : split(evaluator.text(value), '\n')) {
    if (!is_first) out += '\n';
    const bool is_indented = is_first ? first != nullptr && first->is_true()
                                      : !line.empty() || (blank != nullptr && blank->is_true());
    if (is_indented) out += margin;
    out += line;
    is_first = false;
    evaluator.budget().spend(1 + margin.size() / 8);
  }
  return evaluator.new_text(std::move(out));
}

Value to_integer(Evaluator& evaluator, const Value& value, const Args& args) {
  evaluator.check_args(args, 1, {"default"});
  const Value* otherwise = args.find(0, "default");
  const Value fallback = otherwise != nullptr ? *otherwise : Value::integer(0);
  if (const double* real = value.as<double>())
    return std::fabs(*real) < 9e18 ? Value::integer(static_cast<std::int64_t>(*real)) : fallback;
  std::int64_t integer = 0;
  if (value.integer_to(integer)) return Value::integer(integer);
  if (value.text() == nullptr) return fallback;
  const std::string text(stripped(*value.text(), "", Side::both));
  const char* end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, integer);
      read.ec == std::errc() && read.ptr == end)
    return Value::integer(integer);
  const auto number = parse_number(text);
  return number && std::fabs(*number) < 9e18 ? Value::integer(static_cast<std::int64_t>(*number))
                                             : fallback;
}

Value to_real(Evaluator& evaluator, const Value& value, const Args& args) {
  evaluator.check_args(args, 1, {"default"});
  if (value.is_number()) return Value::real(value.number());
  if (value.text() != nullptr)
    if (const auto number = parse_number(stripped(*value.text(), "", Side::both)))
      return Value::real(*number);
  const Value* otherwise = args.find(0, "default");
  return otherwise != nullptr ? *otherwise : Value::real(0);
}

// first, last, min, max, sum, reverse, list: of the items.
Value of_items(Evaluator& evaluator, std::string_view name, const Value& value) {
  if (name == "reverse" && value.text() != nullptr) {
    std::string out;
    const std::vector<Value> own = characters(evaluator, *value.text());
    for (auto c = own.rbegin(); c != own.rend(); ++c) out += *c->text();
    return evaluator.new_text(std::move(out));
  }
  std::vector<Value> items = evaluator.items_of(value);
  if (name == "list") return Value::list(std::move(items));
  if (name == "reverse") {
    std::reverse(items.begin(), items.end());
    return Value::list(std::move(items));
  }
  if (name == "sum") {
    Value total = Value::integer(0);
    for (const Value& item : items) total = apply_operator(evaluator, "+", total, item);
    return total;
  }
  if (items.empty()) return Value::undefined(std::string(name) + " of no items");
  if (name == "first") return items.front();
  if (name == "last") return items.back();
  const auto less = [&](const Value& a, const Value& b) {
    return compare(sort_key(evaluator, a, nullptr, false), sort_key(evaluator, b, nullptr, false),
                   evaluator.budget()) < 0;
  };
  return name == "min" ? *std::min_element(items.begin(), items.end(), less)
                       : *std::max_element(items.begin(), items.end(), less);
}

Value absolute(Evaluator& evaluator, const Value& value) {
  if (!value.is_number()) evaluator.fail("abs of " + std::string(value.type_name()));
  return value.number() < 0 ? negated(evaluator, value) : value;
}

using Filter = Value (*)(Evaluator&, const Value&, const Args&);
struct NamedFilter {
  std::string_view name;
  Filter filter;
};

// Filters without arguments.
#define PLAIN(expression)                                       \
  [](Evaluator& e, const Value& v, const Args& args) -> Value { \
    e.check_args(args, 0, {});                                  \
    return expression;                                          \
  }

constexpr std::array kFilters{
    NamedFilter{"trim", trim},
    NamedFilter{"default", default_value},
    NamedFilter{"d", default_value},
    NamedFilter{"join", join},
    NamedFilter{"tojson", tojson},
    NamedFilter{"map", map},
    NamedFilter{"sort", sort},
    NamedFilter{"dictsort", dictsort},
    NamedFilter{"unique", unique},
    NamedFilter{"indent", indent},
    NamedFilter{"int", to_integer},
    NamedFilter{"float", to_real},
    NamedFilter{"upper", PLAIN(e.new_text(upper(e.text(v))))},
    NamedFilter{"lower", PLAIN(e.new_text(lower(e.text(v))))},
    NamedFilter{"title", PLAIN(e.new_text(title(e.text(v))))},
    NamedFilter{"capitalize", PLAIN(e.new_text(capitalised(e.text(v))))},
    NamedFilter{"string", PLAIN(e.new_text(e.text(v)))},
    NamedFilter{"safe", PLAIN(v)},  // nothing is escaped
    NamedFilter{"length", PLAIN(Value::integer(length_of(e, v)))},
    NamedFilter{"count", PLAIN(Value::integer(length_of(e, v)))},
    NamedFilter{"abs", PLAIN(absolute(e, v))},
    NamedFilter{"items",
                PLAIN(v.is_undefined() ? Value::list({}) : call_method(e, "items", v, {}))},
    NamedFilter{"first", PLAIN(of_items(e, "first", v))},
    NamedFilter{"last", PLAIN(of_items(e, "last", v))},
    NamedFilter{"min", PLAIN(of_items(e, "min", v))},
    NamedFilter{"max", PLAIN(of_items(e, "max", v))},
    NamedFilter{"sum", PLAIN(of_items(e, "sum", v))},
    NamedFilter{"reverse", PLAIN(of_items(e, "reverse", v))},
    NamedFilter{"list", PLAIN(of_items(e, "list", v))},
    NamedFilter{"replace",
                [](Evaluator& e, const Value& v, const Args& args) {
                  return call_method(e, "replace", Value::text(e.text(v)), args);
                }},
    NamedFilter{"select", [](Evaluator& e, const Value& v,
                             const Args& args) { return select(e, v, args, true, false); }},
    NamedFilter{"reject", [](Evaluator& e, const Value& v,
                             const Args& args) { return select(e, v, args, false, false); }},
    NamedFilter{"selectattr", [](Evaluator& e, const Value& v,
                                 const Args& args) { return select(e, v, args, true, true); }},
    NamedFilter{"rejectattr", [](Evaluator& e, const Value& v,
                                 const Args& args) { return select(e, v, args, false, true); }},
};
#undef PLAIN

}  // namespace

std::int64_t length_of(Evaluator& evaluator, const Value& value) {
  if (const std::string* text = value.text()) {
    evaluator.budget().spend(1 + text->size() / 8);
    std::int64_t count = 0;
    for (std::size_t at = 0; at < text->size(); ++count) at += code_point_at(*text, at).size;
    return count;
  }
  if (const List* list = value.list()) return static_cast<std::int64_t>(list->items.size());
  if (const Dict* dict = value.dict()) return static_cast<std::int64_t>(dict->items.size());
  if (value.is_undefined()) return 0;
  evaluator.fail(std::string(value.type_name()) + " has no length");
}

Value apply_filter(Evaluator& evaluator, std::string_view name, const Value& value,
                   const Args& args) {
  std::vector<std::string> known;
  for (const NamedFilter& row : kFilters) {
    if (row.name == name) return row.filter(evaluator, value, args);
    known.emplace_back(row.name);
  }
  evaluator.fail_unsupported_here("the filter '" + std::string(name) + "' (" +
                                  unknown_name("filter", name, known) + ")");
}

}  // namespace rooftile::jinja
