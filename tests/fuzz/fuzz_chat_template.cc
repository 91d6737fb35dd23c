// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any bytes as a chat template either render a conversation, or fail with Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rooftile/base/error.h"
#include "rooftile/model/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  try {
    const rooftile::ChatTemplate chat(source);
    static_cast<void>(chat.render({{.role = "system", .content = "s"},
                                   {.role = "user", .content = " a<think>b</think>\xC3\xA9 "},
                                   {.role = "assistant", .content = "c"}},
                                  {.tools_json = R"([{"function": {"name": "f"}}])", .now_s = 0}));
  } catch (const rooftile::Error&) {
  }
  return 0;
}
