// SPDX-License-Identifier: Apache-2.0
// The element types of matrix instructions, and their names in PTX.
#pragma once

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/formats/fp8.h"
#include "rooftile/formats/host_device.h"
#include "rooftile/formats/tf32.h"

namespace rooftile {

enum class MatrixDtype : uint8_t { bf16, fp16, tf32, e4m3, e5m2, s8, u8, f32, s32 };

/// Which index of an operand is contiguous in shared memory: k, or m of A and n of B.
enum class Major : uint8_t { k, mn };

/// kType, the PTX name, and the register that holds a value of this type or a pair of them.
template <class T>
struct MatrixElement;

#define ROOFTILE_MATRIX_ELEMENT(type, value, ptx, register_type)     \
  template <>                                                        \
  struct MatrixElement<type> {                                       \
    static constexpr MatrixDtype kType = MatrixDtype::value;         \
    static constexpr const char* kName = ptx;                        \
    static constexpr int kBits = 8 * static_cast<int>(sizeof(type)); \
    using Register = register_type;                                  \
  };
ROOFTILE_MATRIX_ELEMENT(bf16, bf16, "bf16", uint32_t)
ROOFTILE_MATRIX_ELEMENT(fp16, fp16, "f16", uint32_t)
ROOFTILE_MATRIX_ELEMENT(tf32, tf32, "tf32", uint32_t)
ROOFTILE_MATRIX_ELEMENT(e4m3, e4m3, "e4m3", uint32_t)
ROOFTILE_MATRIX_ELEMENT(e5m2, e5m2, "e5m2", uint32_t)
ROOFTILE_MATRIX_ELEMENT(int8_t, s8, "s8", uint32_t)
ROOFTILE_MATRIX_ELEMENT(uint8_t, u8, "u8", uint32_t)
ROOFTILE_MATRIX_ELEMENT(float, f32, "f32", float)
ROOFTILE_MATRIX_ELEMENT(int32_t, s32, "s32", int32_t)
#undef ROOFTILE_MATRIX_ELEMENT

constexpr bool is_fp8(MatrixDtype type) {
  return type == MatrixDtype::e4m3 || type == MatrixDtype::e5m2;
}
constexpr bool is_int8(MatrixDtype type) {
  return type == MatrixDtype::s8 || type == MatrixDtype::u8;
}
constexpr bool is_16_bit(MatrixDtype type) {
  return type == MatrixDtype::bf16 || type == MatrixDtype::fp16;
}

/// Whether a tensor core multiplies these and sums to `d`: PTX ISA, "Matrix multiply-accumulate
/// operation using wgmma.mma_async instruction"; mma.sync has the same combinations.
constexpr bool can_multiply(MatrixDtype a, MatrixDtype b, MatrixDtype d) {
  if (is_int8(a)) return is_int8(b) && d == MatrixDtype::s32;
  if (d == MatrixDtype::fp16) return (a == MatrixDtype::fp16 && b == a) || (is_fp8(a) && is_fp8(b));
  return d == MatrixDtype::f32 && (is_fp8(a) ? is_fp8(b) : a == b);
}

}  // namespace rooftile
