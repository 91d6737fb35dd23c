// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/properties.h"

#include <array>

#include "rooftile/device/cuda/nvml.h"

namespace rooftile {
namespace {

// "580.159.04, CUDA 13.0": a tuned record depends on the code that the driver loads and how.
std::string driver_text(CudaContext& context) {
  int version = 0;
  context.check(cudaDriverGetVersion(&version), "asking for the driver's version");
  const std::string cuda =
      "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  const std::string driver = nvml_driver_version();
  return driver.empty() ? cuda : driver + ", " + cuda;
}

std::string pci_bus_id_of(CudaContext& context) {
  std::array<char, 32> text{};
  context.check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), context.index()),
                "asking for its PCI address");
  return text.data();
}

}  // namespace

CudaProperties cuda_properties(CudaContext& context) {
  cudaDeviceProp told{};
  context.check(cudaGetDeviceProperties(&told, context.index()), "asking for its properties");
  const Gpu* row = find_gpu_of_driver(told.name);
  CudaProperties properties;
  properties.device = {.id = context.id(),
                       .name = told.name,
                       .kind = "sm" + std::to_string(told.major) + std::to_string(told.minor),
                       .driver = driver_text(context),
                       .compute_units = told.multiProcessorCount,
                       .memory_bytes = static_cast<std::int64_t>(told.totalGlobalMem),
                       .last_level_cache_bytes = told.l2CacheSize,
                       .gpu = row};
  if (row != nullptr) {
    properties.limits = *row;
  } else {
    properties.limits.name = "this GPU";
    properties.limits.compute_capability = ComputeCapability{told.major, told.minor};
  }
  properties.pci_bus_id = pci_bus_id_of(context);
  return properties;
}

}  // namespace rooftile
