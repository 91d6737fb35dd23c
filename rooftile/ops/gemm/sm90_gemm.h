// SPDX-License-Identifier: Apache-2.0
// What the sm90 kernels of gemm share: the problem as a kernel sees it, and its epilogue.
#pragma once

#include "rooftile/tile/elements.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/math.h"

namespace ROOFTILE_API rooftile {
namespace ops::gemm {

enum class Act : int { none, relu, silu, sigmoid, tanh, gelu_tanh };

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

/// The activations that are made of exponentials; error a few ulp.
__device__ inline float activated(Act act, float x) {
  const auto sigmoid = [](float v) { return 1.0F / (1.0F + tile::exp(-v)); };
  switch (act) {
    case Act::none:
      return x;
    case Act::relu:
      return x < 0 ? 0.0F : x;
    case Act::silu:
      return x * sigmoid(x);
    case Act::sigmoid:
      return sigmoid(x);
    case Act::tanh: {
      const float magnitude = fabsf(x);
      if (magnitude < 0.25F) {  // the series: the other form cancels
        const float s = x * x;
        float p = fmaf(s, 0x1.664f48p-6F, -0x1.ba1ba2p-5F);  // 62/2835, -17/315, 2/15, -1/3
        p = fmaf(s, p, 0x1.111112p-3F);
        p = fmaf(s, p, -0x1.555556p-2F);
        return fmaf(x * s, p, x);
      }
      const float positive = 1.0F - 2.0F / (tile::exp(2.0F * magnitude) + 1.0F);
      return x < 0 ? -positive : positive;
    }
    case Act::gelu_tanh: {
      // x * (1 + tanh(z)) / 2 = x * sigmoid(2 z), without the cancellation at negative z.
      const float z = 0x1.988454p-1F * fmaf(0x1.6e4e26p-5F * x * x, x, x);
      return x * sigmoid(2.0F * z);
    }
  }
  return x;
}

__device__ inline float finished(const Epilogue& epilogue, long long i, long long j, float sum) {
  if (epilogue.bias.data != nullptr) sum += load_at(epilogue.bias, 0, j);
  float value = activated(epilogue.act, sum);
  if (epilogue.residual.data != nullptr) value += load_at(epilogue.residual, i, j);
  return value;
}

__device__ inline void store_at(const MatrixView& view, long long i, long long j, float value) {
  tile::store_element(view.data, view.type, i * view.stride_i + j * view.stride_j, value);
}

/// Finishes the sums of (i, j) and (i, j + 1), where that column is there, and stores them, at once
/// where `stores_pairs` (of sm90_host.h) says that j even allows it.
__device__ inline void finish_and_store_two(const MatrixView& d, const Epilogue& epilogue,
                                            long long i, long long j, long long n,
                                            bool stores_pairs, float2 sum) {
  const bool has_second = j + 1 < n;
  const float values[2] = {finished(epilogue, i, j, sum.x),
                           has_second ? finished(epilogue, i, j + 1, sum.y) : 0.0F};
  if (!stores_pairs || !has_second) {
    store_at(d, i, j, values[0]);
    if (has_second) store_at(d, i, j + 1, values[1]);
    return;
  }
  const long long at = i * d.stride_i + j;
  switch (d.type) {
    case tile::Element::f32:
      *reinterpret_cast<float2*>(static_cast<float*>(d.data) + at) =
          make_float2(values[0], values[1]);
      break;
    case tile::Element::bf16:
      *reinterpret_cast<uint32_t*>(static_cast<uint16_t*>(d.data) + at) =
          tile::PackOf<bf16>::pack(values);
      break;
    case tile::Element::fp16:
      *reinterpret_cast<uint32_t*>(static_cast<uint16_t*>(d.data) + at) =
          tile::PackOf<fp16>::pack(values);
      break;
  }
}

}  // namespace ops::gemm
}  // namespace rooftile
