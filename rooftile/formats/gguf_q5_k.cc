// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/gguf_q5_k.h"

#include "rooftile/formats/gguf_fit.h"

namespace rooftile {

q5_k q5_k::quantise(const float* values) {
  const MinFit fit = fit_with_min(std::span<const float, 256>(values, kElements), 32, 31, 63);
  q5_k block{.d = fit.d, .dmin = fit.dmin, .scales = {}, .high = {}, .q = {}};
  for (int j = 0; j < 8; ++j) {
    const auto at = static_cast<std::size_t>(j);
    block.scales.set(j, fit.scale.at(at), fit.min.at(at));
  }
  for (int i = 0; i < kElements; ++i) {
    const int code = fit.code(values[i], i / 32, 31);
    uint8_t& low = block.q[q4_k::byte_of(i)];
    uint8_t& high = block.high[i % 32];
    low = static_cast<uint8_t>(low | (code & 15) << q4_k::shift_of(i));
    high = static_cast<uint8_t>(high | code >> 4 << (i / 32));
  }
  return block;
}

}  // namespace rooftile
