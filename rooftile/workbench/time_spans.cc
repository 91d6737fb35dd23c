// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/time_spans.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace rooftile {
namespace {

struct Edge {
  double at_us;
  bool is_end;
  std::size_t span;
};

}  // namespace

// Sweeps the edges in order. `claimed` is what a span that had been open all the time would own:
// a span's share is what it grows by between its two edges.
SharedTime share_out(std::span<const TimeSpan> spans) {
  std::vector<Edge> edges;
  edges.reserve(2 * spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    edges.push_back({spans[i].start_us, false, i});
    edges.push_back({spans[i].end_us, true, i});
  }
  // Starts come first, so that a span without length is opened before it is closed.
  std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
    return std::tuple(a.at_us, a.is_end) < std::tuple(b.at_us, b.is_end);
  });
  SharedTime result{.union_us = 0, .shares_us = std::vector<double>(spans.size())};
  double claimed = 0;
  double last = 0;
  std::size_t open = 0;
  for (const Edge& edge : edges) {
    if (open > 0) {
      claimed += (edge.at_us - last) / static_cast<double>(open);
      result.union_us += edge.at_us - last;
    }
    last = edge.at_us;
    double& share = result.shares_us[edge.span];
    share = edge.is_end ? claimed + share : -claimed;
    open = edge.is_end ? open - 1 : open + 1;
  }
  return result;
}

}  // namespace rooftile
