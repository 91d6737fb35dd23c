// SPDX-License-Identifier: Apache-2.0
// Pieces cover a matrix once, whatever its shape.
#include "rooftile/device/cpu/pieces.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/device/cpu/cpu_device.h"

namespace rooftile {
namespace {

TEST(Pieces, CoverEveryElementOnce) {
  const auto device = make_cpu_device(2);
  const auto stream = device->make_stream();
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, kPieceElements}, {2, kPieceElements + 1}, {40000, 1}, {7, 5000}}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(rows * cols));
    for_each_piece(*stream, rows, cols,
                   [&](std::int64_t row, std::int64_t begin, std::int64_t end) {
                     for (std::int64_t c = begin; c < end; ++c)
                       ++seen[static_cast<std::size_t>(row * cols + c)];
                   });
    stream->synchronise();
    EXPECT_TRUE(std::ranges::all_of(seen, [](const auto& times) { return times == 1; }))
        << rows << " x " << cols;
  }
}

TEST(Pieces, OfNothingAreNone) {
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  const auto never = [](std::int64_t, std::int64_t, std::int64_t) { FAIL(); };
  for_each_piece(*stream, 0, 5, never);
  for_each_piece(*stream, 5, 0, never);
}

}  // namespace
}  // namespace rooftile
