// SPDX-License-Identifier: Apache-2.0
// Values as Python prints them: str(), repr() and json.dumps().
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "rooftile/base/error.h"
#include "rooftile/model/jinja_value.h"
#include "rooftile/model/utf8.h"

namespace rooftile::jinja {
namespace {

// Python's repr(): the shortest digits that read back, plain between 1e-4 and 1e16.
std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 400> buffer{};
  const bool is_plain = value == 0 || (std::fabs(value) >= 1e-4 && std::fabs(value) < 1e16);
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), end.ptr);
  return is_plain && text.find('.') == std::string::npos ? text + ".0" : text;
}

void append_code(std::string& out, const char* format, unsigned value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, value);
  out += text.data();
}

// As Python quotes: single quotes, unless only single ones occur within.
std::string python_quoted(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      append_code(out, "\\x%02x", byte);
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string json_text(std::string_view text, bool is_ascii) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const std::size_t letter = kEscaped.find(text[at]);
    if (letter != std::string_view::npos) {
      out += '\\';
      out += kLetters[letter];
    } else if (point.value < 0x20) {
      append_code(out, "\\u%04x", point.value);
    } else if (is_ascii && point.value >= 0x10000) {
      append_code(out, "\\u%04x", 0xD800 + ((point.value - 0x10000) >> 10));
      append_code(out, "\\u%04x", 0xDC00 + ((point.value - 0x10000) & 0x3FF));
    } else if (is_ascii && point.value >= 0x7F) {
      append_code(out, point.value == 0x7F ? "%c" : "\\u%04x", point.value);
    } else {
      out += text.substr(at, point.size);
    }
    at += point.size;
  }
  return out + "\"";
}

class Printer {
 public:
  explicit Printer(Budget& budget) : budget_(&budget) {}

  void add(std::string_view text) {
    budget_->spend(1 + text.size() / 8);
    out_ += text;
  }

  void repr(const Value& value) {
    if (const std::string* text = value.text()) return add(python_quoted(*text));
    if (const List* list = value.list()) {
      const bool is_tuple = list->is_tuple;
      add(is_tuple ? "(" : "[");
      for (std::size_t i = 0; i < list->items.size(); ++i) {
        if (i != 0) add(", ");
        repr(list->items[i]);
      }
      if (is_tuple && list->items.size() == 1) add(",");
      return add(is_tuple ? ")" : "]");
    }
    if (const Dict* dict = value.dict()) {
      add("{");
      for (std::size_t i = 0; i < dict->items.size(); ++i) {
        if (i != 0) add(", ");
        add(python_quoted(dict->items[i].first));
        add(": ");
        repr(dict->items[i].second);
      }
      return add("}");
    }
    scalar(value, "None", "True", "False");
  }

  void json(const Value& value, const JsonStyle& style, int level) {
    if (const std::string* text = value.text()) return add(json_text(*text, style.is_ascii));
    if (const List* list = value.list())
      return json_items(list->items, "[]", style, level,
                        [&](const Value& item) { json(item, style, level + 1); });
    if (const Dict* dict = value.dict()) {
      auto items = dict->items;
      if (style.is_sorted)
        std::sort(items.begin(), items.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
      return json_items(items, "{}", style, level, [&](const auto& item) {
        add(json_text(item.first, style.is_ascii));
        add(style.key_separator);
        json(item.second, style, level + 1);
      });
    }
    if (!value.is_number() && !value.is_none())
      fail_input("chat template: tojson of " + std::string(value.type_name()));
    if (const double* real = value.as<double>(); real != nullptr && !std::isfinite(*real))
      return add(std::isnan(*real) ? "NaN" : *real < 0 ? "-Infinity" : "Infinity");
    scalar(value, "null", "true", "false");
  }

  std::string take() { return std::move(out_); }

 private:
  void scalar(const Value& value, std::string_view none, std::string_view yes,
              std::string_view no) {
    if (value.is_undefined()) return add("Undefined");
    if (value.is_none()) return add(none);
    if (const bool* flag = value.as<bool>()) return add(*flag ? yes : no);
    if (const std::int64_t* integer = value.as<std::int64_t>())
      return add(std::to_string(*integer));
    if (const double* real = value.as<double>()) return add(real_text(*real));
    add("<" + std::string(value.type_name()) + ">");
  }

  template <class Items, class Write>
  void json_items(const Items& items, std::string_view brackets, const JsonStyle& style, int level,
                  Write write) {
    const auto new_line = [&](int at) {
      if (style.indent >= 0)
        add("\n" + std::string(static_cast<std::size_t>(style.indent * at), ' '));
    };
    add(brackets.substr(0, 1));
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i != 0) add(style.item_separator);
      new_line(level + 1);
      write(items[i]);
    }
    if (!items.empty()) new_line(level);
    add(brackets.substr(1));
  }

  Budget* budget_;
  std::string out_{};
};

}  // namespace

std::string to_text(const Value& value, Budget& budget) {
  if (value.is_undefined()) return "";
  if (const std::string* text = value.text()) {
    budget.spend(1 + text->size() / 8);
    return *text;
  }
  return to_repr(value, budget);
}

std::string to_repr(const Value& value, Budget& budget) {
  Printer printer(budget);
  printer.repr(value);
  return printer.take();
}

std::string to_json(const Value& value, const JsonStyle& style, Budget& budget) {
  Printer printer(budget);
  printer.json(value, style, 0);
  return printer.take();
}

}  // namespace rooftile::jinja
