// SPDX-License-Identifier: Apache-2.0
// The formula as three loops over a row (maximum, sum, division), any strides: the first rung of
// the ladder, and the kernel for views that the vector kernel does not take.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::softmax {
namespace {

template <class Y, class X>
void row(const TensorView& y_view, const TensorView& x_view, std::int64_t r, std::int64_t length,
         double scale) {
  const X* x = x_view.as<const X>() + r * x_view.stride(0);
  Y* y = y_view.as<Y>() + r * y_view.stride(0);
  const auto at = [&](std::int64_t c) {
    return double{static_cast<float>(x[c * x_view.stride(1)])};
  };
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t c = 0; c < length; ++c) most = std::max(most, at(c));
  double sum = 0;
  for (std::int64_t c = 0; c < length; ++c)
    if (at(c) != -std::numeric_limits<double>::infinity()) sum += std::exp(scale * (at(c) - most));
  for (std::int64_t c = 0; c < y_view.extent(1); ++c) {
    const double value = c < length && sum != 0 ? std::exp(scale * (at(c) - most)) / sum : 0;
    y[c * y_view.stride(1)] = from_float<Y>(static_cast<float>(value));
  }
}

void run(const Context& context, const Arguments& args) {
  const TensorView& x = args["x"];
  const TensorView& y = args["y"];
  const TensorView& lengths = args["lengths"];
  const double scale = args.problem().number("scale");
  context.stream->launch(x.extent(0), [&](std::int64_t r) {
    std::int64_t length = x.extent(1);
    if (lengths.is_present())
      length = std::clamp<std::int64_t>(lengths.as<const std::int32_t>()[r * lengths.stride(0)], 0,
                                        length);
    with_float_type(x.dtype, [&](auto x_type) {
      with_float_type(y.dtype, [&](auto y_type) {
        row<decltype(y_type), decltype(x_type)>(y, x, r, length, scale);
      });
    });
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "softmax",
    .name = "cpu_plain",
    .idea = "the formula as three loops over a row, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::softmax
