// SPDX-License-Identifier: Apache-2.0
// Lets one header serve host compilers, nvcc, NVRTC and the simulator: fixed-width integers without
// the standard library where there is none, and the mark of a function that runs on either side.
#pragma once

#ifdef __CUDACC_RTC__
// Why here: NVRTC has no <stdint.h>; inside our namespace these cannot clash with another's.
namespace rooftile {
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
}  // namespace rooftile
#else
#include <stdint.h>
#endif

#ifdef __CUDACC__
#define ROOFTILE_HD __host__ __device__
#else
#define ROOFTILE_HD
#endif
