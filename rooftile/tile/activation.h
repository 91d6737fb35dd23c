// SPDX-License-Identifier: Apache-2.0
// The activations for kernels that compute in f32, in forms that cancel nowhere, in the tails
// neither. kExact: to a few units in the last place of f32, by tile/math.h and divisions. Else by
// the special function unit, to 2e-6 of the result: beyond what a result in bf16 or fp16 shows, at
// a third of the instructions, which is what lets a kernel of 4 bytes an element follow the memory.
#pragma once

#include "rooftile/tile/act.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/math.h"
#include "rooftile/tile/ptx/approximate.h"
#include "rooftile/tile/unroll.h"

namespace ROOFTILE_API rooftile {
namespace tile {
namespace activation {

template <bool kExact>
__device__ inline float exp(float x) {
  if constexpr (kExact) return tile::exp(x);
  return ex2_approx(x * kLog2E);
}

template <bool kExact>
__device__ inline float divide(float a, float b) {
  if constexpr (kExact) return a / b;
  return a * rcp_approx(b);
}

/// x / (1 + e^-t), or without x: 1 / (1 + e^-t).
template <bool kExact>
__device__ inline float times_sigmoid(float x, float t) {
  if constexpr (kExact) return x / (1.0F + tile::exp(-t));
  // Why the factor: the unit flushes the inverse of what is above 2^126, and x times it would still
  // be a number.
  constexpr float kFactor = 0x1p-32F;
  return x * (kFactor * rcp_approx(kFactor + ex2_approx(fmaf(t, -kLog2E, -32.0F))));
}

// 0.5 x (1 + tanh u) = x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3)
template <bool kExact>
__device__ inline float gelu_tanh(float x) {
  const float twice_u = x * fmaf(0.0713548162726F, x * x, 1.5957691216F);
  return times_sigmoid<kExact>(x, twice_u);
}

// x Phi(x). The tail Phi(-|x|) is e^(-x^2/2) times a polynomial in t = 1 / (1 + 0.26 |x|), the form
// of Abramowitz and Stegun 7.1.26; these coefficients are our own fit, to 6e-9 of the tail. Where
// exact, the square is taken in two parts: its rounding costs x^2/2 units in the last place.
template <bool kExact>
__device__ inline float gelu(float x) {
  const float a = min_or_nan(20.0F, fabsf(x));  // the tail is 0 from there on
  const float square = a * a;
  const float t = divide<kExact>(1.0F, fmaf(0.26F, a, 1.0F));
  float p = fmaf(0x1.15ebc4p-5F, t, -0x1.5d3812p-3F);
  p = fmaf(p, t, 0x1.29f626p-2F);
  p = fmaf(p, t, -0x1.9b3fbap-3F);
  p = fmaf(p, t, 0x1.99d44ep-3F);
  p = fmaf(p, t, 0x1.ff5cp-6F);
  p = fmaf(p, t, 0x1.c06e6ep-4F);
  p = fmaf(p, t, 0x1.a0a0aep-4F);
  p = fmaf(p, t, 0x1.a999f0p-4F);
  p = fmaf(p, t, -0x1.e0c952p-18F);
  if constexpr (kExact) p *= fmaf(-0.5F, fmaf(a, a, -square), 1.0F);
  const float tail = p * exp<kExact>(-0.5F * square);
  return x * (x > 0.0F ? 1.0F - tail : tail);
}

// From e^-2|x| = e, (1 - e) / (1 + e); near 0, where that cancels, x + x^3 P(x^2) with our own fit
// of P, to 3e-9 for |x| < 0.6.
template <bool kExact>
__device__ inline float tanh(float x) {
  const float square = x * x;
  float p = fmaf(-0x1.830bccp-8F, square, 0x1.54e00ep-6F);
  p = fmaf(p, square, -0x1.b89ed8p-5F);
  p = fmaf(p, square, 0x1.1109dcp-3F);
  p = fmaf(p, square, -0x1.55553ep-2F);
  const float near_zero = fmaf(x * square, p, x);
  const float e = exp<kExact>(-2.0F * fabsf(x));
  const float far = divide<kExact>(1.0F - e, 1.0F + e);
  return fabsf(x) < 0.6F ? near_zero : x < 0.0F ? -far : far;
}

}  // namespace activation

/// v = act(v) for each; `act` is the same for all threads.
template <bool kExact, int kCount>
__device__ inline void activate(Act act, float (&v)[kCount]) {
  const auto map = [&](auto function) {
    ROOFTILE_UNROLL for (int i = 0; i < kCount; ++i) v[i] = function(v[i]);
  };
  switch (act) {
    case Act::none:
      return;
    case Act::relu:
      return map([](float x) { return max_or_nan(x, 0.0F); });
    case Act::silu:
      return map([](float x) { return activation::times_sigmoid<kExact>(x, x); });
    case Act::gelu:
      return map([](float x) { return activation::gelu<kExact>(x); });
    case Act::gelu_tanh:
      return map([](float x) { return activation::gelu_tanh<kExact>(x); });
    case Act::sigmoid:
      return map([](float x) { return activation::times_sigmoid<kExact>(1.0F, x); });
    case Act::tanh:
      return map([](float x) { return activation::tanh<kExact>(x); });
  }
}

}  // namespace tile
}  // namespace rooftile
