// SPDX-License-Identifier: Apache-2.0
// Unicode's normalisation form C (UAX #15): characters decomposed, their marks put in order, then
// composed again, so that one text has one spelling.
#pragma once

#include <string>
#include <string_view>

namespace rooftile {

/// `text` in form C. Bytes that are no UTF-8 stay as they are and join nothing.
std::string nfc(std::string_view text);

}  // namespace rooftile
