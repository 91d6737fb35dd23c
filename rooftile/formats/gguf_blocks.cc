// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/gguf_blocks.h"

#include <algorithm>
#include <cstring>

namespace rooftile {

void dequantise_blocks(DType dtype, const void* data, std::int64_t n, float* values) {
  with_block_type(dtype, [&](auto block) {
    constexpr std::int64_t kElements = decltype(block)::kElements;
    const char* at = static_cast<const char*>(data);
    for (std::int64_t first = 0; first < n; first += kElements, at += sizeof block) {
      std::memcpy(&block, at, sizeof block);
      const auto count = static_cast<int>(std::min(kElements, n - first));
      for (int i = 0; i < count; ++i) values[first + i] = block.value(i);
    }
  });
}

void quantise_blocks(DType dtype, const float* values, std::int64_t n, void* data) {
  (void)bytes_of(dtype, n);  // refuses a part of a block
  with_block_type(dtype, [&](auto block) {
    using Block = decltype(block);
    char* at = static_cast<char*>(data);
    for (std::int64_t first = 0; first < n; first += Block::kElements, at += sizeof block) {
      block = Block::quantise(values + first);
      std::memcpy(at, &block, sizeof block);
    }
  });
}

}  // namespace rooftile
