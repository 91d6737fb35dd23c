// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/sample/reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "rooftile/base/parallel.h"
#include "rooftile/ops/sample/settings.h"

namespace rooftile::ops::sample {
namespace {

Settings settings_of(const Problem& problem, const Values& values, std::int64_t r) {
  Settings row;
  const auto read = [&](auto& to, const char* name) {
    if (problem.has(name)) to = static_cast<std::remove_reference_t<decltype(to)>>(values[name][r]);
  };
  read(row.temperature, "temperature");
  read(row.top_k, "top_k");
  read(row.top_p, "top_p");
  read(row.min_p, "min_p");
  read(row.repetition, "repetition");
  read(row.presence, "presence");
  read(row.frequency, "frequency");
  read(row.seed, "seeds");
  read(row.step, "steps");
  return row;
}

std::vector<float> penalised_logits(const Problem& problem, const Values& values,
                                    const Settings& settings, std::int64_t r) {
  const std::int64_t cols = problem.axis("cols");
  std::vector<float> logits(static_cast<std::size_t>(cols));
  for (std::int64_t c = 0; c < cols; ++c)
    logits[static_cast<std::size_t>(c)] = static_cast<float>(values["logits"].at(r, c));
  if (!problem.has("history")) return logits;
  std::vector<std::int64_t> counts(logits.size());
  for (std::int64_t i = 0; i < problem.axis("history_length"); ++i)
    if (const double id = values["history"].at(r, i); id >= 0 && id < static_cast<double>(cols))
      ++counts[static_cast<std::size_t>(id)];
  for (std::size_t c = 0; c < logits.size(); ++c)
    if (counts[c] > 0) logits[c] = settings.penalised(logits[c], counts[c]);
  return logits;
}

bool can_be_drawn_from(const std::vector<float>& logits) {
  bool has_finite = false;
  for (const float logit : logits) {
    if (std::isnan(logit) || logit == HUGE_VALF) return false;
    has_finite |= logit != -HUGE_VALF;
  }
  return has_finite;
}

// One row's probabilities, not normalised, and their order.
struct Row {
  const Settings& settings;
  const std::vector<float>& logits;
  std::vector<std::size_t> order{};  // largest first, of equal ones the lowest id
  std::vector<double> weights{};     // of each id, 1 for the largest logit
  double slack = 0;  // of sums, relative: the rounding of f32 exponents, exponentials and sums

  Row(const Settings& row_settings, const std::vector<float>& row_logits)
      : settings(row_settings), logits(row_logits), order(logits.size()) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](auto a, auto b) { return logits[a] > logits[b]; });
    double sum = 0;
    double spread = 0;
    for (const float logit : logits) {
      const double exponent = (double{logit} - logits[order[0]]) / settings.temperature;
      weights.push_back(std::exp(exponent));
      sum += weights.back();
      if (weights.back() > 0) spread += weights.back() * std::abs(exponent);
    }
    constexpr double kRoundoff = 0x1p-24;
    constexpr double kOfSums = 64;
    slack = kRoundoff * (kOfSums + 3 * spread / sum);
  }

  // Tokens in `order` that top-k and top-p keep, with top-p's limit moved by `shift`.
  [[nodiscard]] std::size_t kept(double shift) const {
    const auto most =
        static_cast<std::size_t>(settings.kept_by_top_k(static_cast<std::int64_t>(logits.size())));
    if (settings.top_p >= 1) return most;
    double total = 0;
    for (std::size_t i = 0; i < most; ++i) total += weights[order[i]];
    const double limit = (double{settings.top_p} - kTopPSlack + shift) * total;
    double before = 0;
    for (std::size_t i = 0; i < most; ++i) {
      if (i > 0 && before >= limit) return i;
      before += weights[order[i]];
    }
    return most;
  }

  // The ids that a draw within `around` of the uniform number gives, of the first `count` in order;
  // `chosen` is that of the number itself.
  void draw(std::size_t count, double around, std::size_t& chosen, std::set<double>& right) const {
    const double least = settings.least_logit(logits[order[0]]);
    std::vector<bool> is_kept(logits.size());
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      is_kept[order[i]] = logits[order[i]] >= least && weights[order[i]] > 0;
      if (is_kept[order[i]]) total += weights[order[i]];
    }
    const double target = settings.uniform() * total;
    double sum = 0;
    bool is_found = false;
    for (std::size_t id = 0; id < logits.size(); ++id) {
      if (!is_kept[id]) continue;
      if (!is_found) chosen = id;  // the last one, should rounding leave the target beyond the sum
      const double next = sum + weights[id];
      is_found |= next > target;
      if (next > target - around * total && sum <= target + around * total)
        right.insert(static_cast<double>(id));
      sum = next;
    }
  }
};

}  // namespace

void meaning(const Problem& problem, Values& values) {
  Array& ids = values["ids"];
  ids.also_right.assign(ids.values.size(), {});
  for_each_row(problem.axis("rows"), problem.axis("cols"), [&](std::int64_t r) {
    const Settings settings = settings_of(problem, values, r);
    const std::vector<float> logits = penalised_logits(problem, values, settings, r);
    ids[r] = kNoToken;
    if (!settings.is_valid() || !can_be_drawn_from(logits)) return;
    if (settings.is_greedy()) {
      ids[r] = static_cast<double>(std::ranges::max_element(logits) - logits.begin());
      return;
    }
    const Row row(settings, logits);
    std::size_t chosen = 0;
    std::size_t other = 0;
    std::set<double> right;
    row.draw(row.kept(0), row.slack, chosen, right);
    // Cuts within the slack differ by no more mass than twice that, but for one token.
    for (const double shift : {-row.slack, row.slack})
      if (const std::size_t count = row.kept(shift); count != row.kept(0))
        row.draw(count, 4 * row.slack, other, right);
    ids[r] = static_cast<double>(chosen);
    ids.also_right[static_cast<std::size_t>(r)] = {right.begin(), right.end()};
  });
}

}  // namespace rooftile::ops::sample
