// SPDX-License-Identifier: Apache-2.0
// What crosses the shared library's boundary. Symbols are hidden by default; a public header opens
// its namespace as `namespace ROOFTILE_API rooftile {`, which exports exactly what it declares.
#pragma once

#if defined(__CUDACC_RTC__)
#define ROOFTILE_API  // device code compiled at run time has no such boundary
#else
#define ROOFTILE_API [[gnu::visibility("default")]]
#endif
