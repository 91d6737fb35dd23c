// SPDX-License-Identifier: Apache-2.0
// The steps one after the other in double, with the whole row sorted: the first rung of the ladder.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/sample/settings.h"

namespace rooftile::ops::sample {
namespace {

// A row's working memory.
struct Scratch {
  std::span<double> weights;
  std::span<float> logits;
  std::span<std::int32_t> ids;  // counts, then the order

  static constexpr std::int64_t kBytesOfElement = 16;
  Scratch(void* memory, std::int64_t cols) {
    const auto n = static_cast<std::size_t>(cols);
    weights = {static_cast<double*>(memory), n};
    logits = {reinterpret_cast<float*>(weights.data() + n), n};
    ids = {reinterpret_cast<std::int32_t*>(logits.data() + n), n};
  }
};

void load_logits(const Scratch& row, const TensorView& logits, const Parameters& parameters,
                 const Settings& settings, std::int64_t r) {
  const auto cols = static_cast<std::int64_t>(row.logits.size());
  for (std::int64_t c = 0; c < cols; ++c)
    row.logits[static_cast<std::size_t>(c)] =
        load_float(logits, r * logits.stride(0) + c * logits.stride(1));
  std::ranges::fill(row.ids, 0);
  for (std::int64_t i = 0; i < parameters.history_length(); ++i)
    if (const std::int32_t id = parameters.history_at(r, i); id >= 0 && id < cols)
      ++row.ids[static_cast<std::size_t>(id)];
  for (std::size_t c = 0; c < row.logits.size(); ++c)
    if (row.ids[c] > 0) row.logits[c] = settings.penalised(row.logits[c], row.ids[c]);
}

// Tokens, in order, that top-k and top-p keep.
std::size_t kept(const Scratch& row, const Settings& settings) {
  const auto weight = [&](std::size_t i) {
    return row.weights[static_cast<std::size_t>(row.ids[i])];
  };
  const auto most = static_cast<std::size_t>(
      settings.kept_by_top_k(static_cast<std::int64_t>(row.logits.size())));
  if (settings.top_p >= 1) return most;
  double total = 0;
  for (std::size_t i = 0; i < most; ++i) total += weight(i);
  const double limit = (double{settings.top_p} - kTopPSlack) * total;
  double before = weight(0);
  std::size_t count = 1;
  for (; count < most && before < limit; ++count) before += weight(count);
  return count;
}

std::int32_t draw(const Scratch& row, const Settings& settings, float largest) {
  for (std::size_t c = 0; c < row.logits.size(); ++c)
    row.weights[c] = std::exp((double{row.logits[c]} - largest) / settings.temperature);
  std::iota(row.ids.begin(), row.ids.end(), 0);
  std::ranges::sort(row.ids, [&](std::int32_t a, std::int32_t b) {
    const float x = row.logits[static_cast<std::size_t>(a)];
    const float y = row.logits[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  });
  for (std::size_t i = kept(row, settings); i < row.ids.size(); ++i)
    row.weights[static_cast<std::size_t>(row.ids[i])] = 0;
  const double least = settings.least_logit(largest);
  double total = 0;
  for (std::size_t c = 0; c < row.logits.size(); ++c) {
    if (row.logits[c] < least) row.weights[c] = 0;
    total += row.weights[c];
  }
  const double target = settings.uniform() * total;
  double sum = 0;
  std::size_t chosen = 0;
  for (std::size_t c = 0; c < row.logits.size() && sum <= target; ++c) {
    if (row.weights[c] > 0) chosen = c;
    sum += row.weights[c];
  }
  return static_cast<std::int32_t>(chosen);
}

std::int32_t id_of(const Scratch& row, const Settings& settings) {
  const auto cannot_be = [](float logit) { return std::isnan(logit) || logit == HUGE_VALF; };
  if (!settings.is_valid() || std::ranges::any_of(row.logits, cannot_be)) return kNoToken;
  const auto largest = std::ranges::max_element(row.logits);
  if (*largest == -HUGE_VALF) return kNoToken;
  if (settings.is_greedy()) return static_cast<std::int32_t>(largest - row.logits.begin());
  return draw(row, settings, *largest);
}

void run(const Context& context, const Arguments& args) {
  const TensorView& ids = args["ids"];
  const TensorView& logits = args["logits"];
  const Parameters parameters(args);
  const std::int64_t cols = logits.extent(1);
  context.stream->launch(ids.extent(0), [&](std::int64_t r) {
    const Settings settings = parameters.of(r);
    auto* memory = static_cast<char*>(context.workspace) + r * cols * Scratch::kBytesOfElement;
    const Scratch row(memory, cols);
    load_logits(row, logits, parameters, settings, r);
    ids.as<std::int32_t>()[r * ids.stride(0)] = id_of(row, settings);
  });
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  return {
      .run = run,
      .workspace_bytes = problem.axis("rows") * problem.axis("cols") * Scratch::kBytesOfElement};
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "sample",
    .name = "cpu_plain",
    .idea = "the steps in double, with the whole row sorted",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = prepare,
};

}  // namespace rooftile::ops::sample
