// SPDX-License-Identifier: Apache-2.0
// A matrix as a parameter of a kernel that takes any strides and types: for the host, which fills
// it, and for the kernel, which reads it with the functions of tile/elements.h.
#pragma once

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {
namespace tile {

/// DType without the header, which nvcc takes long to read.
enum class Element : int { f32, bf16, fp16, e4m3, e5m2 };

/// Strides in elements; a vector has a row stride of 0.
struct Matrix {
  void* data = nullptr;
  long long row_stride = 0;
  long long col_stride = 0;
  Element type = Element::f32;
};

/// The parameter of a kernel that computes y from x… element by element (tile/octet_map.h).
template <int kInputs>
struct OctetMap {
  Matrix y{};
  Matrix x[kInputs]{};
  long long rows = 0, cols = 0;
  int each = 1;           // octets a thread takes
  bool saturates = true;  // a result in fp8 beyond its range
};

}  // namespace tile
}  // namespace rooftile
