// SPDX-License-Identifier: Apache-2.0
// How the host finds the kernels of a .cu file. Such a file is compiled up to three times: by nvcc
// for a GPU, by the host's compiler for the simulator, and by the host's compiler for its
// launchers. A table at its end, outside of any #if, connects them:
//
//   #include "rooftile/tile/kernel_table.h"
//   #if ROOFTILE_DEVICE_CODE
//   __global__ void saxpy(int n, float a, const float* x, float* y) { … }
//   #else
//   … launcher, KernelDef: launch(stream, saxpy_kernels.find("saxpy"), shape, n, a, x, y)
//   #endif
//   ROOFTILE_KERNEL_TABLE(saxpy_kernels, ROOFTILE_KERNEL_ENTRY(saxpy))
#pragma once

#include <cstddef>
#include <type_traits>

#include "rooftile/base/api.h"

#if defined(__CUDACC__) || defined(ROOFTILE_SIM_PASS)
#define ROOFTILE_DEVICE_CODE 1
#else
#define ROOFTILE_DEVICE_CODE 0
#endif

namespace ROOFTILE_API rooftile {

/// One kernel of one pass. `code` is what the CUDA runtime calls a function's host stub, or the
/// simulator's caller: void(void** args).
struct KernelEntry {
  const char* name;        // as in the source: "saxpy", "row<bf16, 256>"
  const char* parameters;  // a letter for each, see parameter_letter(); sizes of structs follow it
  const void* code;
  /// Gives the cudaKernel_t of `code`, returns a cudaError_t; null in the simulator's pass. Why: a
  /// stub is known only to the CUDA runtime of its own program or library, of which each that links
  /// the static one has a copy; the handle is good for all of them.
  int (*cuda_kernel)(void** kernel, const void* code) = nullptr;
  int max_threads = 0;  // of a block, by __launch_bounds__; 0: no bound, or the CUDA runtime's
};

/// A span of entries without <span>, which nvcc takes long to read.
struct KernelEntries {
  const KernelEntry* first = nullptr;
  std::size_t count = 0;
};

/// The kernels of one .cu file, in each pass that was built.
struct KernelTable {
  const char* name;
  KernelEntries (*simulated)();
  KernelEntries (*cuda)();             // null: built without nvcc
  const char* ptxas_report = nullptr;  // the file of what ptxas said, in the folder of the build
};

namespace kernel_table {

/// 'p' pointer, 'i' integer, 'f' floating point, 's' class, followed by the size in bytes.
template <class T>
constexpr char parameter_letter() {
  if constexpr (std::is_pointer_v<T>)
    return 'p';
  else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
    return 'i';
  else if constexpr (std::is_floating_point_v<T>)
    return 'f';
  else
    return 's';
}

template <class... Parameters>
struct Signature {
  static constexpr std::size_t kBytesEach = 6;
  struct Text {
    char chars[sizeof...(Parameters) * kBytesEach + 1] = {};
    constexpr Text() {
      std::size_t at = 0;
      [[maybe_unused]] const auto add = [&](char letter, std::size_t size) {
        chars[at++] = letter;
        char digits[kBytesEach] = {};
        int count = 0;
        for (; size != 0; size /= 10) digits[count++] = static_cast<char>('0' + size % 10);
        while (count != 0) chars[at++] = digits[--count];
      };
      (add(parameter_letter<std::remove_cv_t<Parameters>>(), sizeof(Parameters)), ...);
    }
  };
  static constexpr Text kText{};
};

template <class... Parameters>
constexpr const char* signature(void (*)(Parameters...)) {
  return Signature<Parameters...>::kText.chars;
}

#if defined(__CUDACC__)
[[maybe_unused]] static int cuda_kernel(void** kernel, const void* code) {
  return static_cast<int>(cudaGetKernel(reinterpret_cast<cudaKernel_t*>(kernel), code));
}
#endif

}  // namespace kernel_table
}  // namespace rooftile

// ROOFTILE_KERNEL_TABLE(table, ROOFTILE_KERNEL_ENTRY(kernel), …) at the end of a .cu file.
#if defined(__CUDACC__)
#define ROOFTILE_KERNEL_ENTRY(...)                                                               \
  {#__VA_ARGS__, ::rooftile::kernel_table::signature(&__VA_ARGS__), (const void*)(&__VA_ARGS__), \
   &::rooftile::kernel_table::cuda_kernel}
#define ROOFTILE_KERNEL_TABLE(table, ...)                           \
  ::rooftile::KernelEntries table##_cuda() {                        \
    static const ::rooftile::KernelEntry entries[] = {__VA_ARGS__}; \
    return {entries, sizeof(entries) / sizeof(entries[0])};         \
  }
#elif defined(ROOFTILE_SIM_PASS)
#define ROOFTILE_KERNEL_ENTRY(...) ::rooftile::sim::entry<&__VA_ARGS__>(#__VA_ARGS__, &__VA_ARGS__)
#define ROOFTILE_KERNEL_TABLE(table, ...)                           \
  ::rooftile::KernelEntries table##_simulated() {                   \
    static const ::rooftile::KernelEntry entries[] = {__VA_ARGS__}; \
    return {entries, sizeof(entries) / sizeof(entries[0])};         \
  }
#elif defined(ROOFTILE_CUDA_PASS)
#define ROOFTILE_KERNEL_TABLE(table, ...)                                        \
  ::rooftile::KernelEntries table##_simulated();                                 \
  ::rooftile::KernelEntries table##_cuda();                                      \
  extern const ::rooftile::KernelTable table;                                    \
  const ::rooftile::KernelTable table{#table, &table##_simulated, &table##_cuda, \
                                      ROOFTILE_PTXAS_REPORT};
#else
#define ROOFTILE_KERNEL_TABLE(table, ...)        \
  ::rooftile::KernelEntries table##_simulated(); \
  extern const ::rooftile::KernelTable table;    \
  const ::rooftile::KernelTable table{#table, &table##_simulated, nullptr};
#endif
