// SPDX-License-Identifier: Apache-2.0
// The matrix instructions as compiled kernels call them in the simulator. Pointers to registers are
// arrays of the calling thread.
#pragma once

#include "rooftile/tile/ptx/matrix_types.h"
#include "rooftile/tile/sim/runtime.h"

namespace rooftile {
namespace ROOFTILE_API sim {

/// What the name of a wgmma instruction says, and its immediates.
struct WgmmaForm {
  MatrixDtype a, b, d;
  int n, k;
  Major major_a = Major::k, major_b = Major::k;
  int scale_a = 1, scale_b = 1;
};
/// `a_registers`: 4 of them, or null where A is in shared memory.
void wgmma(const WgmmaForm& form, void* d, const uint32_t* a_registers, uint64_t a, uint64_t b,
           bool accumulate);
void wgmma_fence();
void wgmma_commit_group();
void wgmma_wait_group(int groups);

/// mma.sync m16n8k*.
struct MmaForm {
  MatrixDtype a, b, d;
  int k;
};
void mma(const MmaForm& form, void* d, const uint32_t* a, const uint32_t* b, const void* c);

void ldmatrix(uint32_t* registers, const void* row, int matrices, bool transposed);
void stmatrix(void* row, const uint32_t* registers, int matrices, bool transposed);
uint32_t movmatrix(uint32_t value);
void set_max_registers(bool increase, int count);

}  // namespace sim
}  // namespace rooftile
