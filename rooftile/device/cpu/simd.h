// SPDX-License-Identifier: Apache-2.0
// SIMD for the cpu device: one kernel source, compiled for each instruction set, chosen at run
// time. The idea: a Vec is 16 lanes of f32 on every instruction set (one zmm, two ymm, sixteen
// floats) and every function gives the same bits on each, so a kernel's result does not depend on
// the machine. (Only which NaN a NaN is may differ.) That is why bf16 is rounded by integer
// operations: VCVTNEPS2BF16 flushes subnormals. avx512_bf16 runs the avx512 code.
//
// rows.inc, included inside a namespace for each instruction set:
//   void my_rows(const MyCall& call, std::int64_t begin, std::int64_t end) { ... }  // uses Vec
// kernel.cc:
//   #define ROOFTILE_SIMD_FILE "rooftile/ops/my/rows.inc"
//   #include "rooftile/device/cpu/simd_each.inc"
//   ... ROOFTILE_SIMD_CHOOSE(my_rows)(call, 0, rows); ...  // within namespace rooftile
//
// Functions of Vec live in simd::scalar, simd::avx2, simd::avx512 with the same names;
// simd_math.inc has those that are written once for all three.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#if defined(__clang__)
#include <immintrin.h>
#else
// Why: GCC 12 takes the intrinsics' deliberately undefined operands for mistakes (its bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif
#define ROOFTILE_SIMD_HAS_X86 1
#else
#define ROOFTILE_SIMD_HAS_X86 0
#endif

#include "rooftile/device/cpu/isa.h"
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"

// Code between BEGIN(ISA) and END is compiled for that instruction set. Include headers before it:
// an inline function first seen inside would carry these instructions into the whole program.
#define ROOFTILE_SIMD_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define ROOFTILE_SIMD_TARGET(features) \
  ROOFTILE_SIMD_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define ROOFTILE_SIMD_END _Pragma("clang attribute pop")
#else
#define ROOFTILE_SIMD_TARGET(features) \
  _Pragma("GCC push_options") ROOFTILE_SIMD_PRAGMA(GCC target(features))
#define ROOFTILE_SIMD_END _Pragma("GCC pop_options")
#endif
#define ROOFTILE_SIMD_BEGIN_AVX2 ROOFTILE_SIMD_TARGET("avx2,fma,f16c")
#define ROOFTILE_SIMD_BEGIN_AVX512 \
  ROOFTILE_SIMD_TARGET("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#define ROOFTILE_SIMD_BEGIN_AVX512_BF16 \
  ROOFTILE_SIMD_TARGET("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx512vnni")

// For what a kernel's inner loop calls. Plain `inline` in scalar code, which takes minutes to
// compile otherwise.
#define ROOFTILE_SIMD_INLINE [[gnu::always_inline]] inline

namespace rooftile::simd {

inline constexpr int kLanes = 16;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Zero and minus infinity as stored, to fill the lanes beyond a row's end.
template <class T>
inline constexpr T kZero{};
template <class T>
inline constexpr T kMinusInfinity{};
template <>
inline constexpr float kMinusInfinity<float> = -kInfinity;
template <>
inline constexpr bf16 kMinusInfinity<bf16>{0xff80};
template <>
inline constexpr fp16 kMinusInfinity<fp16>{0xfc00};

/// One value rounded as store() rounds.
template <class T>
T element(float value) {
  if constexpr (std::is_same_v<T, float>)
    return value;
  else
    return encode<T>(value);
}

/// Whether stream() may write here.
inline bool is_aligned(const void* p) { return std::bit_cast<std::uintptr_t>(p) % 64 == 0; }

}  // namespace rooftile::simd

#include "rooftile/device/cpu/simd_scalar.h"
#if ROOFTILE_SIMD_HAS_X86
#include "rooftile/device/cpu/simd_avx2.h"
#include "rooftile/device/cpu/simd_avx512.h"

/// The function of this name that was compiled for the best instruction set allowed here.
#define ROOFTILE_SIMD_CHOOSE(function)                                  \
  (::rooftile::cpu_isa() >= ::rooftile::Isa::avx512 ? &avx512::function \
   : ::rooftile::cpu_isa() == ::rooftile::Isa::avx2 ? &avx2::function   \
                                                    : &scalar::function)
#else
#define ROOFTILE_SIMD_CHOOSE(function) (&scalar::function)
#endif
