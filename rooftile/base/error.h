// SPDX-License-Identifier: Apache-2.0
// The one exception type: a code from a closed list and a message for a person.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// Why a call failed. The C interface returns these values; new ones are added at the end.
enum class ErrorCode : int {
  ok = 0,
  bad_input = 1,    // the caller's text, file, shape, dtype or option is wrong
  unsupported = 2,  // valid, but no kernel or device here can do it; the message lists each reason
  out_of_memory = 3,
  device = 4,    // the device's own error; the device object may be unusable afterwards
  io = 5,        // a file or stream could not be read or written
  internal = 6,  // a broken promise of this library: please report
};

/// Thrown by every public C++ function. `what()` names what was wrong, what was given and what is
/// allowed.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// Shorthand for the most frequent kind.
[[noreturn]] inline void fail_input(const std::string& message) {
  throw Error(ErrorCode::bad_input, message);
}

/// The entries of `known` that a person may have meant by `given`, best first, at most three:
/// edit distance of at most a third of the length (a swap of neighbours is one edit), or one a
/// prefix of the other.
std::vector<std::string> near_misses(std::string_view given, const std::vector<std::string>& known);

/// "unknown WHAT 'given'; did you mean 'a' or 'b'?" followed by all that is known when that is
/// short.
std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& known);

}  // namespace rooftile
