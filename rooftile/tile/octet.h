// SPDX-License-Identifier: Apache-2.0
// Eight neighbouring elements at a time as f32, their type known at run time: a branch of the whole
// grid costs an eighth of an instruction an element, and one kernel serves every mixture of types
// and strides. Whole octets move with the widest accesses; others element by element. The bits stay
// as loaded (`Octet`) until unpack(), so that several loads are under way before the first is used.
#pragma once

#include "rooftile/tile/elements.h"
#include "rooftile/tile/fp8.h"
#include "rooftile/tile/ptx/load_store.h"
#include "rooftile/tile/unroll.h"

namespace ROOFTILE_API rooftile {
namespace tile {

constexpr int kOctet = 8;

/// As in memory: 32 bytes of f32, 16 of bf16 and fp16, 8 of fp8, from the low bits of low.x.
struct Octet {
  uint4 low;
  uint4 high;
};

/// Whether memory is read again soon, or its lines need not stay in the first-level cache.
enum class Reuse { some, none };

__device__ inline bool is_fp8(Element type) {
  return type == Element::e4m3 || type == Element::e5m2;
}

template <Reuse kReuse, class T>
__device__ inline T load_words(const void* from) {
  const T* words = static_cast<const T*>(from);
  if constexpr (kReuse == Reuse::none) return load_no_l1(words);
  return *words;
}

/// Elements i to i + 7, all there, at a multiple of 16 bytes (fp8: 8).
template <Reuse kReuse = Reuse::none>
__device__ inline Octet load_octet(const void* data, Element type, long long i) {
  Octet octet{};
  if (type == Element::f32) {
    const float* from = static_cast<const float*>(data) + i;
    // Why through the first-level cache: each load takes half of a sector, the other has the rest.
    octet.low = load_words<Reuse::some, uint4>(from);
    octet.high = load_words<Reuse::some, uint4>(from + 4);
  } else if (!is_fp8(type)) {
    octet.low = load_words<kReuse, uint4>(static_cast<const uint16_t*>(data) + i);
  } else {
    const uint2 words = load_words<kReuse, uint2>(static_cast<const uint8_t*>(data) + i);
    octet.low.x = words.x;
    octet.low.y = words.y;
  }
  return octet;
}

__device__ inline void unpack(float (&to)[kOctet], const Octet& octet, Element type) {
  const uint4 words = octet.low;
  if (type == Element::f32) {
    unpack<float>(reinterpret_cast<float(&)[4]>(to[0]), words);
    unpack<float>(reinterpret_cast<float(&)[4]>(to[4]), octet.high);
  } else if (type == Element::bf16) {
    unpack<bf16>(to, words);
  } else if (type == Element::fp16) {
    unpack<fp16>(to, words);
  } else {
    unpack_fp8(to, static_cast<uint16_t>(words.x), type);
    unpack_fp8(to + 2, static_cast<uint16_t>(words.x >> 16), type);
    unpack_fp8(to + 4, static_cast<uint16_t>(words.y), type);
    unpack_fp8(to + 6, static_cast<uint16_t>(words.y >> 16), type);
  }
}

/// Writes elements i to i + 7, rounded to nearest even, where load_octet() could read them.
__device__ inline void store_octet(void* data, Element type, long long i,
                                   const float (&from)[kOctet], bool saturates = true) {
  if (type == Element::f32) {
    uint4* to = reinterpret_cast<uint4*>(static_cast<float*>(data) + i);
    to[0] = pack<float>(reinterpret_cast<const float(&)[4]>(from[0]));
    to[1] = pack<float>(reinterpret_cast<const float(&)[4]>(from[4]));
  } else if (!is_fp8(type)) {
    *reinterpret_cast<uint4*>(static_cast<uint16_t*>(data) + i) =
        type == Element::bf16 ? pack<bf16>(from) : pack<fp16>(from);
  } else {
    uint2 words;
    words.x = pack_fp8(from, type, saturates) |
              static_cast<uint32_t>(pack_fp8(from + 2, type, saturates)) << 16;
    words.y = pack_fp8(from + 4, type, saturates) |
              static_cast<uint32_t>(pack_fp8(from + 6, type, saturates)) << 16;
    *reinterpret_cast<uint2*>(static_cast<uint8_t*>(data) + i) = words;
  }
}

/// The first `left` (any number) of eight elements, which stand at i, i + stride, …; the others are
/// `fill`.
__device__ inline void gather_octet(float (&to)[kOctet], const void* data, Element type,
                                    long long i, long long stride, long long left, float fill = 0) {
  ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) {
    to[j] = fill;
    if (j >= left) continue;
    const long long at = i + j * stride;
    if (is_fp8(type)) {
      float both[2];
      unpack_fp8(both, static_cast<const uint8_t*>(data)[at], type);
      to[j] = both[0];
    } else {
      to[j] = load_element(data, type, at);
    }
  }
}

/// Writes the first `left` of eight elements to i, i + stride, ….
__device__ inline void scatter_octet(void* data, Element type, long long i, long long stride,
                                     long long left, const float (&from)[kOctet],
                                     bool saturates = true) {
  ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) {
    if (j >= left) continue;
    const long long at = i + j * stride;
    if (is_fp8(type)) {
      const float both[2] = {from[j], 0};
      static_cast<uint8_t*>(data)[at] =
          static_cast<uint8_t>(pack_fp8(both, type, saturates) & 0xff);
    } else {
      store_element(data, type, at, from[j]);
    }
  }
}

/// A row of a matrix, octet by octet: whole ones with wide accesses where `is_vector`, which says
/// that elements are adjacent and octets stand at multiples of 16 bytes (fp8: 8).
struct OctetRow {
  void* data;
  long long start;   // of the row, elements from data
  long long stride;  // from element to element
  Element type;
  bool is_vector;

  __device__ OctetRow(const Matrix& matrix, long long r, bool vector)
      : data(matrix.data),
        start(r * matrix.row_stride),
        stride(matrix.col_stride),
        type(matrix.type),
        is_vector(vector) {}

  /// Columns c to c + 7, of which `left` are there.
  template <Reuse kReuse = Reuse::none>
  __device__ void load(float (&to)[kOctet], long long c, long long left, float fill = 0) const {
    if (is_vector && left >= kOctet)
      unpack(to, load_octet<kReuse>(data, type, start + c), type);
    else
      gather_octet(to, data, type, start + c * stride, stride, left, fill);
  }
  __device__ void store(const float (&from)[kOctet], long long c, long long left,
                        bool saturates = true) const {
    if (is_vector && left >= kOctet)
      store_octet(data, type, start + c, from, saturates);
    else
      scatter_octet(data, type, start + c * stride, stride, left, from, saturates);
  }
};

}  // namespace tile
}  // namespace rooftile
