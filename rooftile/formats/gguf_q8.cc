// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/gguf_q8.h"

#include "rooftile/formats/block.h"
#include "rooftile/formats/gguf_fit.h"

namespace rooftile {

q8_0 q8_0::quantise(const float* values) {
  q8_0 block{.d = to_gguf_scale(finite_amax({values, kElements}) / 127), .q = {}};
  for (int i = 0; i < kElements; ++i)
    block.q[i] = static_cast<int8_t>(gguf_code(values[i], static_cast<float>(block.d), -127, 127));
  return block;
}

}  // namespace rooftile
