// SPDX-License-Identifier: Apache-2.0
// Arithmetic, membership and slices, as Python has them.
#include <algorithm>
#include <cmath>

#include "rooftile/model/jinja_library.h"
#include "rooftile/model/utf8.h"

namespace rooftile::jinja {
namespace {

constexpr std::int64_t kMostRepeated = 16 << 20;

[[noreturn]] void fail_types(const Evaluator& evaluator, std::string_view sign, const Value& a,
                             const Value& b) {
  for (const Value* value : {&a, &b})
    if (const Undefined* undefined = value->as<Undefined>())
      evaluator.fail("'" + (undefined->name ? *undefined->name : std::string("value")) +
                     "' is undefined");
  evaluator.fail("'" + std::string(sign) + "' of " + std::string(a.type_name()) + " and " +
                 std::string(b.type_name()));
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

bool power_to(std::int64_t base, std::int64_t exponent, std::int64_t& result) {
  result = 1;
  for (std::int64_t i = 0; i < exponent && result != 0 && !(base == 1 && i > 0); ++i) {
    if (base == -1) {
      result = exponent % 2 == 0 ? 1 : -1;
      return true;
    }
    if (__builtin_mul_overflow(result, base, &result)) return false;
  }
  return true;
}

Value of_integers(Evaluator& evaluator, std::string_view sign, std::int64_t a, std::int64_t b) {
  const bool divides = sign == "/" || sign == "//" || sign == "%";
  if (divides && b == 0) evaluator.fail("division by zero");
  if (sign == "/") return Value::real(static_cast<double>(a) / static_cast<double>(b));
  if (sign == "**" && b < 0)
    return Value::real(std::pow(static_cast<double>(a), static_cast<double>(b)));
  std::int64_t result = 0;
  bool overflows = divides && a == INT64_MIN && b == -1;
  if (overflows) {
  } else if (sign == "+") {
    overflows = __builtin_add_overflow(a, b, &result);
  } else if (sign == "-") {
    overflows = __builtin_sub_overflow(a, b, &result);
  } else if (sign == "*") {
    overflows = __builtin_mul_overflow(a, b, &result);
  } else if (sign == "**") {
    overflows = !power_to(a, b, result);
  } else {
    const std::int64_t quotient = floor_quotient(a, b);
    result = sign == "//" ? quotient : a - quotient * b;
  }
  if (overflows) evaluator.fail("'" + std::string(sign) + "' leaves the integers of 64 bits");
  return Value::integer(result);
}

Value of_reals(Evaluator& evaluator, std::string_view sign, double a, double b) {
  if (sign == "+") return Value::real(a + b);
  if (sign == "-") return Value::real(a - b);
  if (sign == "*") return Value::real(a * b);
  if (sign == "**") return Value::real(std::pow(a, b));
  if (b == 0) evaluator.fail("division by zero");
  if (sign == "/") return Value::real(a / b);
  const double quotient = std::floor(a / b);
  if (sign == "//") return Value::real(quotient);
  const double rest = std::fmod(a, b);
  return Value::real(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

Value repeated(Evaluator& evaluator, const std::string& text, std::int64_t count) {
  count = std::max<std::int64_t>(count, 0);
  if (!text.empty() && count > kMostRepeated / static_cast<std::int64_t>(text.size()))
    evaluator.fail("a text repeated " + std::to_string(count) + " times is too long");
  std::string out;
  for (std::int64_t i = 0; i < count && !text.empty(); ++i) out += text;
  return evaluator.new_text(std::move(out));
}

std::int64_t bound(const Value& value, const Evaluator& evaluator, std::int64_t otherwise,
                   std::int64_t size, std::int64_t least, std::int64_t most) {
  if (value.is_undefined() || value.is_none()) return otherwise;
  std::int64_t index = evaluator.integer(value, "a bound of a slice");
  if (index < 0) index = index < -size ? -1 : index + size;
  return std::clamp(index, least, most);
}

}  // namespace

Value apply_operator(Evaluator& evaluator, std::string_view sign, const Value& a, const Value& b) {
  if (sign == "~") return evaluator.new_text(evaluator.text(a) + evaluator.text(b));
  std::int64_t left = 0;
  std::int64_t right = 0;
  const bool is_left = a.integer_to(left);
  const bool is_right = b.integer_to(right);
  if (is_left && is_right) return of_integers(evaluator, sign, left, right);
  if (a.is_number() && b.is_number()) return of_reals(evaluator, sign, a.number(), b.number());
  if (sign == "+" && a.text() != nullptr && b.text() != nullptr)
    return evaluator.new_text(*a.text() + *b.text());
  if (sign == "+" && a.list() != nullptr && b.list() != nullptr &&
      a.list()->is_tuple == b.list()->is_tuple) {
    std::vector<Value> items = evaluator.items_of(a);
    for (Value& item : evaluator.items_of(b)) items.push_back(std::move(item));
    return Value::list(std::move(items), a.list()->is_tuple);
  }
  if (sign == "*" && a.text() != nullptr && is_right) return repeated(evaluator, *a.text(), right);
  if (sign == "*" && b.text() != nullptr && is_left) return repeated(evaluator, *b.text(), left);
  if (sign == "%" && a.text() != nullptr) evaluator.fail_unsupported_here("formatting by '%'");
  fail_types(evaluator, sign, a, b);
}

Value negated(Evaluator& evaluator, const Value& value) {
  if (const double* real = value.as<double>()) return Value::real(-*real);
  return of_integers(evaluator, "-", 0, evaluator.integer(value, "what '-' negates"));
}

bool contains(Evaluator& evaluator, const Value& haystack, const Value& needle) {
  if (const std::string* text = haystack.text()) {
    evaluator.budget().spend(1 + text->size() / 16);
    return text->find(evaluator.string(needle, "what is looked for in a str")) != std::string::npos;
  }
  if (const Dict* dict = haystack.dict()) {
    evaluator.budget().spend(1 + dict->items.size() / 8);
    return needle.text() != nullptr && dict->find(*needle.text()) != nullptr;
  }
  if (haystack.list() == nullptr && !haystack.is_undefined())
    evaluator.fail("'in' of " + std::string(haystack.type_name()));
  const List* list = haystack.list();
  return list != nullptr &&
         std::any_of(list->items.begin(), list->items.end(),
                     [&](const Value& item) { return equal(item, needle, evaluator.budget()); });
}

std::vector<Value> characters(Evaluator& evaluator, std::string_view text) {
  evaluator.budget().spend(1 + text.size());
  std::vector<Value> list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = code_point_at(text, at).size;
    list.push_back(Value::text(std::string(text.substr(at, size))));
    at += size;
  }
  return list;
}

Value sliced(Evaluator& evaluator, const Value& value, const Value& start, const Value& stop,
             const Value& step) {
  if (value.text() == nullptr && value.list() == nullptr)
    evaluator.fail("a slice of " + std::string(value.type_name()));
  const std::vector<Value> items = evaluator.items_of(value);
  const auto size = static_cast<std::int64_t>(items.size());
  const bool has_step = !step.is_undefined() && !step.is_none();
  std::int64_t by = has_step ? evaluator.integer(step, "the step of a slice") : 1;
  if (by == 0) evaluator.fail("the step of a slice is 0");
  by = std::clamp(by, -size - 1, size + 1);
  std::vector<Value> kept;
  if (by > 0) {
    const std::int64_t end = bound(stop, evaluator, size, size, 0, size);
    for (std::int64_t i = bound(start, evaluator, 0, size, 0, size); i < end; i += by)
      kept.push_back(items[static_cast<std::size_t>(i)]);
  } else {
    const std::int64_t end = bound(stop, evaluator, -1, size, -1, size - 1);
    for (std::int64_t i = bound(start, evaluator, size - 1, size, -1, size - 1); i > end; i += by)
      kept.push_back(items[static_cast<std::size_t>(i)]);
  }
  if (const List* list = value.list()) return Value::list(std::move(kept), list->is_tuple);
  std::string text;
  for (const Value& character : kept) text += *character.text();
  return evaluator.new_text(std::move(text));
}

}  // namespace rooftile::jinja
