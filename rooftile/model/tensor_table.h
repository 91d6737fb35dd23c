// SPDX-License-Identifier: Apache-2.0
// The tensors of a model's files by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"

namespace ROOFTILE_API rooftile {

/// One tensor, contiguous and row-major, in a mapped file that must outlive it.
struct ModelTensor {
  DType dtype = DType::f32;
  Dims shape{};
  const void* data = nullptr;
  std::int64_t bytes = 0;

  [[nodiscard]] TensorView view() const { return TensorView::contiguous(data, dtype, shape); }
};

class TensorTable {
 public:
  /// `file` stands in errors.
  explicit TensorTable(std::string file = "") : file_(std::move(file)) {}

  /// Throws Error(bad_input) when there is one of that name.
  void add(std::string name, const ModelTensor& tensor);

  /// The tensor, or null.
  [[nodiscard]] const ModelTensor* find(std::string_view name) const;

  /// The tensor. Throws Error(bad_input) that names the file and near misses when there is none.
  [[nodiscard]] const ModelTensor& operator[](std::string_view name) const;

  /// The tensor, which must have this shape. Throws Error(bad_input) otherwise.
  [[nodiscard]] const ModelTensor& with_shape(std::string_view name, const Dims& shape) const;

  [[nodiscard]] const std::map<std::string, ModelTensor, std::less<>>& all() const {
    return tensors_;
  }
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::map<std::string, ModelTensor, std::less<>> tensors_;
};

}  // namespace rooftile
