// SPDX-License-Identifier: Apache-2.0
// Launches that overlap: a kernel that was launched with LaunchShape::programmatic_overlap may
// begin before the one ahead of it has ended. Source: PTX ISA, "griddepcontrol".
//
// The simulator runs launches one after another, which is one of the legal executions. It reports
// accesses of what kernels ahead read or wrote that nothing waited for.
#pragma once

#include "rooftile/tile/language.h"
#ifndef __CUDACC__
#include "rooftile/tile/sim/async.h"
#endif

namespace rooftile {

/// griddepcontrol.wait: until the kernels ahead have ended and their writes are visible.
__device__ __forceinline__ void wait_for_grid() {
#ifdef __CUDACC__
  asm volatile("griddepcontrol.wait;" ::: "memory");
#else
  sim::wait_for_grid();
#endif
}

/// griddepcontrol.launch_dependents: the kernel behind may begin once every block has said so.
__device__ __forceinline__ void launch_dependents() {
#ifdef __CUDACC__
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#else
  sim::launch_dependents();
#endif
}

}  // namespace rooftile
