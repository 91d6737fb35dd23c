// SPDX-License-Identifier: Apache-2.0
// A function of a few matrices, element by element: the body of a kernel whose threads were laid
// out by octet_blocks() of ops/octet_blocks.h. A thread has all its loads under way before the
// first is used.
#pragma once

#include <type_traits>

#include "rooftile/tile/matrix.h"
#include "rooftile/tile/octet.h"

namespace ROOFTILE_API rooftile {
namespace tile {

/// T's element type where it is known when compiled, which leaves more registers; T is void:
/// `type`.
template <class T>
__device__ constexpr Element type_or(Element type) {
  if constexpr (std::is_same_v<T, bf16>)
    return Element::bf16;
  else if constexpr (std::is_same_v<T, fp16>)
    return Element::fp16;
  else
    return type;
}

/// y = function(x…) of matrices of whole octets: it gets v[input][element] and leaves the results
/// in v[0]. A thread takes kEach octets of a row, blockDim.x octets apart. y may be one of x: a
/// thread writes what it alone has read. T: of all matrices, or void.
template <class T, int kEach, int kInputs, class Function>
__device__ inline void map_whole_octets(const OctetMap<kInputs>& map, Function function) {
  constexpr Reuse kReuse = std::is_void_v<T> ? Reuse::none : Reuse::some;
  const int step = static_cast<int>(blockDim.x) * kOctet;
  const long long first =
      static_cast<long long>(blockIdx.x) * kEach * step + static_cast<int>(threadIdx.x) * kOctet;
  const long long rows_of_grid = static_cast<long long>(gridDim.y) * blockDim.y;
  ROOFTILE_NO_UNROLL for (long long r =
                              static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y;
                          r < map.rows; r += rows_of_grid) {
    Octet raw[kEach][kInputs];
    ROOFTILE_UNROLL for (int i = 0; i < kEach; ++i) if (first + i * step < map.cols)
        ROOFTILE_UNROLL for (int k = 0; k < kInputs; ++k) raw[i][k] = load_octet<kReuse>(
            map.x[k].data, type_or<T>(map.x[k].type), r * map.x[k].row_stride + first + i * step);
    ROOFTILE_UNROLL for (int i = 0; i < kEach; ++i) if (first + i * step < map.cols) {
      float v[kInputs][kOctet];
      ROOFTILE_UNROLL for (int k = 0; k < kInputs; ++k)
          unpack(v[k], raw[i][k], type_or<T>(map.x[k].type));
      function(v);
      store_octet(map.y.data, type_or<T>(map.y.type), r * map.y.row_stride + first + i * step, v[0],
                  map.saturates);
    }
  }
}

/// The same of any matrices, an element at a time: neighbouring threads have neighbouring elements.
template <int kInputs, class Function>
__device__ inline void map_elements(const OctetMap<kInputs>& map, Function function) {
  const long long apart = blockDim.x;
  const long long tile = static_cast<long long>(blockIdx.x) * map.each * apart * kOctet;
  const long long rows_of_grid = static_cast<long long>(gridDim.y) * blockDim.y;
  for (long long r = static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y; r < map.rows;
       r += rows_of_grid)
    ROOFTILE_NO_UNROLL for (int i = 0; i < map.each; ++i) {
      const long long c = tile + i * apart * kOctet + threadIdx.x;
      if (c >= map.cols) break;
      const long long left = (map.cols - c + apart - 1) / apart;
      float v[kInputs][kOctet];
      ROOFTILE_UNROLL for (int k = 0; k < kInputs; ++k) gather_octet(
          v[k], map.x[k].data, map.x[k].type, r * map.x[k].row_stride + c * map.x[k].col_stride,
          apart * map.x[k].col_stride, left);
      function(v);
      scatter_octet(map.y.data, map.y.type, r * map.y.row_stride + c * map.y.col_stride,
                    apart * map.y.col_stride, left, v[0], map.saturates);
    }
}

/// kEach 0: map_elements().
template <class T, int kEach, int kInputs, class Function>
__device__ inline void map_octets(const OctetMap<kInputs>& map, Function function) {
  if constexpr (kEach == 0)
    map_elements(map, function);
  else
    map_whole_octets<T, kEach>(map, function);
}

}  // namespace tile
}  // namespace rooftile
