// SPDX-License-Identifier: Apache-2.0
// The values of the template language: Python's, as far as templates can tell. Values are
// immutable, but for namespaces, which their evaluator owns; so no cycles, and copies are cheap.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "nlohmann/json.hpp"

namespace rooftile::jinja {

class Value;
struct Macro;  // a node of the template (jinja_ast.h)

/// What one rendering may use. Every step and every byte written is paid for, so that a template
/// from an untrusted file ends.
class Budget {
 public:
  explicit Budget(std::int64_t work) : left_(work) {}
  /// Throws Error(bad_input) when nothing is left.
  void spend(std::size_t work);

 private:
  std::int64_t left_;
};

struct Undefined {
  std::shared_ptr<const std::string> name{};  // what is undefined, for messages
};
struct None {};
using Text = std::shared_ptr<const std::string>;
struct List {
  std::vector<Value> items;
  bool is_tuple = false;
  int depth = 1;  // of lists and dictionaries within: bounded, so that recursion over values ends
};
struct Dict {
  std::vector<std::pair<std::string, Value>> items;  // in the order written; keys are unique
  int depth = 1;

  [[nodiscard]] const Value* find(std::string_view key) const;
};
struct Namespace {
  std::unordered_map<std::string, Value> members;
};
/// Something to call: a macro, or a function of the language by its name.
struct Callable {
  const Macro* macro = nullptr;
  std::string_view name{};
};

using Data =
    std::variant<Undefined, None, bool, std::int64_t, double, Text, std::shared_ptr<const List>,
                 std::shared_ptr<const Dict>, Namespace*, Callable>;

class Value {
 public:
  Value() = default;  // undefined
  explicit Value(Data data) : data_(std::move(data)) {}

  static Value none() { return Value(Data(None{})); }
  static Value boolean(bool value) { return Value(Data(value)); }
  static Value integer(std::int64_t value) { return Value(Data(value)); }
  static Value real(double value) { return Value(Data(value)); }
  static Value text(std::string value);
  /// Throws Error(bad_input) where lists nest too deeply, as dict() does.
  static Value list(std::vector<Value> items, bool is_tuple = false);
  static Value dict(std::vector<std::pair<std::string, Value>> items);
  static Value undefined(std::string name);

  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&data_);
  }
  [[nodiscard]] bool is_undefined() const { return as<Undefined>() != nullptr; }
  [[nodiscard]] bool is_none() const { return as<None>() != nullptr; }
  /// Null when it is another type, here and below.
  [[nodiscard]] const std::string* text() const;
  [[nodiscard]] const List* list() const;
  [[nodiscard]] const Dict* dict() const;
  [[nodiscard]] bool is_number() const;  // bool, int or float
  [[nodiscard]] double number() const;   // of a number, else 0
  /// Whether it is an int or a bool; then `value` is it.
  [[nodiscard]] bool integer_to(std::int64_t& value) const;
  [[nodiscard]] bool is_true() const;
  [[nodiscard]] std::string_view type_name() const;

 private:
  Data data_{};
};

/// Python's ==.
bool equal(const Value& a, const Value& b, Budget& budget);

/// Less than 0, 0 or more, as Python orders; throws Error(bad_input) for types without an order.
int compare(const Value& a, const Value& b, Budget& budget);

/// Python's str() and repr().
std::string to_text(const Value& value, Budget& budget);
std::string to_repr(const Value& value, Budget& budget);

struct JsonStyle {
  int indent = -1;  // blanks a level; -1: all on one line
  bool is_ascii = false;
  bool is_sorted = false;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};

/// Python's json.dumps().
std::string to_json(const Value& value, const JsonStyle& style, Budget& budget);

Value from_json(const nlohmann::ordered_json& json, int depth = 0);

}  // namespace rooftile::jinja
