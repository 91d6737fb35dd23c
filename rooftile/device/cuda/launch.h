// SPDX-License-Identifier: Apache-2.0
// Kernels on one GPU: loaded at their first launch, their limits checked before CUDA sees a launch,
// so that the reason is one that a person can act on.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "rooftile/device/cuda/context.h"
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/hardware/gpu.h"

namespace rooftile {

class CudaKernels {
 public:
  /// `limits` has the name and the compute capability of the device.
  CudaKernels(CudaContext& context, Gpu limits) : context_(context), limits_(std::move(limits)) {}

  /// Launches on `stream`; the device is current. Throws Error(bad_input) for a shape that the
  /// device or the kernel cannot have, Error(unsupported) for a kernel without code for it.
  void launch(cudaStream_t stream, const GpuKernel& kernel, const LaunchShape& shape, void** args);

 private:
  struct Loaded {
    const void* handle;  // a cudaKernel_t
    std::int64_t static_shared_bytes;
    int max_threads;  // of a block, by its registers and __launch_bounds__
    int registers;
  };
  const Loaded& loaded(const GpuKernel& kernel);
  Loaded load(const GpuKernel& kernel);
  void check(const GpuKernel& kernel, const Loaded& loaded, const LaunchShape& shape) const;

  CudaContext& context_;
  Gpu limits_;
  std::mutex mutex_;
  std::unordered_map<const KernelEntry*, Loaded> loaded_;
};

}  // namespace rooftile
