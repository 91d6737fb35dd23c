// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/jinja_value.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/error.h"

namespace rooftile::jinja {
namespace {

constexpr int kMostDepth = 100;

int depth_within(const Value& value) {
  if (const List* list = value.list()) return list->depth;
  if (const Dict* dict = value.dict()) return dict->depth;
  return 0;
}

void check_depth(int depth) {
  if (depth > kMostDepth)
    fail_input("chat template: lists or dictionaries nest more than " + std::to_string(kMostDepth) +
               " deep");
}

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

}  // namespace

void Budget::spend(std::size_t work) {
  left_ -= static_cast<std::int64_t>(std::min<std::size_t>(work, INT64_MAX / 2));
  if (left_ < 0) fail_input("chat template: takes too many steps or writes too much");
}

const Value* Dict::find(std::string_view key) const {
  for (const auto& [name, value] : items)
    if (name == key) return &value;
  return nullptr;
}

Value Value::text(std::string value) {
  return Value(Data(std::make_shared<const std::string>(std::move(value))));
}

Value Value::list(std::vector<Value> items, bool is_tuple) {
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, depth_within(item));
  check_depth(depth + 1);
  return Value(Data(std::make_shared<const List>(List{std::move(items), is_tuple, depth + 1})));
}

Value Value::dict(std::vector<std::pair<std::string, Value>> items) {
  int depth = 0;
  for (const auto& [key, item] : items) depth = std::max(depth, depth_within(item));
  check_depth(depth + 1);
  return Value(Data(std::make_shared<const Dict>(Dict{std::move(items), depth + 1})));
}

Value Value::undefined(std::string name) {
  return Value(Data(Undefined{std::make_shared<const std::string>(std::move(name))}));
}

const std::string* Value::text() const {
  const Text* found = as<Text>();
  return found != nullptr ? found->get() : nullptr;
}

const List* Value::list() const {
  const auto* found = as<std::shared_ptr<const List>>();
  return found != nullptr ? found->get() : nullptr;
}

const Dict* Value::dict() const {
  const auto* found = as<std::shared_ptr<const Dict>>();
  return found != nullptr ? found->get() : nullptr;
}

bool Value::is_number() const {
  return as<bool>() != nullptr || as<std::int64_t>() != nullptr || as<double>() != nullptr;
}

double Value::number() const {
  if (const double* real = as<double>()) return *real;
  std::int64_t integer = 0;
  return integer_to(integer) ? static_cast<double>(integer) : 0;
}

bool Value::integer_to(std::int64_t& value) const {
  if (const bool* found = as<bool>()) {
    value = *found ? 1 : 0;
  } else if (const std::int64_t* given = as<std::int64_t>()) {
    value = *given;
  } else {
    return false;
  }
  return true;
}

bool Value::is_true() const {
  if (is_undefined() || is_none()) return false;
  if (is_number()) return number() != 0;
  if (const std::string* string = text()) return !string->empty();
  if (const List* items = list()) return !items->items.empty();
  if (const Dict* items = dict()) return !items->items.empty();
  return true;
}

std::string_view Value::type_name() const {
  constexpr std::string_view kNames[] = {"undefined", "None", "bool", "int",       "float",
                                         "str",       "list", "dict", "namespace", "function"};
  return list() != nullptr && list()->is_tuple ? "tuple" : kNames[data_.index()];
}

bool equal(const Value& a, const Value& b, Budget& budget) {
  budget.spend(1);
  if (a.is_number() && b.is_number()) {
    std::int64_t left = 0;
    std::int64_t right = 0;
    return a.integer_to(left) && b.integer_to(right) ? left == right : a.number() == b.number();
  }
  if (a.type_name() != b.type_name()) return false;
  if (const std::string* text = a.text()) {
    budget.spend(text->size() / 16);
    return *text == *b.text();
  }
  if (const List* list = a.list())
    return std::equal(list->items.begin(), list->items.end(), b.list()->items.begin(),
                      b.list()->items.end(),
                      [&](const Value& x, const Value& y) { return equal(x, y, budget); });
  if (const Dict* dict = a.dict()) {
    if (dict->items.size() != b.dict()->items.size()) return false;
    return std::all_of(dict->items.begin(), dict->items.end(), [&](const auto& entry) {
      const Value* other = b.dict()->find(entry.first);
      return other != nullptr && equal(entry.second, *other, budget);
    });
  }
  if (const auto* space = a.as<Namespace*>()) return *space == *b.as<Namespace*>();
  if (const auto* callable = a.as<Callable>())
    return callable->macro == b.as<Callable>()->macro && callable->name == b.as<Callable>()->name;
  return true;  // undefined, none
}

int compare(const Value& a, const Value& b, Budget& budget) {
  budget.spend(1);
  std::int64_t left = 0;
  std::int64_t right = 0;
  if (a.integer_to(left) && b.integer_to(right)) return order(left, right);
  if (a.is_number() && b.is_number()) return order(a.number(), b.number());
  if (a.text() != nullptr && b.text() != nullptr) {
    budget.spend(a.text()->size() / 16);
    return order(*a.text(), *b.text());
  }
  if (a.list() != nullptr && b.list() != nullptr) {
    const auto& x = a.list()->items;
    const auto& y = b.list()->items;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
      if (!equal(x[i], y[i], budget)) return compare(x[i], y[i], budget);
    return order(x.size(), y.size());
  }
  fail_input("chat template: " + std::string(a.type_name()) + " and " + std::string(b.type_name()) +
             " have no order");
}

Value from_json(const nlohmann::ordered_json& json, int depth) {
  check_depth(depth);
  if (json.is_null()) return Value::none();
  if (json.is_boolean()) return Value::boolean(json.get<bool>());
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX)
    return Value::real(json.get<double>());
  if (json.is_number_integer()) return Value::integer(json.get<std::int64_t>());
  if (json.is_number()) return Value::real(json.get<double>());
  if (json.is_string()) return Value::text(json.get<std::string>());
  if (json.is_array()) {
    std::vector<Value> items;
    for (const auto& item : json) items.push_back(from_json(item, depth + 1));
    return Value::list(std::move(items));
  }
  std::vector<std::pair<std::string, Value>> items;
  for (const auto& [key, item] : json.items()) items.emplace_back(key, from_json(item, depth + 1));
  return Value::dict(std::move(items));
}

}  // namespace rooftile::jinja
