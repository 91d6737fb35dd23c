// SPDX-License-Identifier: Apache-2.0
// The little that a page needs: text made safe, a skeleton filled, one colour an operation.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "rooftile/workbench/profile.h"

namespace rooftile {

/// Safe as the content of an element and within a quoted attribute: the five special characters
/// escaped, control characters other than blanks and bytes that are no UTF-8 replaced by U+FFFD.
std::string html_text(std::string_view text);

/// `page` with each {{name}} replaced by parts.at(name), which is not looked at again. Throws
/// Error(internal) for a name that is not there.
std::string filled(std::string_view page, const std::map<std::string, std::string>& parts);

/// A number for an attribute: short, never an exponent.
std::string coordinate(double value);

/// One of ten colours for each operation, by its time; the last is shared by all that are left.
class OperationColours {
 public:
  explicit OperationColours(const Profile& profile);
  [[nodiscard]] int of(const std::string& op) const;
  /// The same for a kernel's id.
  [[nodiscard]] int of_kernel(const std::string& kernel) const;
  /// A list of what is in the profile, as HTML.
  [[nodiscard]] std::string legend() const;

 private:
  std::map<std::string, int> colours_{};
};

}  // namespace rooftile
