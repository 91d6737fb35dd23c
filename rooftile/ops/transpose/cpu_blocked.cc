// SPDX-License-Identifier: Apache-2.0
// Squares of 16 by 16 elements, which stay in the first-level cache between their rows and their
// columns, so that each cache line of both matrices is fetched once. A thread has a band of x.
#include <algorithm>

#include "rooftile/op/kernel.h"

namespace rooftile::ops::transpose {
namespace {

constexpr std::int64_t kBlock = 16;

// Why a buffer: its loops have constant bounds, which the compiler turns into vector shuffles.
template <class Bits>
void whole_block(Bits* y, std::int64_t y_stride, const Bits* x, std::int64_t x_stride) {
  Bits block[kBlock][kBlock];
  for (std::int64_t r = 0; r < kBlock; ++r)
    for (std::int64_t c = 0; c < kBlock; ++c) block[c][r] = x[r * x_stride + c];
  for (std::int64_t c = 0; c < kBlock; ++c) std::copy_n(block[c], kBlock, y + c * y_stride);
}

template <class Bits>
void run_as(Stream& stream, const TensorView& y_view, const TensorView& x_view) {
  const std::int64_t rows = x_view.extent(0);
  const std::int64_t cols = x_view.extent(1);
  const std::int64_t y_stride = y_view.stride(0);
  const std::int64_t x_stride = x_view.stride(0);
  stream.launch((rows + kBlock - 1) / kBlock, [&](std::int64_t band) {
    const std::int64_t first = band * kBlock;
    const std::int64_t last = std::min(first + kBlock, rows);
    for (std::int64_t col = 0; col < cols; col += kBlock) {
      const Bits* x = x_view.as<const Bits>() + first * x_stride + col;
      Bits* y = y_view.as<Bits>() + col * y_stride + first;
      if (last - first == kBlock && cols - col >= kBlock) {
        whole_block(y, y_stride, x, x_stride);
        continue;
      }
      for (std::int64_t r = 0; r < last - first; ++r)
        for (std::int64_t c = 0; c < std::min(kBlock, cols - col); ++c)
          y[c * y_stride + r] = x[r * x_stride + c];
    }
  });
}

void run(const Context& context, const Arguments& args) {
  if (info(args["x"].dtype).unit_bytes == 4)
    run_as<std::uint32_t>(*context.stream, args["y"], args["x"]);
  else
    run_as<std::uint16_t>(*context.stream, args["y"], args["x"]);
}

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"y", "x"})
    if (problem.arg(name).shape[1] > 1 && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  return supported();
}

}  // namespace

extern const KernelDef cpu_blocked;
const KernelDef cpu_blocked{
    .op = "transpose",
    .name = "cpu_blocked",
    .idea = "squares of 16 by 16 that stay in cache, a band of x a thread",
    .determinism = Determinism::repeatable,
    .supports = supports,
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::transpose
