// SPDX-License-Identifier: Apache-2.0
// The typed call.
#include <array>
#include <string>

#include "rooftile/base/text.h"
#include "rooftile/op/call.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/rope/rope.h"

namespace rooftile {

void rope(Stream& stream, const TensorView& y, const TensorView& x, const TensorView& positions,
          const RopeOptions& options) {
  static constexpr std::array<const char*, 4> kScalings{"none", "linear", "llama3", "yarn"};
  const TensorView views[]{y, x, positions, options.freq_factors};
  const OptionValue values[]{
      {"pairing", options.pairing == RopePairing::half ? "half" : "interleaved"},
      {"rotary", std::to_string(options.rotary)},
      {"theta", shortest(options.theta)},
      {"scaling", kScalings.at(static_cast<std::size_t>(options.scaling))},
      {"factor", shortest(options.factor)},
      {"original_context", shortest(options.original_context)},
      {"low_freq_factor", shortest(options.low_freq_factor)},
      {"high_freq_factor", shortest(options.high_freq_factor)},
      {"beta_fast", shortest(options.beta_fast)},
      {"beta_slow", shortest(options.beta_slow)},
      {"attn_factor", shortest(options.attn_factor)},
      {"mscale", shortest(options.mscale)},
      {"mscale_all_dim", shortest(options.mscale_all_dim)}};
  call(catalogue(), "rope", stream, views, values);
}

}  // namespace rooftile
