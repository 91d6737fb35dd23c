// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/values.h"

#include <algorithm>

#include "rooftile/base/error.h"
#include "rooftile/base/parallel.h"

namespace rooftile {

void resize_large(std::vector<double>& values, std::size_t count) {
  if (count > values.capacity()) {
    values.reserve(count);
    claim_in_parallel(values.data() + values.size(), (count - values.size()) * sizeof(double));
  }
  values.resize(count);
}

Values::Values(const Problem& problem) {
  for (const ArgChoice& arg : problem.args) {
    if (!arg.is_present) continue;
    const auto count = static_cast<std::size_t>(num_elements(arg.shape));
    arrays_.push_back({.name = arg.name, .shape = arg.shape});
    resize_large(arrays_.back().values, count);
  }
}

void Values::clear() {
  for (Array& array : arrays_) {
    fill_in_parallel(array.values.data(), 0, array.values.size() * sizeof(double));
    array.magnitude.clear();
    array.also_right.clear();
  }
}

bool Values::has(std::string_view name) const {
  return std::ranges::any_of(arrays_, [&](const Array& array) { return array.name == name; });
}

const Array& Values::operator[](std::string_view name) const {
  const auto found =
      std::ranges::find_if(arrays_, [&](const Array& array) { return array.name == name; });
  if (found == arrays_.end())
    throw Error(ErrorCode::internal, "a meaning asked for argument '" + std::string(name) +
                                         "', which the problem does not have");
  return *found;
}

Array& Values::operator[](std::string_view name) {
  return const_cast<Array&>(std::as_const(*this)[name]);
}

}  // namespace rooftile
