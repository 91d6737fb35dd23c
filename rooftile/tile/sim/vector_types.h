// SPDX-License-Identifier: Apache-2.0
// CUDA's vector types for the simulator: same sizes and alignments, so that a copy is one access.
#pragma once

#include <stdint.h>

#define ROOFTILE_VECTOR_TYPES(type, name)                                                     \
  struct name##1 { type x; };                                                                 \
  struct alignas(2 * sizeof(type)) name##2 { type x, y; };                                    \
  struct name##3 { type x, y, z; };                                                           \
  struct alignas(4 * sizeof(type) > 16 ? 16 : 4 * sizeof(type)) name##4 { type x, y, z, w; }; \
  inline name##1 make_##name##1(type x) { return {x}; }                                       \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }                            \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                 \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

ROOFTILE_VECTOR_TYPES(signed char, char)
ROOFTILE_VECTOR_TYPES(unsigned char, uchar)
ROOFTILE_VECTOR_TYPES(short, short)
ROOFTILE_VECTOR_TYPES(unsigned short, ushort)
ROOFTILE_VECTOR_TYPES(int, int)
ROOFTILE_VECTOR_TYPES(unsigned int, uint)
ROOFTILE_VECTOR_TYPES(long long, longlong)
ROOFTILE_VECTOR_TYPES(unsigned long long, ulonglong)
ROOFTILE_VECTOR_TYPES(float, float)
ROOFTILE_VECTOR_TYPES(double, double)
#undef ROOFTILE_VECTOR_TYPES

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
