// SPDX-License-Identifier: Apache-2.0
// A kernel of a user's project, compiled by rooftile_add_kernels(), on a simulated H200 and on the
// first GPU of this machine, if there is one.
#include <rooftile/tile/kernel_table.h>

#if ROOFTILE_DEVICE_CODE
#include <rooftile/tile/language.h>
#include <rooftile/tile/ptx/grid_dependency.h>

__global__ void saxpy(int n, float a, const float* x, float* y) {
  __shared__ float scaled[128];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  rooftile::wait_for_grid();
  if (i >= n) return;
  scaled[threadIdx.x] = a * x[i];
  y[i] = scaled[threadIdx.x] + y[i];
}

#else
#include <rooftile/base/error.h>
#include <rooftile/device/device.h>
#include <rooftile/device/gpu_kernel.h>
#include <rooftile/device/sim/sim_device.h>
#include <cstdio>
#include <vector>

extern const rooftile::KernelTable saxpy_kernels;

namespace {

bool is_right_on(rooftile::Device& device) {
  constexpr int kCount = 1000;
  constexpr std::int64_t kBytes = kCount * sizeof(float);
  std::vector<float> x(kCount, 2);
  std::vector<float> y(kCount, 1);
  const auto stream = device.make_stream();
  const rooftile::DeviceMemory device_x(device, kBytes);
  const rooftile::DeviceMemory device_y(device, kBytes);
  device.copy_to_device(*stream, device_x.data(), x.data(), kBytes);
  device.copy_to_device(*stream, device_y.data(), y.data(), kBytes);
  rooftile::launch(*stream, rooftile::find_kernel(saxpy_kernels, "saxpy"),
                   {.grid = {.x = 8}, .block = {.x = 128}}, kCount, 3.0F, device_x.data(),
                   device_y.data());
  device.copy_to_host(*stream, y.data(), device_y.data(), kBytes);
  stream->synchronise();
  const bool is_right = y == std::vector<float>(kCount, 7);
  std::printf("saxpy on %s: %s\n", device.properties().id.c_str(), is_right ? "ok" : "FAILED");
  return is_right;
}

// Under several orders of threads, each of which leaves what it counted.
bool is_right_when_simulated() {
  const auto device = rooftile::make_sim_device("h200");
  for (const char* options : {"order=in_order completion=late", "order=reversed completion=early",
                              "order=random completion=random seed=7"}) {
    device->set_options(rooftile::parse_sim_options(options));
    if (!is_right_on(*device)) return false;
    const std::vector<rooftile::SimLaunch> launches = device->take_launches();
    if (launches.size() != 1 || !launches[0].findings.empty() || launches[0].lines.empty() ||
        launches[0].counters[rooftile::SimCounter::blocks] != 8)
      return false;
  }
  return true;
}

}  // namespace

int main() try {
  bool is_right = is_right_when_simulated();
  for (const rooftile::DeviceFactory& factory : rooftile::device_factories())
    if (factory.family == "cuda" && !factory.list().empty())
      is_right = is_right_on(*factory.open("cuda:0")) && is_right;
  return is_right ? 0 : 1;
} catch (const rooftile::Error& error) {
  std::printf("own_kernel: %s\n", error.what());
  return 1;
}
#endif

ROOFTILE_KERNEL_TABLE(saxpy_kernels, ROOFTILE_KERNEL_ENTRY(saxpy))
