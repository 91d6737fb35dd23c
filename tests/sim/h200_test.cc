// SPDX-License-Identifier: Apache-2.0
// The simulator against a real H200: the same bits, and the same requests, sectors and bank
// conflicts. The expected figures were recorded on an NVIDIA H200 (driver 580.159.04, CUDA 13.0) on
// 2026-11-29, the counters with Nsight Compute: l1tex__t_requests and
// __t_sectors_pipe_lsu_mem_global_op_{ld,st},
// l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{ld,st}. Where warps contend, the hardware
// counts some conflicts more (rmsnorm: 1296 of 34064 wavefronts of loads), which are not modelled.
#include <gtest/gtest.h>

#include "tests/sim/h200_data.h"
#include "tests/sim/sim_test_support.h"

extern const rooftile::KernelTable h200_kernels;

namespace rooftile::sim_test {
namespace {

struct Expected {
  std::uint64_t hash;
  std::uint64_t load_requests, load_sectors, store_requests, store_sectors;
  std::uint64_t load_conflicts, store_conflicts;
};

void expect(Simulated& sim, const SimLaunch& launch, const float* out, std::int64_t count,
            const Expected& expected) {
  using enum SimCounter;
  const std::vector<float> result = sim.values(out, count);
  const SimCounters& counters = launch.counters;
  EXPECT_EQ(findings(launch), "");
  EXPECT_EQ(h200::hash(result.data(), result.size() * sizeof(float)), expected.hash)
      << launch.kernel;
  EXPECT_EQ(counters[global_load_requests], expected.load_requests) << launch.kernel;
  EXPECT_EQ(counters[global_load_sectors], expected.load_sectors) << launch.kernel;
  EXPECT_EQ(counters[global_store_requests], expected.store_requests) << launch.kernel;
  EXPECT_EQ(counters[global_store_sectors], expected.store_sectors) << launch.kernel;
  EXPECT_EQ(counters[shared_load_conflicts], expected.load_conflicts) << launch.kernel;
  EXPECT_EQ(counters[shared_store_conflicts], expected.store_conflicts) << launch.kernel;
}

TEST(H200, Copies) {
  constexpr int kCount = 1 << 22;
  Simulated sim;
  const float* in = sim.memory(h200::uniforms(kCount, 1));
  float* out = sim.memory<float>(kCount);
  expect(sim, sim.run(h200_kernels, "copy_coalesced", {{kCount / 256}, {256}}, in, out, kCount),
         out, kCount, {0xe770cf98382746b1, 131072, 524288, 131072, 524288, 0, 0});
  expect(sim, sim.run(h200_kernels, "copy_vec4", {{kCount / 1024}, {256}}, in, out, kCount / 4),
         out, kCount, {0xe770cf98382746b1, 32768, 524288, 32768, 524288, 0, 0});
  const auto strided = [&](int stride, std::uint64_t sectors, std::uint64_t hash) {
    expect(sim,
           sim.run(h200_kernels, "copy_strided", {{kCount / 256}, {256}}, in, out, kCount, stride),
           out, kCount, {hash, 131072, sectors, 131072, 524288, 0, 0});
  };
  strided(2, 1048576, 0x37b494ed74adb8a9);
  strided(8, 4194304, 0x78e3cf831cf45a79);
  strided(32, 4194304, 0x4df0812d87fb2f39);
}

TEST(H200, Transpose) {
  constexpr int kSize = 1024;
  Simulated sim;
  const float* in = sim.memory(h200::uniforms(kSize * kSize, 2));
  float* out = sim.memory<float>(kSize * kSize);
  for (const int pad : {0, 1})
    expect(sim,
           sim.run(h200_kernels, "transpose<" + std::to_string(pad) + ">",
                   {{kSize / 32, kSize / 32}, {32, 8}}, in, out, kSize),
           out, kSize * kSize,
           {0xa9d140a96a80b8fb, 32768, 131072, 32768, 131072, pad == 0 ? 1015808u : 0u, 0});
}

TEST(H200, Rmsnorm) {
  constexpr int kSize = 4096;
  Simulated sim;
  const float* x = sim.memory(h200::uniforms(std::size_t{kSize} * kSize, 3));
  const float* w = sim.memory(h200::uniforms(kSize, 4));
  float* y = sim.memory<float>(kSize * kSize);
  const SimLaunch launch =
      sim.run(h200_kernels, "rmsnorm<256, 4096>", {{kSize}, {256}}, x, w, y, 1e-5f);
  expect(sim, launch, y, kSize * kSize,
         {0xfcebb1f53a327abc, 262144, 4194304, 131072, 2097152, 0, 0});
  EXPECT_EQ(launch.counters[SimCounter::shared_load_requests], 32768u);
  EXPECT_EQ(launch.counters[SimCounter::shared_store_requests], 32768u);
}

}  // namespace
}  // namespace rooftile::sim_test
