// SPDX-License-Identifier: Apache-2.0
// Elements of the operands of matrix instructions as numbers, and the tensor core that multiplies
// them (hardware/tensor_core.h).
#pragma once

#include <cstdint>

#include "rooftile/hardware/tensor_core.h"
#include "rooftile/tile/ptx/matrix_types.h"

namespace rooftile::sim {

/// An element of any operand or accumulator: floats for floating-point types, int32 for integers.
union MatrixValue {
  float f;
  std::int32_t i;
};

/// `count` packed elements of `type`, `stride` values apart in `to`; `scale` is 1 or -1.
void unpack(MatrixValue* to, int stride, const void* from, int count, MatrixDtype type,
            int scale = 1);

/// One accumulator's registers: `count` of f32, s32, or fp16 in pairs.
void unpack_accumulators(MatrixValue* to, const void* registers, int count, MatrixDtype type);
void pack_accumulators(void* registers, const MatrixValue* from, int count, MatrixDtype type);

struct MatrixTypes {
  MatrixDtype a, b, d;
};
/// d (m x n) += a (m x k) * b (k x n), row-major, as one instruction of the tensor core rounds.
void multiply_add(MatrixUnit unit, MatrixTypes types, int m, int n, int k, const MatrixValue* a,
                  const MatrixValue* b, MatrixValue* d);

}  // namespace rooftile::sim
