// SPDX-License-Identifier: Apache-2.0
// The warp-specialised kernel on the simulated H200 gives the bits that an H200 gave; and the tuned
// records that come with the library are of kernels and configurations that it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "rooftile/base/test_folder.h"
#include "rooftile/device/sim/sim_device.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/cache.h"
#include "rooftile/op/generate.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/registry.h"
#include "rooftile/op/storage.h"
#include "rooftile/op/tolerance.h"
#include "rooftile/op/tuned.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/gemm/gemm.h"
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
    const auto columns = static_cast<std::uint64_t>(config.at("block_n"));
    EXPECT_EQ(counters[SimCounter::wgmma_multiply_adds],
              512 * 512 * ((511 + columns) / columns * columns));
    EXPECT_EQ(counters[SimCounter::shared_store_conflicts], 0u);
    EXPECT_EQ(counters[SimCounter::tma_store_bytes], bytes);
  }
}

// More tiles than blocks: D of one leaves while the next is multiplied, however it is finished.
TEST(GemmSm90, BlocksFinishEveryTile) {
  const std::unique_ptr<SimDevice> device = make_sim_device("h200");
  const std::unique_ptr<Stream> stream = device->make_stream();
  for (const char* line : {"gemm m=17000 n=16 k=328 a=bf16 layout=nt bias=f32 act=silu",
                           "gemm m=17000 n=16 k=72 a=bf16 layout=nt bias=bf16 residual=bf16",
                           "gemm m=17000 n=16 k=72 a=bf16 layout=nt d=f32"}) {
    SCOPED_TRACE(line);
    const Problem problem = catalogue().bind(line);
    const Operation& operation = catalogue().operation(problem.op);
    Values values(problem);
    generate_inputs(*operation.def, problem, values);
    operation.def->meaning(problem, values);
    std::vector<TensorView> views(problem.args.size());
    std::vector<DeviceMemory> memory;
    std::vector<char> host;
    for (std::size_t i = 0; i < views.size(); ++i) {
      const ArgChoice& arg = problem.args[i];
      if (!arg.is_present) continue;
      host.assign(static_cast<std::size_t>(bytes_of(arg.dtype, num_elements(arg.shape))), '\xff');
      views[i] = {host.data(), arg.dtype, arg.shape, arg.strides, {}, nullptr};
      if (arg.name != "d") store_view(values[arg.name].values, views[i]);
      memory.emplace_back(*device, std::ssize(host));
      device->copy_to_device(*stream, memory.back().data(), host.data(), std::ssize(host));
      stream->synchronise();
      views[i].data = memory.back().data();
      views[i].device = device->device_id();
    }
    const KernelDef& kernel = operation.kernel("sm90_ws");
    Plan(kernel, problem, *device).run({.stream = stream.get()}, views);
    stream->synchronise();
    TensorView d = views.front();
    host.resize(static_cast<std::size_t>(memory.front().bytes()));
    device->copy_to_host(*stream, host.data(), d.data, std::ssize(host));
    stream->synchronise();
    d.data = host.data();
    d.device = {};
    std::vector<double> actual;
    load_view(d, actual);
    const Comparison found =
        compare(actual, values["d"], problem.dtype("d"), operation.def->tolerance(problem, "d"));
    EXPECT_TRUE(found.passed()) << found.text(values["d"]);
    const std::vector<SimLaunch> launches = device->take_launches();
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_THAT(launches[0].findings, testing::IsEmpty());
  }
}

// A slice of a larger tensor stands where TMA cannot load it: another kernel takes it.
TEST(GemmSm90, TakesAddressesThatTmaDoesNot) {
  const TestCache cache;
  const std::unique_ptr<SimDevice> device = make_sim_device("h200");
  const std::unique_ptr<Stream> stream = device->make_stream();
  constexpr std::int64_t kSize = 32;
  const std::vector<std::uint16_t> ones(kSize * kSize + 8, 0x3f80);
  const DeviceMemory a(*device, std::ssize(ones) * 2);
  const DeviceMemory d(*device, std::ssize(ones) * 2);
  device->copy_to_device(*stream, a.data(), ones.data(), a.bytes());
  for (const int offset : {0, 1}) {
    const auto view = [&](void* data) {
      TensorView matrix = TensorView::contiguous(static_cast<std::uint16_t*>(data) + offset,
                                                 DType::bf16, {kSize, kSize});
      matrix.device = device->device_id();
      return matrix;
    };
    gemm(*stream, view(d.data()), view(a.data()), transposed(view(a.data())));
    std::vector<std::uint16_t> got(kSize * kSize);
    device->copy_to_host(*stream, got.data(), view(d.data()).data, std::ssize(got) * 2);
    stream->synchronise();
    EXPECT_THAT(got, testing::Each(0x4200)) << "32, at offset " << offset;
  }
}

// As an H200 would have it, where no vendor's library is.
DeviceProperties h200_properties() {
  DeviceProperties properties = make_sim_device("h200")->properties();
  properties.name = "NVIDIA H200";
  return properties;
}

TEST(ShippedTuned, AreOfWhatTheLibraryHas) {
  const DeviceProperties device = h200_properties();
  const std::vector<ShippedTuned> all = shipped_tuned();
  ASSERT_FALSE(all.empty());
  for (const ShippedTuned& each : all) {
    SCOPED_TRACE(each.problem);
    const Problem problem = catalogue().bind(each.problem);
    const KernelDef& kernel = catalogue().operation(problem.op).kernel(each.tuned.kernel);
    EXPECT_GT(each.tuned.time_us, 0);
    if (kernel.calls_vendor_library) continue;
    EXPECT_TRUE(supports(kernel, problem, device));
    const std::vector<Config> offered = kernel.configs(problem, device);
    EXPECT_NE(std::ranges::find(offered, each.tuned.config), offered.end())
        << each.tuned.config.text();
  }
}

TEST(ShippedTuned, AreFoundForTheirClassAndDeviceOnly) {
  const DeviceProperties device = h200_properties();
  const Operation& gemm = catalogue().operation("gemm");
  const auto found = [&](const char* line, const DeviceProperties& on) {
    const auto tuned = find_tuned(gemm, catalogue().bind(line), on);
    return tuned ? tuned->kernel : "none";
  };
  EXPECT_EQ(found("gemm m=64 n=20000 k=1104 a=bf16 layout=nt", device), "sm90_stream");
  EXPECT_EQ(found("gemm m=64 n=20000 k=1104 a=fp16 layout=nt", device), "none");
  EXPECT_EQ(found("gemm m=64 n=200 k=1104 a=bf16 layout=nt", device), "none");
  EXPECT_EQ(
      found("gemm m=64 n=20000 k=1104 a=bf16 layout=nt", make_sim_device("h200")->properties()),
      "none");
}

// A record of this machine whose kernel has other code now does not hide what came with the
// library.
TEST(ShippedTuned, AreFoundBehindAStaleRecord) {
  const TestCache cache;
  const DeviceProperties device = h200_properties();
  const Operation& gemm = catalogue().operation("gemm");
  const Problem problem = catalogue().bind("gemm m=64 n=20000 k=1104 a=bf16 layout=nt");
  remember_tuned(gemm, problem, device, {.kernel = "sm90_naive"});
  EXPECT_EQ(find_tuned(gemm, problem, device)->kernel, "sm90_naive");
  KnownEntries::of("tuned.json").update([](CacheFile::Entries& entries) {
    for (auto& [key, entry] : entries) entry = "sm90_naive code=0123456789abcdef time_us=1";
  });
  EXPECT_EQ(find_tuned(gemm, problem, device)->kernel, "sm90_stream");
}

}  // namespace
}  // namespace rooftile
