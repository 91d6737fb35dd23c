// SPDX-License-Identifier: Apache-2.0
// CUDA's language for kernels that nvcc and the simulator compile: include this in place of CUDA's
// headers. With nvcc it adds nothing; elsewhere it gives the qualifiers, vector types, built-in
// variables and functions that the simulator knows. What is missing here fails to compile.
#pragma once

#include "rooftile/formats/host_device.h"

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define ROOFTILE_DYNAMIC_SHARED(name) extern __shared__ __align__(1024) unsigned char name[]
#else
#include "rooftile/tile/sim/builtins.h"
#include "rooftile/tile/sim/math.h"
#define ROOFTILE_DYNAMIC_SHARED(name) \
  unsigned char* const name = static_cast<unsigned char*>(::rooftile::sim::dynamic_shared())
#endif
