// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/device.h"

#include <atomic>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/device/sim/sim_device.h"
#include "rooftile/tile/tensor_map.h"
#if ROOFTILE_WITH_CUDA
#include "rooftile/device/cuda/cuda_device.h"
#endif

namespace rooftile {

std::string description(const DeviceProperties& properties) {
  return properties.name + ", " + std::to_string(properties.compute_units) + " compute units, " +
         properties.kind;
}

std::shared_ptr<const std::uint64_t> Device::next_life() {
  static std::atomic<std::uint64_t> count{0};
  return std::make_shared<const std::uint64_t>(++count);
}

void Stream::launch_kernel(const GpuKernel&, const LaunchShape&, void**) {
  throw Error(ErrorCode::unsupported, device().properties().id + " runs no CUDA kernels");
}

std::unique_ptr<Graph> Stream::capture(const std::function<void()>&) {
  throw Error(ErrorCode::unsupported, device().properties().id + " has no graphs");
}

std::unique_ptr<Stream> Device::wrap_stream(void*) {
  throw Error(ErrorCode::unsupported, properties().id + " has no streams of another runtime");
}

TensorMap Device::encode_tensor_map(const TensorMapSpec&) {
  throw Error(ErrorCode::unsupported, properties().id + " has no TMA");
}

const std::vector<DeviceFactory>& device_factories() {
  static const std::vector<DeviceFactory> factories{
      cpu_device_factory(),
#if ROOFTILE_WITH_CUDA
      cuda_device_factory(),
#endif
      sim_device_factory(),
  };
  return factories;
}

std::unique_ptr<Device> open_device(const std::string& id) {
  std::vector<std::string> present;
  for (const DeviceFactory& factory : device_factories()) {
    for (const std::string& candidate : factory.list()) {
      if (candidate == id) return factory.open(id);
      present.push_back(candidate);
    }
    if (id.starts_with(factory.family + ":")) return factory.open(id);  // says why it is not there
  }
  std::string message = unknown_name("device", id, present);
  if (!ROOFTILE_WITH_CUDA && id.starts_with("cuda"))
    message += "; this library was built without CUDA (ROOFTILE_WITH_CUDA)";
  fail_input(message);
}

}  // namespace rooftile
