// SPDX-License-Identifier: Apache-2.0
// The arithmetic of decode: every weight is read for each pass and each cached key and value for
// each token, while a token needs few operations; so the bandwidth sets the floor until the batch
// is large enough.
#include <algorithm>

#include "rooftile/workbench/profile_parts.h"

namespace rooftile {

std::optional<DecodeArithmetic> decode_arithmetic(const ProfiledModel& model,
                                                  const ProfilePhase& decode,
                                                  std::span<const TimedPass> passes,
                                                  const Ceilings& ceilings) {
  constexpr double kMicro = 1e6;
  const Cost cost = total_cost(passes);
  const double bandwidth = ceilings.bytes_per_s(0);
  if (bandwidth <= 0 || decode.tokens <= 0 || model.weight_bytes_per_token <= 0) return {};
  const auto tokens = static_cast<double>(decode.tokens);
  DecodeArithmetic result{.batch = tokens / static_cast<double>(decode.passes),
                          .weight_bytes = model.weight_bytes_per_token,
                          .kv_bytes = model.kv_bytes_per_token * static_cast<double>(model.context),
                          .ops = cost.total_ops() / tokens,
                          .read_bytes_per_s = bandwidth,
                          .context = model.context};
  const double bytes = result.weight_bytes + result.batch * result.kv_bytes;
  result.intensity = result.batch * result.ops / bytes;
  result.floor_us = bytes / bandwidth * kMicro;
  const Unit unit = main_unit(cost);
  const auto& peak = ceilings.units[static_cast<std::size_t>(unit)];
  if (cost[unit] > 0 && peak && peak->per_s > 0) {
    result.unit = name(unit);
    result.ridge = peak->per_s / bandwidth;
    result.compute_bound_batch = *result.ridge * result.weight_bytes / result.ops;
    result.floor_us = std::max(result.floor_us, result.batch * result.ops / peak->per_s * kMicro);
  }
  result.floor_tokens_per_s = result.batch / result.floor_us * kMicro;
  if (decode.clean_us) result.percent_of_floor = result.floor_us / decode.pass_us() * 100;
  return result;
}

}  // namespace rooftile
