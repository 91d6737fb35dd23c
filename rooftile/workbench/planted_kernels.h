// SPDX-License-Identifier: Apache-2.0
// A right kernel of the toy operation, and the parts that wrong ones are planted with.
#pragma once

#include "rooftile/formats/element.h"
#include "rooftile/workbench/test_support.h"

namespace rooftile {

/// The arguments of a run of the toy operation, element by element in any dtype.
struct Toy {
  const TensorView& y;
  const TensorView& x;
  double factor;
  std::int64_t rows;
  std::int64_t cols;

  explicit Toy(const Arguments& args)
      : y(args["y"]),
        x(args["x"]),
        factor(args.problem().number("factor")),
        rows(x.extent(0)),
        cols(x.extent(1)) {}

  [[nodiscard]] double load(std::int64_t r, std::int64_t c) const {
    return load_element(x.dtype, x.data, r * x.stride(0) + c * x.stride(1));
  }
  void store(std::int64_t r, std::int64_t c, double value) const {
    store_element(y.dtype, y.data, r * y.stride(0) + c * y.stride(1), value);
  }
  [[nodiscard]] double right(std::int64_t r, std::int64_t c) const {
    return static_cast<float>(factor * load(r, c) + 1);
  }
  /// Every element by `value(r, c)`.
  template <class Value>
  void fill(Value value) const {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c) store(r, c, value(r, c));
  }
  void fill_right() const {
    fill([&](std::int64_t r, std::int64_t c) { return right(r, c); });
  }
};

/// The next larger number of the type.
inline double nudged(double value, DType dtype) { return value + ulp_of(dtype, value); }

inline void run_right(const Context&, const Arguments& args) { Toy(args).fill_right(); }

/// Right, and busy for `us` when the caches are cold, a fifth of that when they are warm.
inline Run right_taking(double us) {
  return [us](const Context& context, const Arguments& args) {
    Toy(args).fill_right();
    fake(context).spend(fake(context).is_warm ? us / 5 : us);
  };
}

}  // namespace rooftile
