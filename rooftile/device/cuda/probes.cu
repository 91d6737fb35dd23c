// SPDX-License-Identifier: Apache-2.0
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/language.h"
#else
#include <algorithm>
#include <memory>

#include "rooftile/device/cuda/probes.h"
#include "rooftile/device/gpu_kernel.h"
#endif

namespace rooftile {

extern const KernelTable cuda_probe_kernels;

namespace {

constexpr int kThreads = 256;
// Why loads of a kernel that only reads are four and others one: measured on an H200; a thread that
// also stores does best when it does nothing more (copy: 4.27 TB/s, with four 4.10).
constexpr int kLoads = 4;
constexpr int kChains = 16;  // independent multiply-adds, which hide each other's latency
constexpr int kRounds = 4096;

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

__device__ long long index() { return static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; }

// A sum that is a certain number of no meaning is stored, which keeps the loads alive.
__global__ void read(const float4* from, float* sink) {
  float4 value[kLoads];
  const long long first = (index() - threadIdx.x) * kLoads + threadIdx.x;
  for (int j = 0; j < kLoads; ++j) value[j] = from[first + j * kThreads];
  float sum = 0;
  for (int j = 0; j < kLoads; ++j) sum += value[j].x + value[j].y + value[j].z + value[j].w;
  if (sum == 1.2345e33F) *sink = sum;
}

__global__ void write(float4* to, float value) {
  to[index()] = make_float4(value, value, value, value);
}

__global__ void copy(float4* to, const float4* from) { to[index()] = from[index()]; }

__global__ void triad(float4* to, const float4* a, const float4* b, float s) {
  const float4 x = a[index()];
  const float4 y = b[index()];
  to[index()] =
      make_float4(fmaf(s, y.x, x.x), fmaf(s, y.y, x.y), fmaf(s, y.z, x.z), fmaf(s, y.w, x.w));
}

__global__ void multiply_add_fp32(float x, float* sink) {
  float chain[kChains];
  for (int j = 0; j < kChains; ++j) chain[j] = static_cast<float>(j);
  for (int i = 0; i < kRounds; ++i)
    for (int j = 0; j < kChains; ++j) chain[j] = fmaf(chain[j], x, x);
  float sum = 0;
  for (int j = 0; j < kChains; ++j) sum += chain[j];
  if (sum == 1.2345e33F) *sink = sum;
}

}  // namespace

#else

namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{16} * kThreads;
constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;
constexpr int kBlocksPerUnit = 8 * 4;  // all 2048 threads of a unit, four times over

// Blocks that cover `bytes`, each thread 16 of them `each` times.
LaunchShape shape_for(std::int64_t bytes, int each = 1) {
  return {.grid = {.x = static_cast<std::uint32_t>(bytes / kBlockBytes / each)},
          .block = {.x = kThreads}};
}

struct Buffers {
  DeviceMemory a, b, c, sink;
  std::int64_t bytes;
};

void add_memory_probes(std::vector<Probe>& probes, const std::shared_ptr<Buffers>& buffers) {
  const auto add = [&](const char* name, int reads, int writes, auto run) {
    const auto bytes = static_cast<double>(buffers->bytes);
    const GpuKernel kernel = find_kernel(cuda_probe_kernels, name);
    probes.push_back({.name = name,
                      .read_bytes = reads * bytes,
                      .written_bytes = writes * bytes,
                      .run = [=](Stream& stream) { run(stream, kernel, *buffers); }});
  };
  add("read", 1, 0, [](Stream& stream, const GpuKernel&, const Buffers& b) {
    probe_read(stream, b.a.data(), b.bytes, b.sink.data());
  });
  add("write", 0, 1, [](Stream& stream, const GpuKernel& kernel, const Buffers& b) {
    launch(stream, kernel, shape_for(b.bytes), b.c.data(), 3.0F);
  });
  add("copy", 1, 1, [](Stream& stream, const GpuKernel& kernel, const Buffers& b) {
    launch(stream, kernel, shape_for(b.bytes), b.c.data(), b.a.data());
  });
  add("triad", 2, 1, [](Stream& stream, const GpuKernel& kernel, const Buffers& b) {
    launch(stream, kernel, shape_for(b.bytes), b.c.data(), b.a.data(), b.b.data(), 3.0F);
  });
}

void add_fp32_probe(std::vector<Probe>& probes, const std::shared_ptr<Buffers>& buffers,
                    int units) {
  const GpuKernel kernel = find_kernel(cuda_probe_kernels, "multiply_add_fp32");
  const LaunchShape shape{.grid = {.x = static_cast<std::uint32_t>(units * kBlocksPerUnit)},
                          .block = {.x = kThreads}};
  probes.push_back(
      {.name = "fp32 multiply-add",
       .unit = Unit::fp32,
       .ops = 2.0 * kChains * kRounds * kThreads * units * kBlocksPerUnit,
       .run = [=](Stream& stream) { launch(stream, kernel, shape, 0.5F, buffers->sink.data()); }});
}

}  // namespace

void probe_read(Stream& stream, const void* from, std::int64_t bytes, void* sink) {
  launch(stream, find_kernel(cuda_probe_kernels, "read"), shape_for(bytes, kLoads), from, sink);
}

std::vector<Probe> cuda_probes(Device& device) {
  const DeviceProperties& properties = device.properties();
  const std::int64_t bytes = std::min(kMostBytes, properties.memory_bytes / 16) /
                             (kBlockBytes * kLoads) * (kBlockBytes * kLoads);
  const auto buffers = std::make_shared<Buffers>(
      Buffers{DeviceMemory(device, bytes), DeviceMemory(device, bytes), DeviceMemory(device, bytes),
              DeviceMemory(device, sizeof(float)), bytes});
  const auto stream = device.make_stream();
  const GpuKernel fill = find_kernel(cuda_probe_kernels, "write");
  for (const DeviceMemory* memory : {&buffers->a, &buffers->b, &buffers->c})
    launch(*stream, fill, shape_for(bytes), memory->data(), 1.0F);
  stream->synchronise();
  std::vector<Probe> probes;
  add_memory_probes(probes, buffers);
  add_fp32_probe(probes, buffers, properties.compute_units);
  add_cuda_matrix_probes(probes, device);
  return probes;
}

#endif

ROOFTILE_KERNEL_TABLE(cuda_probe_kernels, ROOFTILE_KERNEL_ENTRY(read), ROOFTILE_KERNEL_ENTRY(write),
                      ROOFTILE_KERNEL_ENTRY(copy), ROOFTILE_KERNEL_ENTRY(triad),
                      ROOFTILE_KERNEL_ENTRY(multiply_add_fp32))

}  // namespace rooftile
