// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/json.h"

#include <string>

#include "rooftile/base/error.h"

namespace rooftile {

// Up to where the text is JSON, the depth here is the parser's; it reads no further than that.
void check_json_depth(std::string_view text) {
  constexpr int kMostDepth = 64;
  int depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      is_in_string = c != '"';
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if ((c == '[' || c == '{') && ++depth > kMostDepth) {
      fail_input("JSON nested deeper than " + std::to_string(kMostDepth));
    }
  }
}

Json parse_json(std::string_view text) {
  check_json_depth(text);
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::exception& error) {
    fail_input(error.what());
  }
}

}  // namespace rooftile
