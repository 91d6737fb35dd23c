// SPDX-License-Identifier: Apache-2.0
// Radix selection: a histogram of the leading 11 bits tells in which bin the cut lies, one of the
// next 11 bits among that bin's elements narrows it, one of the last 10 names the logit.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "rooftile/ops/sample/cpu_select_cut.h"

namespace rooftile::ops::sample {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;

// Unsigned, in the order of the floats; -0 is 0.
std::uint32_t key_of(float logit) {
  const auto bits = std::bit_cast<std::uint32_t>(logit + 0.0F);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
float logit_of(std::uint32_t key) {
  return std::bit_cast<float>((key & kSign) != 0 ? key & ~kSign : ~key);
}

constexpr int kMostBits = 11;

struct Bin {
  double mass = 0;
  std::int64_t count = 0;
};

// One level: `bits` bits of the keys that begin with `prefix`, from bit `shift` on.
struct Level {
  int shift;
  int bits;
};
constexpr std::array<Level, 3> kLevels{{{21, 11}, {10, 11}, {0, 10}}};

using Histogram = std::array<Bin, 1 << kMostBits>;

void count(Histogram& bins, std::span<const float> logits, std::span<const float> weights,
           std::uint32_t prefix, const Level& level) {
  bins.fill({});
  // At the first level every key has the (empty) prefix; a shift by 32 is undefined.
  const std::uint32_t mask =
      level.shift == kLevels[0].shift ? 0 : ~std::uint32_t{0} << (level.shift + level.bits);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const std::uint32_t key = key_of(logits[i]);
    if ((key & mask) != prefix) continue;
    Bin& bin = bins[key >> level.shift & ((1U << level.bits) - 1)];
    bin.mass += weights[i];
    ++bin.count;
  }
}

}  // namespace

Cut select(std::span<const float> logits, std::span<const float> weights, std::int64_t most,
           double limit) {
  Histogram bins;
  std::uint32_t prefix = 0;
  Bin taken;  // in the bins above
  Bin last;   // the bin that the cut lies in
  for (const Level& level : kLevels) {
    count(bins, logits, weights, prefix, level);
    // Downward to the bin that reaches a limit; should rounding let none, the lowest with elements.
    int lowest = 0;
    while (bins[static_cast<std::size_t>(lowest)].count == 0) ++lowest;
    int i = (1 << level.bits) - 1;
    for (; i > lowest; --i) {
      const Bin& bin = bins[static_cast<std::size_t>(i)];
      if (bin.count > 0 && (taken.count + bin.count >= most || taken.mass + bin.mass >= limit))
        break;
      taken.mass += bin.mass;
      taken.count += bin.count;
    }
    last = bins[static_cast<std::size_t>(i)];
    prefix |= static_cast<std::uint32_t>(i) << level.shift;
  }
  const double weight = last.mass / static_cast<double>(last.count);
  std::int64_t ties = std::min(last.count, most - taken.count);
  if (taken.mass + weight * static_cast<double>(ties) > limit)
    ties = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::ceil((limit - taken.mass) / weight)), 1, ties);
  return {.logit = logit_of(prefix),
          .ties = ties,
          .equal = last.count,
          .mass = taken.mass + weight * static_cast<double>(ties)};
}

}  // namespace rooftile::ops::sample
