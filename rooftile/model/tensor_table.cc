// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/tensor_table.h"

#include <vector>

#include "rooftile/base/error.h"

namespace rooftile {

void TensorTable::add(std::string name, const ModelTensor& tensor) {
  const auto [place, is_new] = tensors_.try_emplace(std::move(name), tensor);
  if (!is_new) fail_input(file_ + ": two tensors are named '" + place->first + "'");
}

const ModelTensor* TensorTable::find(std::string_view name) const {
  const auto place = tensors_.find(name);
  return place == tensors_.end() ? nullptr : &place->second;
}

const ModelTensor& TensorTable::operator[](std::string_view name) const {
  if (const ModelTensor* tensor = find(name)) return *tensor;
  std::vector<std::string> known;
  for (const auto& [other, tensor] : tensors_) known.push_back(other);
  fail_input(file_ + ": " + unknown_name("tensor", name, known));
}

const ModelTensor& TensorTable::with_shape(std::string_view name, const Dims& shape) const {
  const ModelTensor& tensor = (*this)[name];
  if (!(tensor.shape == shape))
    fail_input(file_ + ": tensor '" + std::string(name) + "' is " +
               std::string(rooftile::name(tensor.dtype)) + to_string(tensor.shape) + ", expected " +
               to_string(shape));
  return tensor;
}

}  // namespace rooftile
