// SPDX-License-Identifier: Apache-2.0
// Text in and out: splitting, checked numbers, and figures written for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// Pieces of `text` between `separator`s; "" gives one empty piece, as "a," gives {"a", ""}.
std::vector<std::string> split(std::string_view text, char separator);

/// Pieces between runs of blanks; never empty pieces.
std::vector<std::string> split_words(std::string_view text);

/// Joins `parts`, each within `quote`, by `separator`.
std::string join(const std::vector<std::string>& parts, std::string_view separator,
                 std::string_view quote = "");

/// `text` with `to` for each `from`, which is not empty.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

/// The whole of `text` as a decimal integer, with an optional k, M or G suffix (powers of 1024 as
/// ki, Mi, Gi); nothing when it is not one or does not fit.
std::optional<std::int64_t> parse_int(std::string_view text);

/// The whole of `text` as a finite or infinite number; nothing when it is not one.
std::optional<double> parse_number(std::string_view text);

/// The shortest text that reads back as the same double.
std::string shortest(double value);

/// Rounded to `digits` significant figures, without an exponent between 1e-3 and 1e6.
std::string figures(double value, int digits = 3);

/// A count of bytes with a binary unit: "64 MiB".
std::string bytes_text(double bytes);

/// A time with a unit that keeps it readable: "3.21 us", "1.20 ms".
std::string time_text(double time_us);

/// A rate with a decimal prefix before its unit: rate_text(8.23e10, "FLOP/s") is "82.3 GFLOP/s".
std::string rate_text(double per_s, std::string_view unit, int digits = 3);

/// `word` as one shell word: quoted only where the shell would otherwise change it.
std::string shell_quote(std::string_view word);

}  // namespace rooftile
