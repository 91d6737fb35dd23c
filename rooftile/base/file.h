// SPDX-License-Identifier: Apache-2.0
// Whole files, read and replaced. A write is all or nothing: it goes to a temporary file in the
// same folder, which then takes the target's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// The text of the file at `path`; nothing when there is none.
/// Throws Error(io) when it cannot be read or is larger than `most_bytes`.
std::optional<std::string> read_file(const std::string& path, std::int64_t most_bytes = 1 << 26);

/// Replaces the file at `path` by `text`. Throws Error(io) and leaves what was there.
void replace_file(const std::string& path, const std::string& text);

/// Throws Error(bad_input) now if `path` could not be written later. Creates nothing.
void check_writable(const std::string& path);

/// Where this user's cached measurements live: $ROOFTILE_CACHE, else $XDG_CACHE_HOME/rooftile, else
/// ~/.cache/rooftile.
std::string cache_folder();

}  // namespace rooftile
