// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/generate_ragged.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rooftile {
namespace {

constexpr std::int64_t kFewKeysEvery = 8;  // of sequences: any length, whatever its rows
constexpr std::int64_t kWrongLengthEvery = 5;
constexpr std::int64_t kWrongPageEvery = 7;

bool is_even(const Problem& problem) { return problem.data == "uniform"; }
bool is_extreme(const Problem& problem) { return problem.data == "extreme"; }

std::vector<std::int64_t> permutation(const Rng& rng, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(rng.below(i, static_cast<std::int64_t>(i)))]);
  return order;
}

std::int64_t wrong_page(const Rng& rng, std::uint64_t i, std::int64_t pages) {
  const std::int64_t wrong[]{pages, -1, 0x7fffffff, -0x7fffffff - 1};
  return wrong[rng.below(i, 4)];
}

}  // namespace

Generator ragged_offsets(std::string rows_axis) {
  return [rows_axis = std::move(rows_axis)](const Problem& problem, const Rng& rng, const Values&,
                                            std::vector<double>& offsets) {
    const std::int64_t rows = problem.axis(rows_axis);
    const auto parts = static_cast<std::int64_t>(offsets.size()) - 1;
    for (std::int64_t i = 0; i <= parts; ++i) {
      const bool is_random = rows > parts && !is_even(problem) && i > 0 && i < parts;
      const double share =
          static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(parts, 1));
      offsets[static_cast<std::size_t>(i)] =
          is_random
              ? static_cast<double>(rng.below(static_cast<std::uint64_t>(i), rows + 1))
              : static_cast<double>(static_cast<std::int64_t>(share * static_cast<double>(rows)));
    }
    std::ranges::sort(offsets);
    if (is_extreme(problem) && problem.seed % 2 == 1 && parts > 0) {
      offsets.front() = static_cast<double>(rows) + 1;
      offsets.back() = -1;
    }
  };
}

Generator ragged_lengths(std::string offsets_arg,
                         std::function<std::int64_t(const Problem&)> capacity) {
  return [offsets_arg = std::move(offsets_arg), capacity = std::move(capacity)](
             const Problem& problem, const Rng& rng, const Values& earlier,
             std::vector<double>& lengths) {
    const Array& offsets = earlier[offsets_arg];
    const std::int64_t most = capacity(problem);
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      const auto i = static_cast<std::int64_t>(s);
      const auto rows =
          std::clamp<std::int64_t>(static_cast<std::int64_t>(offsets[i + 1] - offsets[i]), 0, most);
      const bool has_few = rng.below(2 * s, kFewKeysEvery) == 0;
      const std::int64_t least = has_few ? 0 : rows;
      std::int64_t length = least + rng.below(2 * s + 1, most - least + 1);
      if (is_even(problem)) length = most;
      if (is_extreme(problem) && i % kWrongLengthEvery == kWrongLengthEvery - 1)
        length = rng.below(s, 2) == 0 ? -1 : most + 1;
      lengths[s] = static_cast<double>(length);
    }
  };
}

Generator page_table(std::string lengths_arg, std::string page_size_axis, std::string pages_axis) {
  return [=](const Problem& problem, const Rng& rng, const Values& earlier,
             std::vector<double>& table) {
    const Array& lengths = earlier[lengths_arg];
    const std::int64_t pages = problem.axis(pages_axis);
    const std::int64_t page_size = problem.axis(page_size_axis);
    const std::vector<std::int64_t> order = permutation(rng, pages);
    const auto sequences = static_cast<std::int64_t>(lengths.values.size());
    const std::int64_t row =
        sequences > 0 ? static_cast<std::int64_t>(table.size()) / sequences : 0;
    std::uint64_t used = 0;
    for (std::int64_t s = 0; s < sequences; ++s)
      for (std::int64_t p = 0; p < row; ++p) {
        double& id = table[static_cast<std::size_t>(s * row + p)];
        id = -1;
        if (static_cast<double>(p * page_size) >= lengths[s]) continue;
        if (pages > 0) id = static_cast<double>(order[used % order.size()]);
        ++used;
        const std::uint64_t draw = (1ULL << 32) + used;
        if (is_extreme(problem) && rng.below(draw, kWrongPageEvery) == 0)
          id = static_cast<double>(wrong_page(rng, draw + 1, pages));
      }
  };
}

}  // namespace rooftile
