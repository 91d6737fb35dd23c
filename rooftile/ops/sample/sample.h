// SPDX-License-Identifier: Apache-2.0
// Token sampling, a request a row, every parameter in memory. In this order:
//
//   1 penalties    repetition (Keskar and others, "CTRL", 2019), then frequency and presence
//   (OpenAI) 2 temperature  below 1e-5 the largest logit is taken and what follows is off, as in
//   vLLM 3 top-k        the k largest; of equal ones those with the lowest ids 4 top-p        a
//   token is kept while the mass before it, largest first, is below top_p 5 min-p        a token is
//   kept if its probability is at least min_p of the largest 6 the draw     the first id at which
//   the sum of kept probabilities, in the order of ids, exceeds
//                  a uniform number in [0, 1) that depends on the row's seed and step alone
//
// Each filter sees what the ones before it kept, renormalised. This is Hugging Face's order; vLLM
// has min-p before top-k, llama.cpp temperature last.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// All [rows] and f32, absent for off, but for top_k and history.
struct SampleParameters {
  TensorView temperature{};  // at least 0; absent: 1
  TensorView top_k{};        // i32; 0 and less: off
  TensorView top_p{};        // in [0, 1]; 1: off, 0: the largest alone
  TensorView min_p{};        // in [0, 1]; 0: off
  TensorView history{};      // [rows, history] i32: earlier tokens; ids outside [0, cols): none
  TensorView repetition{};   // above 0; 1: off. Divides positive logits of history's tokens,
                             // multiplies others
  TensorView presence{};     // subtracted once for each token in history
  TensorView frequency{};    // subtracted for each time that it stands there
};

/// ids: [rows] i32; logits: [rows, cols], f32, bf16 or fp16; seeds, steps: [rows] i64. A row's id
/// depends on nothing but that row. It is -1, and nothing is drawn, where a parameter is out of its
/// range or NaN, and where the logits have a NaN, a +infinity or nothing above -infinity; else it
/// is an id of positive probability. Throws Error(bad_input) for shapes that do not agree.
void sample(Stream& stream, const TensorView& ids, const TensorView& logits,
            const TensorView& seeds, const TensorView& steps,
            const SampleParameters& parameters = {});

}  // namespace rooftile
