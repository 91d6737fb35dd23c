// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any bytes as tokenizer.json either make a tokenizer, which then encodes a text and
// gives its bytes back in some form, or fail with Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rooftile/base/error.h"
#include "rooftile/model/tokenizer.h"
#include "rooftile/model/tokenizer_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  try {
    const auto tokenizer = rooftile::make_tokenizer(rooftile::tokenizer_data_from_json(json));
    for (const bool parse_special : {false, true}) {
      const auto ids = tokenizer->encode("Hello  <s>w\xC3\xB6rld</s> 12345\n\xFF\xFE a",
                                         {.parse_special = parse_special});
      static_cast<void>(tokenizer->decode(ids));
    }
  } catch (const rooftile::Error&) {
  }
  return 0;
}
