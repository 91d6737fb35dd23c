// SPDX-License-Identifier: Apache-2.0
// The arguments of a problem as dense arrays of double: what a meaning computes on, whatever dtype,
// strides or scales the tensors have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/core/problem.h"

namespace ROOFTILE_API rooftile {

/// values.resize(count), quicker where that is much memory.
void resize_large(std::vector<double>& values, std::size_t count);

/// One argument, row-major.
struct Array {
  std::string name{};
  Dims shape{};
  std::vector<double> values{};
  /// Outputs only, optional: how large the terms behind each element were (for a dot product, the
  /// product of the norms). Rounding errors of the accumulation are relative to this, not to the
  /// result. Empty: the magnitude of the value itself.
  std::vector<double> magnitude{};
  /// Outputs only, optional, one list an element: other answers that are right, where the meaning
  /// leaves the choice to rounding (a random draw that falls on a boundary). Met exactly.
  std::vector<std::vector<double>> also_right{};

  double& operator[](std::int64_t i) { return values[static_cast<std::size_t>(i)]; }
  double operator[](std::int64_t i) const { return values[static_cast<std::size_t>(i)]; }
  /// Element (i, j) of a matrix.
  double& at(std::int64_t i, std::int64_t j) { return (*this)[i * shape[1] + j]; }
  [[nodiscard]] double at(std::int64_t i, std::int64_t j) const {
    return (*this)[i * shape[1] + j];
  }
};

class Values {
 public:
  /// Zeros for every argument that the problem has.
  explicit Values(const Problem& problem);

  /// Zeros again, in the same memory.
  void clear();

  Array& operator[](std::string_view name);
  const Array& operator[](std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::vector<Array>& all() { return arrays_; }
  [[nodiscard]] const std::vector<Array>& all() const { return arrays_; }

 private:
  std::vector<Array> arrays_;
};

}  // namespace rooftile
