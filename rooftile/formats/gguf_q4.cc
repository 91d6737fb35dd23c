// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/gguf_q4.h"

#include "rooftile/formats/gguf_fit.h"

namespace rooftile {
namespace {

void set_code(uint8_t* q, int i, int code) {
  q[i % 16] = static_cast<uint8_t>(q[i % 16] | code << (i / 16 * 4));
}

}  // namespace

q4_0 q4_0::quantise(const float* values) {
  q4_0 block{.d = to_gguf_scale(signed_amax({values, kElements}) / -8), .q = {}};
  for (int i = 0; i < kElements; ++i)
    set_code(block.q, i, gguf_code(values[i], static_cast<float>(block.d), -8, 7) + 8);
  return block;
}

q4_1 q4_1::quantise(const float* values) {
  const AffineFit fit = fit_affine({values, kElements}, 15);
  q4_1 block{.d = fit.d, .m = fit.m, .q = {}};
  for (int i = 0; i < kElements; ++i) set_code(block.q, i, fit.code(values[i], 15));
  return block;
}

}  // namespace rooftile
