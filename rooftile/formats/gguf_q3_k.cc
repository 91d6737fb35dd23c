// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/gguf_q3_k.h"

#include "rooftile/formats/gguf_fit.h"

namespace rooftile {
namespace {

void set_bits(uint8_t& byte, int bits, int shift) {
  byte = static_cast<uint8_t>(byte | bits << shift);
}

}  // namespace

q3_k q3_k::quantise(const float* values) {
  const SignedFit fit = fit_signed(std::span<const float, 256>(values, kElements), 4, 31);
  q3_k block{.high = {}, .q = {}, .scales = {}, .d = fit.d};
  for (int j = 0; j < 16; ++j) {
    const int stored = fit.scale.at(static_cast<std::size_t>(j)) + 32;
    set_bits(block.scales[j % 8], stored & 15, j / 8 * 4);
    set_bits(block.scales[8 + j % 4], stored >> 4, j / 4 * 2);
  }
  for (int i = 0; i < kElements; ++i) {
    const int code = fit.code(values[i], i / 16, -4, 3) + 4;
    set_bits(block.q[q2_k::byte_of(i)], code & 3, q2_k::shift_of(i));
    set_bits(block.high[i % 32], code >> 2, i / 32);
  }
  return block;
}

}  // namespace rooftile
