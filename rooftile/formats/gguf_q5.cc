// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/gguf_q5.h"

#include "rooftile/formats/gguf_fit.h"

namespace rooftile {
namespace {

template <class Block>
void set_code(Block& block, int i, int code) {
  uint8_t& low = block.q[i % 16];
  uint8_t& high = block.high[i / 8];
  low = static_cast<uint8_t>(low | (code & 15) << (i / 16 * 4));
  high = static_cast<uint8_t>(high | code >> 4 << (i % 8));
}

}  // namespace

q5_0 q5_0::quantise(const float* values) {
  q5_0 block{.d = to_gguf_scale(signed_amax({values, kElements}) / -16), .high = {}, .q = {}};
  for (int i = 0; i < kElements; ++i)
    set_code(block, i, gguf_code(values[i], static_cast<float>(block.d), -16, 15) + 16);
  return block;
}

q5_1 q5_1::quantise(const float* values) {
  const AffineFit fit = fit_affine({values, kElements}, 31);
  q5_1 block{.d = fit.d, .m = fit.m, .high = {}, .q = {}};
  for (int i = 0; i < kElements; ++i) set_code(block, i, fit.code(values[i], 31));
  return block;
}

}  // namespace rooftile
