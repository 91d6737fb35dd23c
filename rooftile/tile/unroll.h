// SPDX-License-Identifier: Apache-2.0
// Marks of loops: one whose body indexes registers must be unrolled, a rare one should not be.
#pragma once

#ifdef __CUDACC__
#define ROOFTILE_UNROLL _Pragma("unroll")
#define ROOFTILE_NO_UNROLL _Pragma("unroll 1")
#else
#define ROOFTILE_UNROLL
#define ROOFTILE_NO_UNROLL
#endif
