// SPDX-License-Identifier: Apache-2.0
// What the sm90 kernels of gemm share: the problem as a kernel sees it, and its epilogue.
#pragma once

#include "rooftile/tile/act.h"
#include "rooftile/tile/activation.h"
#include "rooftile/tile/elements.h"
#include "rooftile/tile/language.h"

namespace ROOFTILE_API rooftile {
namespace ops::gemm {

/// A matrix in memory: element (i, j) at data + i * stride_i + j * stride_j.
struct MatrixView {
  void* data = nullptr;  // null: absent
  tile::Element type = tile::Element::f32;
  long long stride_i = 0;
  long long stride_j = 0;
};

/// What becomes of a sum before it is stored: act(sum + bias) + residual.
struct Epilogue {
  MatrixView bias, residual;  // bias by stride_j
  Act act = Act::none;
};

struct Sm90Call {
  MatrixView d, a, b;
  Epilogue epilogue;
  long long m = 0;
  long long n = 0;
  long long k = 0;
};

__device__ inline float load_at(const MatrixView& view, long long i, long long j) {
  return tile::load_element(view.data, view.type, i * view.stride_i + j * view.stride_j);
}

/// act(sum + bias) + residual; activations to 2e-6 of the result, far below the error of a sum.
__device__ inline float finished(const Epilogue& epilogue, long long i, long long j, float sum) {
  if (epilogue.bias.data != nullptr) sum += load_at(epilogue.bias, 0, j);
  float value[1] = {sum};
  tile::activate<false>(epilogue.act, value);
  if (epilogue.residual.data != nullptr) value[0] += load_at(epilogue.residual, i, j);
  return value[0];
}

__device__ inline void store_at(const MatrixView& view, long long i, long long j, float value) {
  tile::store_element(view.data, view.type, i * view.stride_i + j * view.stride_j, value);
}

/// Stores the elements (i, j) and (i, j + 1), where that column is there; at once where `in_pairs`
/// (stores_pairs() of sm90_host.h) says that j even allows it.
__device__ inline void store_two(const MatrixView& d, long long i, long long j, bool has_second,
                                 bool in_pairs, const float* values) {
  if (!in_pairs || !has_second) {
    store_at(d, i, j, values[0]);
    if (has_second) store_at(d, i, j + 1, values[1]);
    return;
  }
  const long long at = i * d.stride_i + j;
  if (d.type == tile::Element::f32) {
    *reinterpret_cast<float2*>(static_cast<float*>(d.data) + at) =
        make_float2(values[0], values[1]);
    return;
  }
  const uint32_t pair = d.type == tile::Element::bf16 ? tile::PackOf<bf16>::pack(values)
                                                      : tile::PackOf<fp16>::pack(values);
  *reinterpret_cast<uint32_t*>(static_cast<uint16_t*>(d.data) + at) = pair;
}

/// Finishes the sums of (i, j) and (i, j + 1), where that column is there, and stores them.
__device__ inline void finish_and_store_two(const MatrixView& d, const Epilogue& epilogue,
                                            long long i, long long j, long long n, bool in_pairs,
                                            float2 sum) {
  const bool has_second = j + 1 < n;
  const float values[2] = {finished(epilogue, i, j, sum.x),
                           has_second ? finished(epilogue, i, j + 1, sum.y) : 0.0F};
  store_two(d, i, j, has_second, in_pairs, values);
}

}  // namespace ops::gemm
}  // namespace rooftile
