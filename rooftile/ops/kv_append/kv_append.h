// SPDX-License-Identifier: Apache-2.0
// Writes the keys and values of new tokens into a paged KV cache (Kwon et al., PagedAttention
// 2023).
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// k_cache, v_cache: [pages, page_size, kv_heads, head_dim], any strides; k, v: [tokens, kv_heads,
/// head_dim], converted to the caches' dtypes (f32, bf16 or fp16 each). slots: [tokens] i32 = page
/// * page_size + offset; a token whose slot is negative or beyond the cache is skipped. Slots must
/// differ: of two tokens with one slot either may be found there, or parts of both.
void kv_append(Stream& stream, const TensorView& k_cache, const TensorView& v_cache,
               const TensorView& k, const TensorView& v, const TensorView& slots);

}  // namespace rooftile
