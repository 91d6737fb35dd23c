// SPDX-License-Identifier: Apache-2.0
// Kernels as a GPU's runtime and the simulator launch them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/device/device.h"
#include "rooftile/tile/kernel_table.h"

namespace ROOFTILE_API rooftile {

/// One kernel in every pass that was built: `simulated` always is.
struct GpuKernel {
  std::string table;
  KernelEntries all{};  // of the simulator's pass
  const KernelEntry* simulated = nullptr;
  const KernelEntry* cuda = nullptr;  // null: this library was built without nvcc
  std::string ptxas_report{};         // a file that may exist: see ptxas_report.h
};

/// Throws Error(bad_input), which lists the kernels of the table, for a name that is not there.
GpuKernel find_kernel(const KernelTable& table, std::string_view name);
/// In the one of the tables that has it: of a kernel whose instances are in several .cu files.
GpuKernel find_kernel(std::initializer_list<const KernelTable*> tables, std::string_view name);

struct Extent3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  /// The product, or the largest number where it is larger.
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(std::uint64_t{x} * y, z, &product) ? UINT64_MAX : product;
  }
};

struct LaunchShape {
  Extent3 grid{};   // blocks
  Extent3 block{};  // threads
  std::int64_t dynamic_shared_bytes = 0;
  Extent3 cluster{};                  // blocks of a cluster; the grid is a multiple of it
  bool programmatic_overlap = false;  // may start before the kernel ahead of it has ended (PDL)
};

/// "grid 32x8, block 256, 49152 bytes of dynamic shared memory"
std::string description(const LaunchShape& shape);

/// Throws Error(bad_input) that names the limit, for a launch that a device with these limits
/// refuses: threads, grid, cluster, shared memory (`static_shared_bytes` are the kernel's own).
void check_launch(const LaunchShape& shape, const Gpu& gpu, std::int64_t static_shared_bytes);

/// Launches with arguments at addresses `args`, one for each parameter; their types must be those
/// of the kernel, in `parameters` as kernel_table::signature() writes them. Throws Error(bad_input)
/// when they are not, and Error(unsupported) on devices that run no such kernels.
void launch_kernel(Stream& stream, const GpuKernel& kernel, const LaunchShape& shape, void** args,
                   std::string_view parameters);

template <class... Args>
void launch(Stream& stream, const GpuKernel& kernel, const LaunchShape& shape, Args... args) {
  std::array<void*, sizeof...(Args) + 1> addresses{
      const_cast<void*>(static_cast<const void*>(&args))..., nullptr};
  launch_kernel(stream, kernel, shape, addresses.data(),
                kernel_table::Signature<Args...>::kText.chars);
}

}  // namespace rooftile
