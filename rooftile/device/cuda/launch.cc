// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/launch.h"

#include <array>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr int kClusterMajor = 9;  // the first compute capability with clusters and early starts

std::string text(const GpuKernel& kernel) {
  return std::string(kernel.cuda->name) + " of " + kernel.table;
}

dim3 dim3_of(const Extent3& extent) { return {extent.x, extent.y, extent.z}; }

}  // namespace

CudaKernels::Loaded CudaKernels::load(const GpuKernel& kernel) {
  const std::string doing = "loading kernel " + text(kernel);
  void* handle = nullptr;
  const auto found = static_cast<cudaError_t>(kernel.cuda->cuda_kernel(&handle, kernel.cuda->code));
  cudaFuncAttributes attributes{};
  const cudaError_t status =
      found == cudaSuccess ? cudaFuncGetAttributes(&attributes, handle) : found;
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction) {
    (void)cudaGetLastError();
    throw Error(ErrorCode::unsupported, "kernel " + text(kernel) + " has no code for " +
                                            std::string(limits_.name) + ", compute capability " +
                                            name(*limits_.compute_capability));
  }
  if (status != cudaSuccess) context_.fail(status, doing);
  const auto static_shared_bytes = static_cast<std::int64_t>(attributes.sharedSizeBytes);
  const std::int64_t room =
      sm_limits(*limits_.compute_capability).max_block_shared_bytes - static_shared_bytes;
  // More than 48 KiB must be asked for. Occupancy follows from what a launch takes, not from this.
  const cudaError_t opted = cudaFuncSetAttribute(
      handle, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(room));
  if (opted != cudaSuccess) context_.fail(opted, doing);
  return {handle, static_shared_bytes, attributes.maxThreadsPerBlock, attributes.numRegs};
}

const CudaKernels::Loaded& CudaKernels::loaded(const GpuKernel& kernel) {
  const std::lock_guard lock(mutex_);
  const auto found = loaded_.find(kernel.cuda);
  if (found != loaded_.end()) return found->second;
  return loaded_.emplace(kernel.cuda, load(kernel)).first->second;
}

void CudaKernels::check(const GpuKernel& kernel, const Loaded& loaded,
                        const LaunchShape& shape) const {
  check_launch(shape, limits_, loaded.static_shared_bytes);
  if (shape.block.count() > static_cast<std::uint64_t>(loaded.max_threads))
    fail_input("kernel " + text(kernel) + ": " + description(shape) + ": with its " +
               std::to_string(loaded.registers) +
               " registers a thread and launch bounds, at most " +
               std::to_string(loaded.max_threads) + " threads a block");
  if (shape.cluster.count() != 1 && limits_.compute_capability->major < kClusterMajor)
    fail_input("kernel " + text(kernel) + ": " + description(shape) + ": " +
               std::string(limits_.name) + " has no clusters");
}

void CudaKernels::launch(cudaStream_t stream, const GpuKernel& kernel, const LaunchShape& shape,
                         void** args) {
  if (kernel.cuda == nullptr)
    throw Error(ErrorCode::unsupported,
                "kernel " + std::string(kernel.simulated->name) + " of " + kernel.table +
                    " was compiled without nvcc: it runs on simulated devices only");
  const Loaded& its = loaded(kernel);
  check(kernel, its, shape);

  std::array<cudaLaunchAttribute, 2> attributes{};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3_of(shape.grid);
  config.blockDim = dim3_of(shape.block);
  config.dynamicSmemBytes = static_cast<std::size_t>(shape.dynamic_shared_bytes);
  config.stream = stream;
  config.attrs = attributes.data();
  if (shape.cluster.count() != 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
  }
  if (shape.programmatic_overlap && limits_.compute_capability->major >= kClusterMajor) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  const cudaError_t status = cudaLaunchKernelExC(&config, its.handle, args);
  if (status != cudaSuccess)
    context_.fail(status, "launching kernel " + text(kernel) + ", " + description(shape));
}

}  // namespace rooftile
