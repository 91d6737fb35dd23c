// SPDX-License-Identifier: Apache-2.0
// Non-owning views of tensors: pointer, dtype, shape, strides, device, and for quantised data the
// scales that belong to it.
#pragma once

#include <cstdint>
#include <string>

#include "rooftile/base/api.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/shape.h"

namespace ROOFTILE_API rooftile {

enum class DeviceKind : std::uint8_t { cpu, cuda, sim };

/// Which device's memory a pointer points to.
struct DeviceId {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  friend bool operator==(DeviceId, DeviceId) = default;
};

/// How block scales lie in memory.
enum class ScaleLayout : std::uint8_t {
  row_major,
  swizzled_128x4,  // tcgen05: 128 rows x 4 scales to a 512-byte tile
};

struct Scaling;

/// Strides are in elements, may be zero (inputs only) or negative; element (i, j) stands at
/// data + i*strides[0] + j*strides[1]. Whoever makes a view keeps the memory alive.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::f32;
  Dims shape{};
  Dims strides{};
  DeviceId device{};
  const Scaling* scaling = nullptr;  // set for block-quantised tensors

  [[nodiscard]] bool is_present() const { return data != nullptr; }
  [[nodiscard]] std::int64_t extent(int dim) const { return shape[dim]; }
  [[nodiscard]] std::int64_t stride(int dim) const { return strides[dim]; }

  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data);
  }

  /// A contiguous row-major view. Inputs are views too: a kernel never writes through them.
  static TensorView contiguous(const void* data, DType dtype, const Dims& shape) {
    return {const_cast<void*>(data), dtype, shape, row_major(shape), {}, nullptr};
  }
};

/// logical value = (stored code - zero point) * scale * second_scale, one scale for each block.
struct Scaling {
  Dims block;        // logical elements of each dimension that share a scale
  TensorView scale;  // shape: ceil(shape / block)
  ScaleLayout layout = ScaleLayout::row_major;
  TensorView zero_point;    // absent for symmetric schemes; shape of `scale`
  TensorView second_scale;  // absent, or one f32 for the whole tensor (NVFP4)
};

/// The same memory with the two dimensions of a matrix exchanged.
inline TensorView transposed(TensorView matrix) {
  std::swap(matrix.shape[0], matrix.shape[1]);
  std::swap(matrix.strides[0], matrix.strides[1]);
  return matrix;
}

}  // namespace rooftile
