// SPDX-License-Identifier: Apache-2.0
// Moves registers between the warps of a block (sm_90a). PTX ISA, "setmaxnreg".
#pragma once

#include "rooftile/tile/language.h"
#ifndef __CUDACC__
#include "rooftile/tile/sim/matrix.h"
#endif

namespace rooftile {

/// Gives registers back: kCount a thread from here on. All threads of a warpgroup execute it.
template <int kCount>
__device__ __forceinline__ void setmaxnreg_dec() {
  static_assert(kCount % 8 == 0 && kCount >= 24 && kCount <= 256,
                "a multiple of 8, from 24 to 256");
#ifdef __CUDACC__
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
#else
  sim::set_max_registers(false, kCount);
#endif
}

/// Asks for registers, and waits until others have given enough of them back.
template <int kCount>
__device__ __forceinline__ void setmaxnreg_inc() {
  static_assert(kCount % 8 == 0 && kCount >= 24 && kCount <= 256,
                "a multiple of 8, from 24 to 256");
#ifdef __CUDACC__
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
#else
  sim::set_max_registers(true, kCount);
#endif
}

}  // namespace rooftile
