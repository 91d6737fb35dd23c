// SPDX-License-Identifier: Apache-2.0
// From a DType known at run time to code compiled for the type: the three that CPU kernels compute
// in f32 from.
#pragma once

#include "rooftile/base/error.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/tensor.h"
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"

namespace rooftile {

/// Rounds an f32 to nearest even in T.
template <class T>
inline T from_float(float value) {
  if constexpr (sizeof(T) == sizeof(float))
    return value;
  else
    return T::from(value, T::kOverflow, Rounding::nearest_even);
}

/// visit(T{}) for the T of f32, bf16 or fp16. Throws Error(internal) for another type: supports()
/// of the caller has let it through.
template <class Visit>
decltype(auto) with_float_type(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::f32:
      return visit(float{});
    case DType::bf16:
      return visit(bf16{});
    case DType::fp16:
      return visit(fp16{});
    default:
      throw Error(ErrorCode::internal, "a kernel met " + std::string(name(dtype)));
  }
}

/// The element `offset` elements beyond the view's first.
inline float load_float(const TensorView& view, std::int64_t offset) {
  return with_float_type(view.dtype, [&](auto type) {
    return static_cast<float>(view.as<const decltype(type)>()[offset]);
  });
}

/// Writes it, rounded to nearest even.
inline void store_float(const TensorView& view, std::int64_t offset, float value) {
  with_float_type(view.dtype, [&](auto type) {
    view.as<decltype(type)>()[offset] = from_float<decltype(type)>(value);
  });
}

}  // namespace rooftile
