// SPDX-License-Identifier: Apache-2.0
// Elements in f32, bf16 and fp16 of a kernel that computes in f32: one at a time with the type
// known at run time, and 16 bytes at a time, the widest access of a thread, with the type known at
// compile time. The bits stay as loaded (`Pack`) until unpack(), so that the loads of a loop are
// all under way before the first is used.
#pragma once

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/matrix.h"
#include "rooftile/tile/ptx/load_store.h"
#include "rooftile/tile/unroll.h"

namespace ROOFTILE_API rooftile {
namespace tile {

// --- one element

/// bf16 to nearest even; a NaN becomes 0x7fff, as PTX says of cvt.
__device__ inline uint16_t bf16_bits(float value) {
#ifdef __CUDACC__
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  return value != value ? uint16_t{0x7fff}
                        : bf16::from(value, Overflow::to_special, Rounding::nearest_even).bits;
#endif
}
/// fp16 to nearest even; a NaN becomes 0x7fff, as PTX says of cvt.
__device__ inline uint16_t fp16_bits(float value) {
#ifdef __CUDACC__
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  return value != value ? uint16_t{0x7fff}
                        : fp16::from(value, Overflow::to_special, Rounding::nearest_even).bits;
#endif
}
__device__ inline float from_bf16_bits(uint32_t bits) { return __uint_as_float(bits << 16); }
__device__ inline float from_fp16_bits(uint16_t bits) {
#ifdef __CUDACC__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
#else
  return static_cast<float>(fp16{bits});
#endif
}

/// Element i of `data` as f32.
__device__ inline float load_element(const void* data, Element type, long long i) {
  if (type == Element::f32) return static_cast<const float*>(data)[i];
  const uint16_t bits = static_cast<const uint16_t*>(data)[i];
  return type == Element::bf16 ? from_bf16_bits(bits) : from_fp16_bits(bits);
}
/// Writes element i of `data`, rounded to nearest even.
__device__ inline void store_element(void* data, Element type, long long i, float value) {
  if (type == Element::f32)
    static_cast<float*>(data)[i] = value;
  else
    static_cast<uint16_t*>(data)[i] = type == Element::bf16 ? bf16_bits(value) : fp16_bits(value);
}
/// As store_element() rounds.
__device__ inline float round_element(Element type, float value) {
  if (type == Element::f32) return value;
  return type == Element::bf16 ? from_bf16_bits(bf16_bits(value))
                               : from_fp16_bits(fp16_bits(value));
}

/// Element (r, c) of a matrix.
__device__ inline float load_element(const Matrix& matrix, long long r, long long c) {
  return load_element(matrix.data, matrix.type, r * matrix.row_stride + c * matrix.col_stride);
}
__device__ inline void store_element(const Matrix& matrix, long long r, long long c, float value) {
  store_element(matrix.data, matrix.type, r * matrix.row_stride + c * matrix.col_stride, value);
}

// --- 16 bytes of elements

/// How many elements of T, which is float, bf16 or fp16, are in a pack.
template <class T>
constexpr int kPack = 16 / static_cast<int>(sizeof(T));

/// Elements in the order of memory, the first in the low bits of x.
using Pack = uint4;

template <class T>
struct PackOf;  // word: 4 bytes from floats and back; kMinusInfinity: such bits in all elements

template <>
struct PackOf<float> {
  using Bits = uint32_t;
  static constexpr uint32_t kMinusInfinity = 0xff800000U;
  __device__ static void unpack(float* to, uint32_t word) { to[0] = __uint_as_float(word); }
  __device__ static uint32_t pack(const float* from) { return __float_as_uint(from[0]); }
};
template <>
struct PackOf<bf16> {
  using Bits = uint16_t;
  static constexpr uint32_t kMinusInfinity = 0xff80ff80U;
  __device__ static void unpack(float* to, uint32_t word) {
    to[0] = __uint_as_float(word << 16);
    to[1] = __uint_as_float(word & 0xffff0000U);
  }
  __device__ static uint32_t pack(const float* from) {
#ifdef __CUDACC__
    uint32_t word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(from[1]), "f"(from[0]));
    return word;
#else
    return bf16_bits(from[0]) | static_cast<uint32_t>(bf16_bits(from[1])) << 16;
#endif
  }
};
template <>
struct PackOf<fp16> {
  using Bits = uint16_t;
  static constexpr uint32_t kMinusInfinity = 0xfc00fc00U;
  __device__ static void unpack(float* to, uint32_t word) {
    to[0] = from_fp16_bits(static_cast<uint16_t>(word));
    to[1] = from_fp16_bits(static_cast<uint16_t>(word >> 16));
  }
  __device__ static uint32_t pack(const float* from) {
#ifdef __CUDACC__
    uint32_t word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(from[1]), "f"(from[0]));
    return word;
#else
    return fp16_bits(from[0]) | static_cast<uint32_t>(fp16_bits(from[1])) << 16;
#endif
  }
};

template <class T>
__device__ inline void unpack(float (&to)[kPack<T>], const Pack& pack) {
  constexpr int kEach = kPack<T> / 4;
  PackOf<T>::unpack(to, pack.x);
  PackOf<T>::unpack(to + kEach, pack.y);
  PackOf<T>::unpack(to + 2 * kEach, pack.z);
  PackOf<T>::unpack(to + 3 * kEach, pack.w);
}
template <class T>
__device__ inline Pack pack(const float (&from)[kPack<T>]) {
  constexpr int kEach = kPack<T> / 4;
  return make_uint4(PackOf<T>::pack(from), PackOf<T>::pack(from + kEach),
                    PackOf<T>::pack(from + 2 * kEach), PackOf<T>::pack(from + 3 * kEach));
}

/// The first element of a pack; and the pack without it, a new last one in its place.
template <class T>
__device__ inline uint32_t first_of(const Pack& pack) {
  return sizeof(T) == 4 ? pack.x : pack.x & 0xffffU;
}
template <class T>
__device__ inline Pack shifted(const Pack& pack, uint32_t last) {
  if constexpr (sizeof(T) == 4) return make_uint4(pack.y, pack.z, pack.w, last);
  return make_uint4(__funnelshift_r(pack.x, pack.y, 16), __funnelshift_r(pack.y, pack.z, 16),
                    __funnelshift_r(pack.z, pack.w, 16), pack.w >> 16 | last << 16);
}

/// The pack at `from`, of which `left` elements are there (any number, also below 0); the others
/// get the first bits of `fill`. One access where all are there and the row `is_aligned` to 16
/// bytes, else one an element: the same elements to the same thread, so that alignment changes no
/// bits.
template <class T>
__device__ inline Pack load_pack(const T* from, long long left, bool is_aligned,
                                 uint32_t fill = 0) {
  if (is_aligned && left >= kPack<T>) return *reinterpret_cast<const Pack*>(from);
  const auto* bits = reinterpret_cast<const typename PackOf<T>::Bits*>(from);
  Pack pack = make_uint4(fill, fill, fill, fill);
  if (left <= 0) return pack;
  ROOFTILE_NO_UNROLL for (int j = 0; j < kPack<T>; ++j) {
    uint32_t element = fill;
    if (j < left) element = bits[j];
    pack = shifted<T>(pack, element);
  }
  return pack;
}

/// Writes the first `left` elements.
template <class T>
__device__ inline void store_pack(T* to, Pack pack, long long left, bool is_aligned) {
  if (is_aligned && left >= kPack<T>) {
    store_whole(reinterpret_cast<Pack*>(to), pack);  // nvcc may make four of a plain store
    return;
  }
  auto* bits = reinterpret_cast<typename PackOf<T>::Bits*>(to);
  ROOFTILE_NO_UNROLL for (int j = 0; j < kPack<T> && j < left; ++j) {
    bits[j] = static_cast<typename PackOf<T>::Bits>(first_of<T>(pack));
    pack = shifted<T>(pack, 0);
  }
}

}  // namespace tile
}  // namespace rooftile
