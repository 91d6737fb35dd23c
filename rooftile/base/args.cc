// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/args.h"

#include <algorithm>
#include <optional>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

const ArgOption& find_option(std::span<const ArgOption> table, const std::string& name) {
  std::vector<std::string> known;
  for (const ArgOption& option : table) {
    if (option.name == name) return option;
    known.push_back(option.name);
  }
  fail_input(unknown_name("option", name, known));
}

void add_option(const ArgOption& option, std::string value, ParsedArgs& parsed) {
  if (parsed.has(option.name) && !option.is_repeatable)
    fail_input("'" + option.name + "' is given twice");
  if (!option.choices.empty() && std::ranges::find(option.choices, value) == option.choices.end())
    fail_input(unknown_name(option.name, value, option.choices));
  parsed.options.emplace_back(option.name, std::move(value));
}

// The text of an option that was given and has a number as its value.
std::optional<std::string> text_of(const ParsedArgs& parsed, std::string_view name) {
  if (!parsed.has(name)) return std::nullopt;
  return parsed.value(name);
}

[[noreturn]] void fail_number(std::string_view name, const std::string& text, const char* kind,
                              double least, double greatest) {
  fail_input(std::string(name) + "='" + text + "': expected a " + kind + " from " +
             shortest(least) + " to " + shortest(greatest));
}

}  // namespace

bool ParsedArgs::has(std::string_view name) const {
  return std::ranges::any_of(options, [&](const auto& option) { return option.first == name; });
}

std::string ParsedArgs::value(std::string_view name, std::string_view otherwise) const {
  const std::vector<std::string> all = values(name);
  return all.empty() ? std::string(otherwise) : all.back();
}

std::vector<std::string> ParsedArgs::values(std::string_view name) const {
  std::vector<std::string> list;
  for (const auto& [option, given] : options)
    if (option == name) list.push_back(given);
  return list;
}

std::int64_t ParsedArgs::integer(std::string_view name, std::int64_t otherwise, std::int64_t least,
                                 std::int64_t greatest) const {
  const auto text = text_of(*this, name);
  if (!text) return otherwise;
  const auto number = parse_int(*text);
  if (!number || *number < least || *number > greatest)
    fail_number(name, *text, "whole number", static_cast<double>(least),
                static_cast<double>(greatest));
  return *number;
}

double ParsedArgs::number(std::string_view name, double otherwise, double least,
                          double greatest) const {
  const auto text = text_of(*this, name);
  if (!text) return otherwise;
  const auto number = parse_number(*text);
  if (!number || !(*number >= least && *number <= greatest))
    fail_number(name, *text, "number", least, greatest);
  return *number;
}

ParsedArgs parse_args(std::span<const ArgOption> table, std::span<const std::string> arguments) {
  ParsedArgs parsed;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      parsed.words.insert(parsed.words.end(),
                          arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      parsed.words.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const ArgOption& option = find_option(table, argument.substr(0, equals));
    if (option.placeholder.empty()) {
      if (equals != std::string::npos) fail_input("'" + option.name + "' takes no value");
      add_option(option, "", parsed);
    } else if (equals != std::string::npos) {
      add_option(option, argument.substr(equals + 1), parsed);
    } else {
      const bool has_value = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--");
      if (!has_value) fail_input("'" + option.name + "' needs a value: " + usage(option));
      add_option(option, arguments[++i], parsed);
    }
  }
  return parsed;
}

std::string usage(const ArgOption& option) {
  return option.placeholder.empty() ? option.name : option.name + " " + option.placeholder;
}

std::string options_text(std::span<const ArgOption> table) {
  std::size_t width = 0;
  for (const ArgOption& option : table) width = std::max(width, usage(option).size());
  std::string text;
  for (const ArgOption& option : table) {
    const std::string left = usage(option);
    text += left + std::string(width + 2 - left.size(), ' ') + option.help + "\n";
  }
  return text;
}

}  // namespace rooftile
