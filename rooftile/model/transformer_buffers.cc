// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/transformer_buffers.h"

#include <algorithm>

namespace rooftile {
namespace {

DeviceMemory floats(Device& device, std::int64_t rows, std::int64_t cols) {
  return {device, rows * cols * std::int64_t{sizeof(float)}};
}

// Of the values between the operations of a layer, those that one block needs at once.
std::int64_t block_cols(const ModelConfig& c) {
  return std::max(2 * (c.heads + c.kv_heads) * c.head_dim, 2 * c.ffn);
}

float* after(float* buffer, std::int64_t rows, std::int64_t cols) { return buffer + rows * cols; }

PassIntegers split(void* memory, std::int64_t tokens, std::int64_t sequences,
                   std::int64_t max_pages) {
  auto* next = static_cast<std::int32_t*>(memory);
  const auto take = [&](std::int64_t count) { return std::exchange(next, next + count); };
  return {.ids = take(tokens),
          .positions = take(tokens),
          .slots = take(tokens),
          .starts = take(sequences + 1),
          .lengths = take(sequences),
          .page_table = take(sequences * max_pages),
          .rows = take(tokens),
          .max_pages = max_pages};
}

}  // namespace

PassBuffers::PassBuffers(Device& device, const ModelConfig& c, const TransformerOptions& options,
                         const KvCache& cache)
    : vocab(c.vocab),
      hidden_memory(floats(device, options.most_tokens, 2 * c.hidden)),
      x(static_cast<float*>(hidden_memory.data())),
      normed(after(x, options.most_tokens, c.hidden)),
      block_memory(floats(device, options.most_tokens, block_cols(c))),
      q(static_cast<float*>(block_memory.data())),
      k(after(q, options.most_tokens, c.heads * c.head_dim)),
      v(after(k, options.most_tokens, c.kv_heads * c.head_dim)),
      attended(after(v, options.most_tokens, c.kv_heads * c.head_dim)),
      gate(q),
      up(after(gate, options.most_tokens, c.ffn)),
      logits_memory(floats(device, options.most_tokens, c.vocab)),
      integer_memory(device, 4 * (4 * options.most_tokens + 2 * options.most_sequences + 1 +
                                  options.most_sequences * cache.pages_for(c.context))),
      integers(split(integer_memory.data(), options.most_tokens, options.most_sequences,
                     cache.pages_for(c.context))) {
  // What a table holds beyond a sequence's pages is never read, but must be readable.
  std::fill_n(integers.page_table, options.most_sequences * integers.max_pages, 0);
}

}  // namespace rooftile
