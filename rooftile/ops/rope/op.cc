// SPDX-License-Identifier: Apache-2.0
// The declaration of rope.
#include "rooftile/op/op.h"

#include <cmath>

#include "rooftile/base/parallel.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/rope/cases.h"
#include "rooftile/ops/rope/frequencies.h"

namespace rooftile::ops::rope {
namespace {

void meaning(const Problem& problem, Values& values) {
  const std::vector<double> turns = frequencies(problem);
  const double factor = attention_factor(problem);
  const bool is_half = problem.option("pairing") == "half";
  const auto pairs = static_cast<std::int64_t>(turns.size());
  const std::int64_t heads = problem.axis("heads");
  const std::int64_t head_dim = problem.axis("head_dim");
  const Array& positions = values["positions"];
  const Array* const factors = problem.has("freq_factors") ? &values["freq_factors"] : nullptr;
  const Array& x = values["x"];
  Array& y = values["y"];
  y.values = x.values;
  y.magnitude.assign(x.values.size(), 0);
  for_each_row(problem.axis("tokens"), heads * head_dim, [&](std::int64_t t) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      double angle = positions[t] * turns[static_cast<std::size_t>(i)];
      if (factors != nullptr) angle /= (*factors)[i];
      const double c = factor * std::cos(angle);
      const double s = factor * std::sin(angle);
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t head = (t * heads + h) * head_dim;
        const std::int64_t a = head + (is_half ? i : 2 * i);
        const std::int64_t b = head + (is_half ? i + pairs : 2 * i + 1);
        y[a] = x[a] * c - x[b] * s;
        y[b] = x[b] * c + x[a] * s;
        for (const std::int64_t j : {a, b})
          y.magnitude[static_cast<std::size_t>(j)] = factor * (std::abs(x[a]) + std::abs(x[b]));
      }
    }
  });
}

// The elements that are not rotated are copied, but for a call in place.
Cost cost(const Problem& problem, const Values*) {
  const auto tokens = static_cast<double>(problem.axis("tokens"));
  const auto heads = static_cast<double>(problem.axis("heads"));
  const auto head_dim = static_cast<double>(problem.axis("head_dim"));
  const auto rotary = static_cast<double>(rotary_of(problem));
  const bool is_in_place = !problem.arg("y").alias.empty();
  const double share = is_in_place && head_dim > 0 ? rotary / head_dim : 1;
  Cost cost;
  cost[Unit::fp32] = tokens * heads * rotary * 3;  // two products and a sum
  cost[Unit::special] = tokens * rotary;           // a sine and a cosine a pair
  cost.bytes_read =
      problem.bytes("x") * share + problem.bytes("positions") + problem.bytes("freq_factors");
  cost.bytes_written = problem.bytes("y") * share;
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  Tolerance bound = sum_tolerance(problem.dtype(output), DType::f32, 2);
  bound.reason += "; the angle is exact to f32, whatever the position";
  return bound;
}

std::string invalid(const Problem& problem) {
  const std::int64_t rotary = rotary_of(problem);
  const std::int64_t head_dim = problem.axis("head_dim");
  if (rotary > head_dim)
    return "rotary=" + std::to_string(rotary) +
           " is more than head_dim=" + std::to_string(head_dim);
  if (rotary % 2 != 0)
    return "rotary (head_dim where 0) is " + std::to_string(rotary) + ", must be even";
  if (problem.has("freq_factors") && problem.axis("pairs") != rotary / 2)
    return "freq_factors has " + std::to_string(problem.axis("pairs")) + " elements, needs " +
           std::to_string(rotary / 2) + " (axis 'pairs', half of the rotated elements)";
  if (problem.option("scaling") == "llama3" &&
      problem.number("high_freq_factor") <= problem.number("low_freq_factor"))
    return "high_freq_factor must exceed low_freq_factor";
  if (problem.option("scaling") == "yarn" && problem.number("theta") <= 1)
    return "scaling=yarn needs a theta above 1";
  return "";
}

// A run of positions, as in a prompt; uniform: each its own, as in a batch of requests; extreme:
// the ends of the type, a million, and negative ones, which turn back.
void generate_positions(const Problem& problem, const Rng& rng, const Values&,
                        std::vector<double>& positions) {
  const double ends[]{0, 1, 1e6, 1048575, 2147483647, -7, -2147483648.0};
  const auto start = static_cast<double>(rng.below(0, 8192));
  for (std::size_t t = 0; t < positions.size(); ++t)
    positions[t] = problem.data == "zeros"     ? 0
                   : problem.data == "uniform" ? static_cast<double>(rng.below(t, 131072))
                   : problem.data == "extreme" ? ends[t % 7]
                                               : start + static_cast<double>(t);
}

void generate_freq_factors(const Problem&, const Rng& rng, const Values&,
                           std::vector<double>& factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = 1 + 31 * rng.uniform(i);
}

double extreme_limit(const Problem& problem, const ArgChoice&) {
  return info(problem.dtype("y")).max_finite / 4 / attention_factor(problem);
}

std::vector<OptionDef> options() {
  const auto number = [](const char* name, const char* value, const char* help, double least,
                         double greatest) {
    return OptionDef{
        .name = name, .default_value = value, .help = help, .least = least, .greatest = greatest};
  };
  return {{.name = "pairing",
           .kind = OptionKind::choice,
           .default_value = "half",
           .help = "pair i is (i, i + rotary/2), or (2i, 2i + 1)",
           .choices = {"half", "interleaved"}},
          {.name = "rotary",
           .kind = OptionKind::integer,
           .default_value = "0",
           .help = "leading elements of a head that are rotated; 0: all",
           .least = 0,
           .greatest = 1 << 20},
          number("theta", "10000", "base of the frequencies", 1, 1e12),
          {.name = "scaling",
           .kind = OptionKind::choice,
           .default_value = "none",
           .help = "how frequencies change for a longer context",
           .choices = {"none", "linear", "llama3", "yarn"}},
          number("factor", "1", "how much longer the context is", 1, 1e6),
          number("original_context", "8192", "tokens trained on (llama3, yarn)", 1, 1e9),
          number("low_freq_factor", "1", "llama3: fewer rotations are divided", 0, 1e6),
          number("high_freq_factor", "4", "llama3: more rotations are kept", 0, 1e6),
          number("beta_fast", "32", "yarn: more rotations are kept", 1e-3, 1e6),
          number("beta_slow", "1", "yarn: fewer rotations are divided", 1e-3, 1e6),
          number("attn_factor", "0", "multiplies the result; 0: by the formula", 0, 100),
          number("mscale", "0", "yarn: of attn_factor's formula", 0, 100),
          number("mscale_all_dim", "0", "yarn: of attn_factor's formula", 0, 100)};
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/rope/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "rope",
    .summary = "Rotary position embedding",
    .formula =
        "(y_a, y_b) = attn_factor * (x_a cos t - x_b sin t, x_b cos t + x_a sin t), t = position * "
        "frequency_i / freq_factors_i",
    .source =
        "Su and others, 2021; linear: Chen and others, 2023; llama3: Meta's reference code; yarn: Peng "
        "and others, 2023, as in Hugging Face",
    .axes = {{"tokens", "independent tokens"},
             {"heads", "of a token, all rotated alike"},
             {"head_dim", "elements of a head", 2},
             {"pairs", "rotated pairs, where freq_factors are given", 0, 0}},
    .args = {out("y", {"tokens", "heads", "head_dim"}).like("x").alias({"x"}),
             in("x", {"tokens", "heads", "head_dim"}),
             in("positions", {"tokens"})
                 .types({DType::i32})
                 .data(generate_positions)
                 .help("of each token; negative ones turn back"),
             in("freq_factors", {"pairs"})
                 .types({DType::f32})
                 .optional()
                 .data(generate_freq_factors)
                 .help("divide the frequencies; positive")},
    .options = options(),
    .batch_axis = "tokens",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .invalid = invalid,
    .extreme_limit = extreme_limit,
    .cases = cases(),
    .why_these_inputs =
        "At position 0 every convention agrees, so positions start beyond it; with extreme data they "
        "reach the ends of the type, where an angle in f32 has no correct digit. Heads are of 6 to 256 "
        "elements, rotated whole or in part, in both pairings; tokens are slices of one qkv buffer; "
        "each scaling has parameters at which its bands differ.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/rope/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::rope
