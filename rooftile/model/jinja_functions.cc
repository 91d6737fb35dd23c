// SPDX-License-Identifier: Apache-2.0
// Tests (x is …) and functions.
#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>

#include "rooftile/base/error.h"
#include "rooftile/model/jinja_library.h"

namespace rooftile::jinja {
namespace {

constexpr std::int64_t kMostRange = 100'000;  // as Jinja's sandbox allows
constexpr std::array<std::string_view, 5> kFunctions{"range", "namespace", "dict",
                                                     "raise_exception", "strftime_now"};

const Value& operand(Evaluator& evaluator, const Args& args, std::string_view name) {
  if (args.positional.size() != 1 || !args.named.empty())
    evaluator.fail("the test '" + std::string(name) + "' takes one argument");
  return args.positional[0];
}

// The tests of a type or a value alone; nothing when `name` is none of them.
bool is_plain_test(std::string_view name, const Value& value, bool& holds) {
  const bool is_flag = value.as<bool>() != nullptr;
  const bool is_integer = value.as<std::int64_t>() != nullptr;
  const bool is_real = value.as<double>() != nullptr;
  const bool is_sequence =
      value.text() != nullptr || value.list() != nullptr || value.dict() != nullptr;
  const std::pair<std::string_view, bool> tests[] = {
      {"defined", !value.is_undefined()},
      {"undefined", value.is_undefined()},
      {"none", value.is_none()},
      {"string", value.text() != nullptr},
      {"mapping", value.dict() != nullptr},
      {"sequence", is_sequence},
      {"iterable", is_sequence || value.is_undefined()},
      {"number", value.is_number()},
      {"integer", is_integer},
      {"float", is_real},
      {"boolean", is_flag},
      {"true", is_flag && value.is_true()},
      {"false", is_flag && !value.is_true()},
      {"callable", value.as<Callable>() != nullptr},
      {"lower", value.text() != nullptr && lower(*value.text()) == *value.text() &&
                    upper(*value.text()) != *value.text()},
      {"upper", value.text() != nullptr && upper(*value.text()) == *value.text() &&
                    lower(*value.text()) != *value.text()},
  };
  const auto* found = std::find_if(std::begin(tests), std::end(tests),
                                   [&](const auto& test) { return test.first == name; });
  if (found == std::end(tests)) return false;
  holds = found->second;
  return true;
}

Value range(Evaluator& evaluator, const Args& args) {
  evaluator.check_args(args, 3, {});
  if (args.positional.empty()) evaluator.fail("range() takes 1 to 3 arguments");
  std::int64_t bounds[3] = {0, 0, 1};  // start, stop, step
  const std::size_t n = args.positional.size();
  for (std::size_t i = 0; i < n; ++i)
    bounds[n == 1 ? 1 : i] = evaluator.integer(args.positional[i], "an argument of range()");
  const auto [start, stop, step] = bounds;
  if (step == 0) evaluator.fail("range() with a step of 0");
  std::vector<Value> items;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (static_cast<std::int64_t>(items.size()) == kMostRange)
      evaluator.fail("range() of more than " + std::to_string(kMostRange) + " items");
    items.push_back(Value::integer(i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  evaluator.budget().spend(items.size());
  return Value::list(std::move(items));
}

// namespace(a=1) and dict(a=1), each after the members of one dictionary that may be given.
std::vector<std::pair<std::string, Value>> members(Evaluator& evaluator, const Args& args) {
  if (args.positional.size() > 1) evaluator.fail("takes one dictionary and named values");
  std::vector<std::pair<std::string, Value>> items;
  if (!args.positional.empty()) {
    if (args.positional[0].dict() == nullptr)
      evaluator.fail("takes a dictionary; given: " + std::string(args.positional[0].type_name()));
    items = args.positional[0].dict()->items;
  }
  for (const auto& [name, value] : args.named) {
    std::erase_if(items, [&](const auto& item) { return item.first == name; });
    items.emplace_back(name, value);
  }
  return items;
}

Value strftime_now(Evaluator& evaluator, const Args& args) {
  evaluator.check_args(args, 1, {"format"});
  const Value* format = args.find(0, "format");
  if (format == nullptr) evaluator.fail("strftime_now() takes a format");
  // Why the blank: strftime returns 0 for "no room" and for an empty text alike.
  const std::string wanted = evaluator.string(*format, "the format") + " ";
  const std::time_t now = evaluator.now_s() < 0 ? std::time(nullptr) : evaluator.now_s();
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 1024> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), wanted.c_str(), &parts);
  if (size == 0) evaluator.fail("strftime_now(): the text is too long");
  return evaluator.new_text(std::string(text.data(), size - 1));
}

}  // namespace

bool apply_test(Evaluator& evaluator, std::string_view name, const Value& value, const Args& args) {
  bool holds = false;
  if (is_plain_test(name, value, holds)) {
    evaluator.check_args(args, 0, {});
    return holds;
  }
  Budget& budget = evaluator.budget();
  const auto other = [&]() -> const Value& { return operand(evaluator, args, name); };
  if (name == "in") return contains(evaluator, other(), value);
  if (name == "eq" || name == "equalto" || name == "==") return equal(value, other(), budget);
  if (name == "ne" || name == "!=") return !equal(value, other(), budget);
  if (name == "lt" || name == "lessthan" || name == "<") return compare(value, other(), budget) < 0;
  if (name == "le" || name == "<=") return compare(value, other(), budget) <= 0;
  if (name == "gt" || name == "greaterthan" || name == ">")
    return compare(value, other(), budget) > 0;
  if (name == "ge" || name == ">=") return compare(value, other(), budget) >= 0;
  if (name == "sameas")
    return value.type_name() == other().type_name() && equal(value, other(), budget);
  if (name == "odd" || name == "even" || name == "divisibleby") {
    const std::int64_t number = evaluator.integer(value, "what is tested");
    if (name != "divisibleby") return (number % 2 != 0) == (name == "odd");
    const std::int64_t divisor = evaluator.integer(other(), "the divisor");
    if (divisor == 0) evaluator.fail("division by zero");
    return divisor == -1 || number % divisor == 0;
  }
  evaluator.fail_unsupported_here("the test '" + std::string(name) + "'");
}

bool is_function(std::string_view name) {
  return std::find(kFunctions.begin(), kFunctions.end(), name) != kFunctions.end();
}

Value call_function(Evaluator& evaluator, std::string_view name, const Args& args) {
  if (name == "range") return range(evaluator, args);
  if (name == "strftime_now") return strftime_now(evaluator, args);
  if (name == "dict") return Value::dict(members(evaluator, args));
  if (name == "namespace") {
    Scope scope;
    for (auto& [key, value] : members(evaluator, args))
      scope.insert_or_assign(key, std::move(value));
    return evaluator.new_namespace(std::move(scope));
  }
  evaluator.check_args(args, 1, {"message"});
  const Value* message = args.find(0, "message");
  evaluator.fail("the template refuses this conversation: " +
                 (message != nullptr ? evaluator.text(*message) : std::string("no reason given")));
}

}  // namespace rooftile::jinja
