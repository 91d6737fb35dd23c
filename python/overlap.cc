// SPDX-License-Identifier: Apache-2.0
#include "python/overlap.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace rooftile::python {
namespace {

// A view as runs of bytes: where the first begins, how long each is, and a number that divides the
// distances between them (0: there is one run).
struct Runs {
  std::int64_t first = 0;  // bytes of address space, of the whole view
  std::int64_t end = 0;
  std::int64_t run = 0;
  std::int64_t pitch = 0;
};

Runs runs_of(const TensorView& view) {
  const DTypeInfo& type = info(view.dtype);
  const auto bytes = [&](std::int64_t elements) {
    return elements / type.unit_elements * type.unit_bytes;
  };
  const OffsetRange range = offset_range(view.shape, view.strides);
  const auto start = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(view.data));
  Runs runs{.first = start + bytes(range.least),
            .end = start + bytes(range.greatest) + type.unit_bytes,
            .run = type.unit_bytes};
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride in bytes, extent
  for (int i = 0; i < view.shape.rank(); ++i) {
    const std::int64_t stride = std::abs(view.strides[i]);
    // The units of a packed type lie side by side.
    if (type.is_packed() && stride == 1) {
      dims.emplace_back(type.unit_bytes, view.shape[i] / type.unit_elements);
    } else {
      dims.emplace_back(bytes(stride), view.shape[i]);
    }
  }
  std::ranges::sort(dims);
  for (const auto& [stride, extent] : dims) {
    if (extent <= 1 || stride == 0) continue;
    if (stride <= runs.run && runs.pitch == 0) {
      runs.run += stride * (extent - 1);
    } else {
      runs.pitch = std::gcd(runs.pitch, stride);
    }
  }
  return runs;
}

}  // namespace

bool may_overlap(const TensorView& a, const TensorView& b) {
  if (num_elements(a.shape) == 0 || num_elements(b.shape) == 0) return false;
  const Runs one = runs_of(a);
  const Runs two = runs_of(b);
  if (one.end <= two.first || two.end <= one.first) return false;
  // Both repeat with this pitch, so that one period tells.
  const std::int64_t pitch = std::gcd(one.pitch, two.pitch);
  if (pitch == 0) return true;
  const std::int64_t apart = ((two.first - one.first) % pitch + pitch) % pitch;
  return apart < one.run || apart + two.run > pitch;
}

}  // namespace rooftile::python
