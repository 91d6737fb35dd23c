// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/gguf_q6_k.h"

#include "rooftile/formats/gguf_fit.h"

namespace rooftile {

q6_k q6_k::quantise(const float* values) {
  const SignedFit fit = fit_signed(std::span<const float, 256>(values, kElements), 32, 127);
  q6_k block{.q = {}, .high = {}, .scales = {}, .d = fit.d};
  for (std::size_t j = 0; j < 16; ++j) block.scales[j] = static_cast<int8_t>(fit.scale.at(j));
  for (int i = 0; i < kElements; ++i) {
    const int code = fit.code(values[i], i / 16, -32, 31) + 32;
    uint8_t& low = block.q[low_byte(i)];
    uint8_t& high = block.high[high_byte(i)];
    low = static_cast<uint8_t>(low | (code & 15) << low_shift(i));
    high = static_cast<uint8_t>(high | code >> 4 << high_shift(i));
  }
  return block;
}

}  // namespace rooftile
