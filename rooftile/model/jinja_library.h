// SPDX-License-Identifier: Apache-2.0
// What templates may call: filters, tests, methods, functions and operators, each by its name.
#pragma once

#include <string_view>

#include "rooftile/model/jinja_eval.h"

namespace rooftile::jinja {

/// `value | name(args)`
Value apply_filter(Evaluator& evaluator, std::string_view name, const Value& value,
                   const Args& args);

/// `value is name(args)`
bool apply_test(Evaluator& evaluator, std::string_view name, const Value& value, const Args& args);

/// `value.name(args)` of a str, list or dict
Value call_method(Evaluator& evaluator, std::string_view name, const Value& value,
                  const Args& args);

/// `name(args)`; is_function() says for which names.
Value call_function(Evaluator& evaluator, std::string_view name, const Args& args);
bool is_function(std::string_view name);

/// `a sign b` for + - * / // % ** ~, and -a
Value apply_operator(Evaluator& evaluator, std::string_view sign, const Value& a, const Value& b);
Value negated(Evaluator& evaluator, const Value& value);

/// `needle in haystack`
bool contains(Evaluator& evaluator, const Value& haystack, const Value& needle);

/// `value[start:stop:step]`, of a str by characters. Undefined or none: left out.
Value sliced(Evaluator& evaluator, const Value& value, const Value& start, const Value& stop,
             const Value& step);

/// The characters of `text`, and how many there are.
std::vector<Value> characters(Evaluator& evaluator, std::string_view text);
std::int64_t length_of(Evaluator& evaluator, const Value& value);

enum class Side : unsigned char { left, right, both };
/// Without those of `characters` at its ends; without blanks, when it is empty.
std::string_view stripped(std::string_view text, std::string_view characters, Side side);
std::string replaced(Evaluator& evaluator, std::string_view text, std::string_view from,
                     std::string_view to, std::int64_t most);

// Letters of ASCII only.
std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string capitalised(std::string_view text);
std::string title(std::string_view text);

}  // namespace rooftile::jinja
