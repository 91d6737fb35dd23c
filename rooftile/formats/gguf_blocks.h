// SPDX-License-Identifier: Apache-2.0
// The GGUF block types by DType: from a type known at run time to code compiled for its block, and
// whole rows decoded and quantised.
#pragma once

#include <cstdint>

#include "rooftile/base/api.h"
#include "rooftile/base/error.h"
#include "rooftile/core/dtype.h"
#include "rooftile/formats/gguf_q2_k.h"
#include "rooftile/formats/gguf_q3_k.h"
#include "rooftile/formats/gguf_q4.h"
#include "rooftile/formats/gguf_q4_k.h"
#include "rooftile/formats/gguf_q5.h"
#include "rooftile/formats/gguf_q5_k.h"
#include "rooftile/formats/gguf_q6_k.h"
#include "rooftile/formats/gguf_q8.h"

namespace ROOFTILE_API rooftile {

/// visit(Block{}) for the block of a GGUF type. Throws Error(internal) for any other type.
template <class Visit>
decltype(auto) with_block_type(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::q4_0:
      return visit(q4_0{});
    case DType::q4_1:
      return visit(q4_1{});
    case DType::q5_0:
      return visit(q5_0{});
    case DType::q5_1:
      return visit(q5_1{});
    case DType::q8_0:
      return visit(q8_0{});
    case DType::q2_k:
      return visit(q2_k{});
    case DType::q3_k:
      return visit(q3_k{});
    case DType::q4_k:
      return visit(q4_k{});
    case DType::q5_k:
      return visit(q5_k{});
    case DType::q6_k:
      return visit(q6_k{});
    default:
      throw Error(ErrorCode::internal, std::string(name(dtype)) + " is no block type");
  }
}

/// All elements of a block.
template <class Block>
ROOFTILE_HD constexpr void dequantise(const Block& block, float* values) {
  for (int i = 0; i < Block::kElements; ++i) values[i] = block.value(i);
}

/// The first n elements of the blocks at `data`, which need no alignment.
void dequantise_blocks(DType dtype, const void* data, std::int64_t n, float* values);

/// Quantises n values to blocks at `data`; each format's header says how. Throws Error(bad_input)
/// when n is no multiple of the block.
void quantise_blocks(DType dtype, const float* values, std::int64_t n, void* data);

}  // namespace rooftile
