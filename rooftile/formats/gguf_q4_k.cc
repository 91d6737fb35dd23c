// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/gguf_q4_k.h"

#include "rooftile/formats/gguf_fit.h"

namespace rooftile {

q4_k q4_k::quantise(const float* values) {
  const MinFit fit = fit_with_min(std::span<const float, 256>(values, kElements), 32, 15, 63);
  q4_k block{.d = fit.d, .dmin = fit.dmin, .scales = {}, .q = {}};
  for (int j = 0; j < 8; ++j) {
    const auto at = static_cast<std::size_t>(j);
    block.scales.set(j, fit.scale.at(at), fit.min.at(at));
  }
  for (int i = 0; i < kElements; ++i) {
    uint8_t& byte = block.q[byte_of(i)];
    byte = static_cast<uint8_t>(byte | fit.code(values[i], i / 32, 15) << shift_of(i));
  }
  return block;
}

}  // namespace rooftile
