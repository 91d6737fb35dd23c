// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/gguf_q2_k.h"

#include "rooftile/formats/gguf_fit.h"

namespace rooftile {

q2_k q2_k::quantise(const float* values) {
  const MinFit fit = fit_with_min(std::span<const float, 256>(values, kElements), 16, 3, 15);
  q2_k block{.scales = {}, .q = {}, .d = fit.d, .dmin = fit.dmin};
  for (std::size_t j = 0; j < 16; ++j)
    block.scales[j] = static_cast<uint8_t>(fit.scale.at(j) | fit.min.at(j) << 4);
  for (int i = 0; i < kElements; ++i) {
    uint8_t& byte = block.q[byte_of(i)];
    byte = static_cast<uint8_t>(byte | fit.code(values[i], i / 16, 3) << shift_of(i));
  }
  return block;
}

}  // namespace rooftile
