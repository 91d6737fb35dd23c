// SPDX-License-Identifier: Apache-2.0
// Names and numbers are those of NVML's reference; its header is not always beside nvcc.
#include "rooftile/device/cuda/nvml.h"

#include <dlfcn.h>

#include <array>

namespace rooftile {
namespace {

using NvmlDevice = void*;
constexpr int kSuccess = 0;
constexpr int kClockSm = 1;                // NVML_CLOCK_SM
constexpr int kTemperatureGpu = 0;         // NVML_TEMPERATURE_GPU
constexpr std::size_t kVersionBytes = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
constexpr double kMilliwatts = 1e3;

class Nvml {
 public:
  Nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    int (*init)() = nullptr;
    find(library, "nvmlInit_v2", init);
    find(library, "nvmlSystemGetDriverVersion", driver_version);
    find(library, "nvmlDeviceGetHandleByPciBusId_v2", handle_by_pci_bus_id);
    find(library, "nvmlDeviceGetClockInfo", clock_info);
    find(library, "nvmlDeviceGetMaxClockInfo", max_clock_info);
    find(library, "nvmlDeviceGetPowerUsage", power_usage);
    find(library, "nvmlDeviceGetTemperature", temperature);
    works = init != nullptr && init() == kSuccess;
  }

  bool works = false;
  int (*driver_version)(char* text, unsigned bytes) = nullptr;
  int (*handle_by_pci_bus_id)(const char* id, NvmlDevice* device) = nullptr;
  int (*clock_info)(NvmlDevice device, int clock, unsigned* mhz) = nullptr;
  int (*max_clock_info)(NvmlDevice device, int clock, unsigned* mhz) = nullptr;
  int (*power_usage)(NvmlDevice device, unsigned* milliwatts) = nullptr;
  int (*temperature)(NvmlDevice device, int sensor, unsigned* celsius) = nullptr;

 private:
  template <class Function>
  static void find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
  }
};

// Never unloaded: its clean-up at exit would race with those that still ask.
const Nvml& nvml() {
  static const Nvml loaded;
  return loaded;
}

template <class Function, class... Args>
std::optional<double> ask(Function* function, Args... args) {
  unsigned value = 0;
  if (function == nullptr || function(args..., &value) != kSuccess) return std::nullopt;
  return value;
}

}  // namespace

std::string nvml_driver_version() {
  std::array<char, kVersionBytes> text{};
  if (!nvml().works || nvml().driver_version == nullptr ||
      nvml().driver_version(text.data(), kVersionBytes) != kSuccess)
    return {};
  return text.data();
}

DeviceState nvml_state(const std::string& pci_bus_id) {
  const Nvml& lib = nvml();
  NvmlDevice device = nullptr;
  if (!lib.works || lib.handle_by_pci_bus_id == nullptr ||
      lib.handle_by_pci_bus_id(pci_bus_id.c_str(), &device) != kSuccess)
    return {};
  DeviceState state{.clock_mhz = ask(lib.clock_info, device, kClockSm),
                    .nominal_clock_mhz = ask(lib.max_clock_info, device, kClockSm),
                    .power_w = ask(lib.power_usage, device),
                    .temperature_c = ask(lib.temperature, device, kTemperatureGpu)};
  if (state.power_w) *state.power_w /= kMilliwatts;
  return state;
}

}  // namespace rooftile
