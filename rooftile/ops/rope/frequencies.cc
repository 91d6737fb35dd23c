// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/rope/frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rooftile::ops::rope {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

// Llama 3.1's reference code: wavelengths beyond original/low are divided, those below
// original/high kept; between, the share that is kept grows linearly in original/wavelength.
double llama3(const Problem& problem, double frequency) {
  const double low = problem.number("low_freq_factor");
  const double high = problem.number("high_freq_factor");
  const double rotations = problem.number("original_context") * frequency / kTwoPi;
  const double kept = std::clamp((rotations - low) / (high - low), 0.0, 1.0);
  return frequency * (kept + (1 - kept) / problem.number("factor"));
}

// The pair, as a real number, that turns `rotations` times within the original context (YaRN's
// paper, section 3.2).
double pair_of(const Problem& problem, double rotations) {
  return static_cast<double>(rotary_of(problem)) *
         std::log(problem.number("original_context") / (rotations * kTwoPi)) /
         (2 * std::log(problem.number("theta")));
}

// YaRN as in Hugging Face's implementation: a ramp between whole pairs, which differs from the
// paper's by the rounding of its ends.
void apply_yarn(const Problem& problem, std::vector<double>& frequencies) {
  const auto last = static_cast<double>(rotary_of(problem) - 1);
  const double low = std::max(std::floor(pair_of(problem, problem.number("beta_fast"))), 0.0);
  double high = std::min(std::ceil(pair_of(problem, problem.number("beta_slow"))), last);
  if (low == high) high += 0.001;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double divided = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] *= 1 - divided + divided / problem.number("factor");
  }
}

}  // namespace

std::int64_t rotary_of(const Problem& problem) {
  const auto rotary = static_cast<std::int64_t>(problem.number("rotary"));
  return rotary > 0 ? rotary : problem.axis("head_dim");
}

std::vector<double> frequencies(const Problem& problem) {
  const std::int64_t rotary = rotary_of(problem);
  const std::string_view scaling = problem.option("scaling");
  std::vector<double> list;
  for (std::int64_t i = 0; i < rotary / 2; ++i) {
    const double exponent = -2 * static_cast<double>(i) / static_cast<double>(rotary);
    const double frequency = std::pow(problem.number("theta"), exponent);
    list.push_back(scaling == "linear"   ? frequency / problem.number("factor")
                   : scaling == "llama3" ? llama3(problem, frequency)
                                         : frequency);
  }
  if (scaling == "yarn") apply_yarn(problem, list);
  return list;
}

double attention_factor(const Problem& problem) {
  if (const double given = problem.number("attn_factor"); given > 0) return given;
  const double factor = problem.number("factor");
  if (problem.option("scaling") != "yarn" || factor <= 1) return 1;
  const auto scale = [&](double mscale) { return 0.1 * mscale * std::log(factor) + 1; };
  const double mscale = problem.number("mscale");
  const double all_dim = problem.number("mscale_all_dim");
  return mscale > 0 && all_dim > 0 ? scale(mscale) / scale(all_dim) : scale(1);
}

}  // namespace rooftile::ops::rope
