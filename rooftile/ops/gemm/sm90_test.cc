// SPDX-License-Identifier: Apache-2.0
// The warp-specialised kernel on the simulated H200 gives the bits that an H200 gave.
#include <gtest/gtest.h>

#include "rooftile/device/sim/sim_device.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "tests/sim/h200_data.h"

namespace rooftile {
namespace {

// Recorded on an NVIDIA H200 on 2026-11-29, of a kernel with 128x128 tiles: the tensor cores round
// after every 16 of k, whatever the tile.
constexpr std::uint64_t kHashOf512 = 0x7449b4b934b2ccfe;

TEST(GemmSm90, WarpSpecialisedHasTheBitsOfAnH200) {
  constexpr std::int64_t kSize = 512;
  const std::unique_ptr<SimDevice> device = make_sim_device("h200");
  const std::unique_ptr<Stream> stream = device->make_stream();
  const std::size_t bytes = kSize * kSize * 2;
  std::vector<DeviceMemory> memory;
  for (int i = 0; i < 3; ++i) memory.emplace_back(*device, static_cast<std::int64_t>(bytes));
  std::vector<std::uint16_t> host(kSize * kSize);
  for (const std::uint32_t operand : {1u, 2u}) {
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = h200::uniform_bf16(i, 4 + operand);
    device->copy_to_device(*stream, memory[operand].data(), host.data(),
                           static_cast<std::int64_t>(bytes));
  }
  const Operation& gemm = catalogue().operation("gemm");
  const Problem problem =
      bind(*gemm.def, parse_problem_text("gemm m=512 n=512 k=512 a=bf16 layout=nt"));
  std::vector<TensorView> views(problem.args.size());
  for (std::size_t i = 0; i < problem.args.size(); ++i) {
    const ArgChoice& arg = problem.args[i];
    if (!arg.is_present) continue;
    const std::size_t which = arg.name == "d" ? 0 : arg.name == "a" ? 1 : 2;
    views[i] = {memory[which].data(), arg.dtype,           arg.shape,
                arg.strides,          device->device_id(), nullptr};
  }
  const KernelDef& kernel = gemm.kernel("sm90_ws");
  for (const Config& config : kernel.configs(problem, device->properties())) {
    Plan(kernel, problem, *device, config).run({.stream = stream.get()}, views);
    stream->synchronise();
    device->copy_to_host(*stream, host.data(), memory[0].data(), static_cast<std::int64_t>(bytes));
    EXPECT_EQ(h200::hash(host.data(), bytes), kHashOf512) << config.text();
    const std::vector<SimLaunch> launches = device->take_launches();
    ASSERT_EQ(launches.size(), 1u);
    const SimCounters& counters = launches[0].counters;
    EXPECT_EQ(counters[SimCounter::wgmma_multiply_adds], 512u * 512 * 512);
    EXPECT_EQ(counters[SimCounter::shared_store_conflicts], 0u);
    EXPECT_EQ(counters[SimCounter::tma_store_bytes], bytes);
  }
}

}  // namespace
}  // namespace rooftile
