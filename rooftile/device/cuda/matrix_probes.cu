// SPDX-License-Identifier: Apache-2.0
// The tensor cores alone: two warpgroups of every SM multiply 64 x 256 tiles that stay in shared
// memory (wgmma, A and B from there, sums in registers), for milliseconds, as long as the power
// limit needs to show. The numbers are normal ones: zeros draw less power, and the clock is higher.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/shared_address.h"
#include "rooftile/tile/ptx/wgmma.h"
#include "rooftile/tile/unroll.h"
#else
#include <algorithm>
#include <cmath>
#include <memory>

#include "rooftile/base/rng.h"
#include "rooftile/device/cuda/probes.h"
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/tile/ptx/matrix_types.h"
#endif

namespace rooftile {

extern const KernelTable cuda_matrix_probe_kernels;

namespace {

constexpr int kWarpgroups = 2;
constexpr int kThreads = 128 * kWarpgroups;
constexpr int kRows = 64;  // of A, each warpgroup's own
constexpr int kColumns = 256;
constexpr int kRowBytes = 128;  // of A and of B along k: one period of the swizzle
constexpr int kBytesOfA = kWarpgroups * kRows * kRowBytes;
constexpr int kStageBytes = kBytesOfA + kColumns * kRowBytes;
constexpr int kStages = 4;  // other numbers each time, as in a real product
constexpr int kBytes = kStages * kStageBytes;
constexpr int kAlignment = 1024;  // the swizzle's pattern

#if ROOFTILE_DEVICE_CODE

template <class T, class Sum>
__global__ void __launch_bounds__(kThreads, 1)
    multiply_matrices(int rounds, const uint4* numbers, float* sink) {
  using Mma = Wgmma<T, T, Sum, kColumns>;
  ROOFTILE_DYNAMIC_SHARED(raw);
  unsigned char* const shared = raw + (kAlignment - shared_address(raw) % kAlignment) % kAlignment;
  for (int i = static_cast<int>(threadIdx.x); i < kBytes / 16; i += kThreads)
    reinterpret_cast<uint4*>(shared)[i] = numbers[i];
  fence_proxy_async_shared();
  __syncthreads();

  const int warpgroup = static_cast<int>(threadIdx.x) / 128;
  const WgmmaLayout layout = k_major_rows(Swizzle::bytes128);
  const uint64_t a = wgmma_descriptor(shared + warpgroup * kRows * kRowBytes, layout);
  const uint64_t b = wgmma_descriptor(shared + kBytesOfA, layout);
  typename Mma::Register sum[Mma::kRegisters];
  ROOFTILE_UNROLL for (int i = 0; i < Mma::kRegisters; ++i) sum[i] = 0;
  ROOFTILE_NO_UNROLL for (int round = 0; round < rounds; ++round) {
    const uint32_t stage = static_cast<uint32_t>(round % kStages) * kStageBytes;
    wgmma_fence(sum);
    ROOFTILE_UNROLL for (uint32_t j = 0; j < kRowBytes / 32; ++j)
        Mma::ss(sum, advanced(a, stage + 32 * j), advanced(b, stage + 32 * j), true);
    wgmma_commit_group();
    wgmma_wait_group<1>(sum);
  }
  wgmma_wait_group<0>(sum);
  float total = 0;
  ROOFTILE_UNROLL for (int i = 0; i < Mma::kRegisters; ++i) total += static_cast<float>(sum[i]);
  if (total == 1.2345e33F) *sink = total;  // a number of no meaning keeps the sums alive
}

#else

constexpr int kRounds = 8192;

template <class T>
std::vector<T> normal_numbers() {
  constexpr double kInt8Scale = 32;
  std::vector<T> numbers(kBytes / sizeof(T));
  const Rng rng(0, "matrix probe");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double value = rng.normal(i);
    if constexpr (std::is_integral_v<T>)
      numbers[i] = static_cast<T>(std::clamp(std::round(value * kInt8Scale), -127.0, 127.0));
    else
      numbers[i] = T::from(static_cast<float>(value), T::kOverflow, Rounding::nearest_even);
  }
  return numbers;
}

template <class T>
void add_probe(std::vector<Probe>& probes, Device& device, Stream& stream, Unit unit,
               const char* kernel_name) {
  const std::vector<T> numbers = normal_numbers<T>();
  const auto memory = std::make_shared<DeviceMemory>(device, kBytes);
  device.copy_to_device(stream, memory->data(), numbers.data(), kBytes);
  stream.synchronise();
  const GpuKernel kernel = find_kernel(cuda_matrix_probe_kernels, kernel_name);
  const int units = device.properties().compute_units;
  const LaunchShape shape{.grid = {.x = static_cast<std::uint32_t>(units)},
                          .block = {.x = kThreads},
                          .dynamic_shared_bytes = kBytes + kAlignment};
  constexpr double kOpsOfRound = 2.0 * kWarpgroups * kRows * kColumns * (kRowBytes / sizeof(T));
  probes.push_back({.name = std::string(name(unit)) + " wgmma",
                    .unit = unit,
                    .ops = kOpsOfRound * kRounds * units,
                    .run = [=](Stream& on) {
                      // Never written: no sum is the number that would be.
                      launch(on, kernel, shape, kRounds, memory->data(), memory->data());
                    }});
}

#endif

}  // namespace

#if !ROOFTILE_DEVICE_CODE
void add_cuda_matrix_probes(std::vector<Probe>& probes, Device& device) {
  if (device.properties().kind != "sm90") return;
  const std::unique_ptr<Stream> stream = device.make_stream();
  add_probe<tf32>(probes, device, *stream, Unit::tf32, "multiply_matrices<tf32, float>");
  add_probe<bf16>(probes, device, *stream, Unit::bf16, "multiply_matrices<bf16, float>");
  add_probe<fp16>(probes, device, *stream, Unit::fp16, "multiply_matrices<fp16, float>");
  add_probe<e4m3>(probes, device, *stream, Unit::fp8, "multiply_matrices<e4m3, float>");
  add_probe<std::int8_t>(probes, device, *stream, Unit::int8, "multiply_matrices<int8_t, int32_t>");
}
#endif

ROOFTILE_KERNEL_TABLE(cuda_matrix_probe_kernels,
                      ROOFTILE_KERNEL_ENTRY(multiply_matrices<tf32, float>),
                      ROOFTILE_KERNEL_ENTRY(multiply_matrices<bf16, float>),
                      ROOFTILE_KERNEL_ENTRY(multiply_matrices<fp16, float>),
                      ROOFTILE_KERNEL_ENTRY(multiply_matrices<e4m3, float>),
                      ROOFTILE_KERNEL_ENTRY(multiply_matrices<int8_t, int32_t>))

}  // namespace rooftile
