// SPDX-License-Identifier: Apache-2.0
// Command-line options from one small table: parsing, help and completion all read it, so that none
// of them can differ from the others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

struct ArgOption {
  std::string name;                    // "--set"
  std::string placeholder{};           // "NAME"; empty: a switch without a value
  std::string help{};                  // a few words
  std::vector<std::string> choices{};  // the only values allowed; empty: any
  bool is_repeatable = false;
};

/// What was given: options by name, and the words that are none.
struct ParsedArgs {
  std::vector<std::pair<std::string, std::string>> options{};  // in the order given
  std::vector<std::string> words{};

  [[nodiscard]] bool has(std::string_view name) const;
  /// The value of the option, or `otherwise` when it was not given.
  [[nodiscard]] std::string value(std::string_view name, std::string_view otherwise = "") const;
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
  /// The same as a number in [least, greatest]. Throws Error(bad_input) that says what is allowed.
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise,
                                     std::int64_t least, std::int64_t greatest) const;
  [[nodiscard]] double number(std::string_view name, double otherwise, double least,
                              double greatest) const;
};

/// Splits `arguments` by the table: "--name value" or "--name=value", "--" ends the options. Throws
/// Error(bad_input) with near misses: unknown option, value missing or not allowed, given twice.
ParsedArgs parse_args(std::span<const ArgOption> table, std::span<const std::string> arguments);

/// "--set NAME"
std::string usage(const ArgOption& option);

/// One line an option, the helps aligned: what `--help` shows.
std::string options_text(std::span<const ArgOption> table);

}  // namespace rooftile
