// SPDX-License-Identifier: Apache-2.0
// The CUDA device where there is a GPU (skipped elsewhere): memory, copies, every kind of launch,
// times, tensor maps, and errors, which must not be those of the CUDA runtime.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/device/cuda/cuda_device.h"
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/device/tensor_map.h"
#include "rooftile/hardware/gpu.h"

namespace rooftile {

extern const KernelTable cuda_test_kernels;
extern const KernelTable cuda_matrix_probe_kernels;

namespace {

using testing::Each;
using testing::HasSubstr;

Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::ok, "nothing thrown"};
}

GpuKernel kernel(const char* name) { return find_kernel(cuda_test_kernels, name); }

TEST(CudaFactory, RefusesIdsOfOtherForms) {
  const DeviceFactory factory = cuda_device_factory();
  EXPECT_EQ(factory.family, "cuda");
  for (const char* id : {"cuda:", "cuda:-1", "cuda:99", "cuda:0x", "cuda: 0"})
    EXPECT_EQ(error_of([&] { factory.open(id); }).code(), ErrorCode::bad_input) << id;
}

TEST(CudaKernels, ThoseOfTheTableHaveTheSameSignaturesInEachPass) {
  for (const char* name : {"saxpy", "multiply<float, 3>", "reverse", "bounded"}) {
    const GpuKernel each = kernel(name);
    ASSERT_NE(each.cuda, nullptr);
    EXPECT_STREQ(each.cuda->parameters, each.simulated->parameters);
  }
  EXPECT_STREQ(kernel("saxpy").cuda->parameters, "i4f4p8p8");
}

// The simulator finds races, reads of what nobody wrote and wrong descriptors.
TEST(CudaKernels, MatrixProbesAreSoundInTheSimulator) {
  constexpr int kBytes = 4 * 3 * 128 * 128;
  const auto device = open_device("sim:h200");
  const auto stream = device->make_stream();
  const DeviceMemory numbers(*device, kBytes);
  std::vector<float> host(kBytes / 4, 1.5F);
  device->copy_to_device(*stream, numbers.data(), host.data(), kBytes);
  const LaunchShape shape{.block = {.x = 256}, .dynamic_shared_bytes = kBytes + 1024};
  for (const char* name : {"multiply_matrices<tf32, float>", "multiply_matrices<bf16, float>",
                           "multiply_matrices<fp16, float>", "multiply_matrices<e4m3, float>",
                           "multiply_matrices<int8_t, int32_t>"}) {
    const GpuKernel probe = find_kernel(cuda_matrix_probe_kernels, name);
    ASSERT_NE(probe.cuda, nullptr);
    launch(*stream, probe, shape, 5, numbers.data(), numbers.data());
    EXPECT_NO_THROW(stream->synchronise()) << name;
  }
}

// One device for all tests: a context takes longer to make than all of them to run.
class Cuda : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!cuda_device_factory().list().empty()) device_ = open_device("cuda:0");
  }
  static void TearDownTestSuite() { device_.reset(); }
  void SetUp() override {
    if (!device_) GTEST_SKIP() << "no NVIDIA GPU here";
    stream_ = device_->make_stream();
  }

  template <class T>
  std::vector<T> read(const DeviceMemory& memory) {
    std::vector<T> values(static_cast<std::size_t>(memory.bytes()) / sizeof(T));
    device_->copy_to_host(*stream_, values.data(), memory.data(), memory.bytes());
    stream_->synchronise();
    return values;
  }
  template <class T>
  DeviceMemory upload(const std::vector<T>& values) {
    DeviceMemory memory(*device_, static_cast<std::int64_t>(values.size() * sizeof(T)));
    device_->copy_to_device(*stream_, memory.data(), values.data(), memory.bytes());
    return memory;
  }

  static std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};
std::unique_ptr<Device> Cuda::device_;

std::vector<float> counted(int count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

TEST_F(Cuda, TellsWhatItIs) {
  const DeviceProperties& properties = device_->properties();
  EXPECT_EQ(properties.id, "cuda:0");
  EXPECT_TRUE(properties.kind.starts_with("sm"));
  EXPECT_THAT(properties.driver, HasSubstr("CUDA "));
  EXPECT_GT(properties.compute_units, 0);
  EXPECT_GT(properties.memory_bytes, std::int64_t{1} << 30);
  EXPECT_GT(properties.last_level_cache_bytes, 1 << 20);
  EXPECT_EQ(device_->device_id(), (DeviceId{DeviceKind::cuda, 0}));
  EXPECT_GT(device_->sheet().sheet_bytes_per_s.value_or(1e12), 1e11);
  const DeviceState state = device_->state();
  EXPECT_LE(state.clock_mhz.value_or(0), state.nominal_clock_mhz.value_or(0));
  EXPECT_GT(state.power_w.value_or(100), 5);
  EXPECT_GT(state.temperature_c.value_or(30), 5);
}

TEST_F(Cuda, MemoryIsAlignedAndNeverNull) {
  std::vector<DeviceMemory> kept;
  for (const std::int64_t bytes : {0, 1, 100, 4095, 4096, 4097, 1 << 20, (5 << 20) + 1}) {
    kept.emplace_back(*device_, bytes);
    ASSERT_NE(kept.back().data(), nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(kept.back().data()) % 4096, 0U) << bytes;
  }
  device_->release(&kept);  // not its memory: nothing happens
}

TEST_F(Cuda, NamesTheSizeThatItCannotGive) {
  for (const std::int64_t bytes : {std::int64_t{-1}, std::int64_t{1} << 50, INT64_MAX, INT64_MIN}) {
    const Error error = error_of([&] { (void)device_->allocate(bytes); });
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(bytes)));
  }
  stream_->synchronise();
}

TEST_F(Cuda, RunsKernelsInOrderOfTheirStream) {
  const DeviceMemory x = upload(counted(1000));
  const DeviceMemory y = upload(std::vector<float>(1000, 1));
  const LaunchShape shape{.grid = {.x = 8}, .block = {.x = 128}};
  launch(*stream_, kernel("saxpy"), shape, 1000, 2.0F, x.data(), y.data());
  launch(*stream_, kernel("saxpy"), shape, 1000, 2.0F, y.data(), y.data());
  std::vector<float> expected = counted(1000);
  for (float& value : expected) value = 3 * (2 * value + 1);
  EXPECT_EQ(read<float>(y), expected);
}

TEST_F(Cuda, RunsInstancesOfTemplates) {
  const DeviceMemory floats = upload(std::vector<float>(32, 7));
  const DeviceMemory integers = upload(std::vector<int>(32, 7));
  const LaunchShape shape{.block = {.x = 32}};
  launch(*stream_, kernel("multiply<float, 3>"), shape, floats.data());
  launch(*stream_, kernel("multiply<int, 5>"), shape, integers.data());
  EXPECT_THAT(read<float>(floats), Each(21.0F));
  EXPECT_THAT(read<int>(integers), Each(35));
}

TEST_F(Cuda, GivesABlockAllOfItsSharedMemory) {
  if (device_->properties().gpu == nullptr) GTEST_SKIP() << "not in the hardware table";
  const std::int64_t most =
      sm_limits(device_->properties().gpu->compute_capability.value()).max_block_shared_bytes;
  const int count = static_cast<int>(most / 4);
  const DeviceMemory x = upload(counted(count));
  const DeviceMemory y(*device_, most);
  LaunchShape shape{.block = {.x = 1024}, .dynamic_shared_bytes = most};
  launch(*stream_, kernel("reverse"), shape, count, x.data(), y.data());
  std::vector<float> expected = counted(count);
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(read<float>(y), expected);
  shape.dynamic_shared_bytes += 1;
  const Error error =
      error_of([&] { launch(*stream_, kernel("reverse"), shape, count, x.data(), y.data()); });
  EXPECT_EQ(error.code(), ErrorCode::bad_input);
  EXPECT_THAT(error.what(), HasSubstr("shared memory"));
}

TEST_F(Cuda, FormsClusters) {
  const DeviceMemory blocks(*device_, 16 * sizeof(unsigned));
  for (const std::uint32_t size : {1U, 2U, 8U}) {
    const LaunchShape shape{.grid = {.x = 16}, .block = {.x = 32}, .cluster = {.x = size}};
    launch(*stream_, kernel("cluster_blocks"), shape, blocks.data());
    EXPECT_THAT(read<unsigned>(blocks), Each(size));
  }
  const LaunchShape ragged{.grid = {.x = 15}, .block = {.x = 32}, .cluster = {.x = 2}};
  EXPECT_THAT(
      error_of([&] { launch(*stream_, kernel("cluster_blocks"), ragged, blocks.data()); }).what(),
      HasSubstr("cluster"));
}

TEST_F(Cuda, TakesLaunchesThatMayOverlap) {
  const DeviceMemory x = upload(std::vector<int>(32, 7));
  const DeviceMemory y = upload(std::vector<int>(32, 7));
  const LaunchShape shape{.block = {.x = 32}, .programmatic_overlap = true};
  launch(*stream_, kernel("multiply<int, 5>"), shape, x.data());
  launch(*stream_, kernel("multiply<int, 5>"), shape, y.data());
  EXPECT_THAT(read<int>(x), Each(35));
  EXPECT_THAT(read<int>(y), Each(35));
}

// What `count` launches of step make of 1.
unsigned stepped(int count) {
  unsigned x = 1;
  for (int i = 0; i < count; ++i) x = 3 * x + 1;
  return x;
}

TEST_F(Cuda, GraphsRunTheirLaunchesInOrder) {
  EXPECT_TRUE(device_->has_graphs());
  for (const bool may_overlap : {false, true}) {
    const DeviceMemory x = upload(std::vector<unsigned>(32, 1));
    const LaunchShape shape{.block = {.x = 32}, .programmatic_overlap = may_overlap};
    launch(*stream_, kernel("step"), shape, x.data());
    EXPECT_FALSE(stream_->is_capturing());
    const std::unique_ptr<Graph> graph = stream_->capture([&] {
      EXPECT_TRUE(stream_->is_capturing());
      for (int i = 0; i < 50; ++i) launch(*stream_, kernel("step"), shape, x.data());
    });
    EXPECT_THAT(read<unsigned>(x), Each(stepped(1))) << "capturing runs nothing";
    const auto other = device_->make_stream();
    graph->run(*stream_);
    graph->run(*stream_);
    EXPECT_THAT(read<unsigned>(x), Each(stepped(101)));
    graph->run(*other);
    other->synchronise();
    EXPECT_THAT(read<unsigned>(x), Each(stepped(151)));
  }
}

TEST_F(Cuda, HoldsAStreamWhileTheHostLaunches) {
  const DeviceMemory x = upload(std::vector<unsigned>(32, 1));
  const LaunchShape shape{.block = {.x = 32}};
  const auto before = device_->make_event();
  const auto after = device_->make_event();
  const auto time_us = [&](bool is_held) {
    double least = 1e30;
    for (int i = 0; i < 5; ++i) {
      stream_->synchronise();
      std::unique_ptr<Hold> hold;
      if (is_held) hold = stream_->hold();
      before->record(*stream_);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      launch(*stream_, kernel("step"), shape, x.data());
      after->record(*stream_);
      hold.reset();
      least = std::min(least, after->elapsed_us(*before));
    }
    return least;
  };
  EXPECT_GT(time_us(false), 1000);
  EXPECT_LT(time_us(true), 500);
  EXPECT_THAT(read<unsigned>(x), Each(stepped(10)));
}

// Or it would wait for ever.
TEST_F(Cuda, EndsAHoldThatTheHostWaitsFor) {
  const DeviceMemory x = upload(std::vector<unsigned>(32, 1));
  const auto hold = stream_->hold();
  launch(*stream_, kernel("step"), {.block = {.x = 32}}, x.data());
  stream_->synchronise();
  EXPECT_THAT(read<unsigned>(x), Each(stepped(1)));
}

TEST_F(Cuda, AllocatesWhileAGraphIsCaptured) {
  const DeviceMemory x = upload(std::vector<unsigned>(32, 1));
  const LaunchShape shape{.block = {.x = 32}};
  launch(*stream_, kernel("step"), shape, x.data());
  std::optional<DeviceMemory> y;
  const std::unique_ptr<Graph> graph = stream_->capture([&] {
    y.emplace(*device_, 4096);
    launch(*stream_, kernel("step"), shape, x.data());
  });
  graph->run(*stream_);
  EXPECT_THAT(read<unsigned>(x), Each(stepped(2)));
}

TEST_F(Cuda, SaysWhatCannotBeInAGraph) {
  const DeviceMemory x = upload(std::vector<unsigned>(32, 1));
  const LaunchShape shape{.block = {.x = 32}};
  launch(*stream_, kernel("step"), shape, x.data());
  const auto capture = [&](const std::function<void()>& more) {
    return error_of([&] {
      (void)stream_->capture([&] {
        launch(*stream_, kernel("step"), shape, x.data());
        more();
      });
    });
  };
  const Error waiting = capture([&] { stream_->synchronise(); });
  EXPECT_EQ(waiting.code(), ErrorCode::unsupported);
  EXPECT_THAT(waiting.what(), HasSubstr("waiting for a stream"));
  const Error own = capture([] { throw Error(ErrorCode::bad_input, "the kernel's own"); });
  EXPECT_STREQ(own.what(), "the kernel's own");
  const Error nested = capture([&] { (void)stream_->capture([] {}); });
  EXPECT_NE(nested.code(), ErrorCode::ok);
  launch(*stream_, kernel("step"), shape, x.data());
  EXPECT_THAT(read<unsigned>(x), Each(stepped(2))) << "the stream is as before";
}

TEST_F(Cuda, RefusesWhatTheKernelCannotHave) {
  const DeviceMemory x(*device_, 4096);
  const Error threads =
      error_of([&] { launch(*stream_, kernel("bounded"), {.block = {.x = 129}}, x.data()); });
  EXPECT_EQ(threads.code(), ErrorCode::bad_input);
  EXPECT_THAT(threads.what(), HasSubstr("at most 128 threads"));
  const Error types = error_of([&] { launch(*stream_, kernel("bounded"), {}, 1.0F); });
  EXPECT_THAT(types.what(), HasSubstr("parameters p8"));
  const Error simulated = error_of([&] {
    GpuKernel without = kernel("bounded");
    without.cuda = nullptr;
    launch(*stream_, without, {}, x.data());
  });
  EXPECT_EQ(simulated.code(), ErrorCode::unsupported);
  EXPECT_THAT(simulated.what(), HasSubstr("without nvcc"));
  EXPECT_EQ(error_of([&] { stream_->launch(1, [](std::int64_t) {}); }).code(),
            ErrorCode::unsupported);
}

TEST_F(Cuda, TimesAreThoseOfTheDevice) {
  const auto first = device_->make_event();
  const auto second = device_->make_event();
  EXPECT_EQ(error_of([&] { (void)second->elapsed_us(*first); }).code(), ErrorCode::bad_input);
  std::vector<Probe> probes = device_->probes();
  for (const Probe& probe : probes) {
    for (int i = 0; i < 3; ++i) {
      first->record(*stream_);
      probe.run(*stream_);
      second->record(*stream_);
    }
    const double us = second->elapsed_us(*first);
    const double rate =
        (probe.unit ? probe.ops : probe.read_bytes + probe.written_bytes) / us / 1e6;
    const Ceilings sheet = device_->sheet();
    // Clocks above those of the data sheet are the card's right.
    if (const auto ops = probe.unit ? sheet.sheet_ops_per_s[static_cast<std::size_t>(*probe.unit)]
                                    : std::nullopt) {
      EXPECT_GT(rate * 1e12, *ops * 0.5) << probe.name;
      EXPECT_LT(rate * 1e12, *ops * 1.15) << probe.name;
    }
    if (!probe.unit && sheet.sheet_bytes_per_s) {
      EXPECT_GT(rate * 1e12, *sheet.sheet_bytes_per_s * 0.6) << probe.name;
      EXPECT_LT(rate * 1e12, *sheet.sheet_bytes_per_s * 1.01) << probe.name;
    }
  }
}

// A load that misses takes more than twice as long as one that hits; each of the chain's 512 KiB is
// loaded once, so that no first-level cache hides it.
TEST_F(Cuda, FlushesItsCache) {
  constexpr int kSteps = 4096;
  constexpr int kIntsPerLine = 32;
  std::vector<int> next(kSteps * kIntsPerLine);
  for (int i = 0; i < kSteps; ++i)
    next[static_cast<std::size_t>(i * kIntsPerLine)] = (i + 1) % kSteps * kIntsPerLine;
  const DeviceMemory chain = upload(next);
  const DeviceMemory end = upload(std::vector<int>{-1});
  const auto before = device_->make_event();
  const auto after = device_->make_event();
  const auto time_us = [&](bool is_flushed) {
    double least = 1e30;
    for (int i = 0; i < 5; ++i) {
      if (is_flushed) device_->flush_caches(*stream_);
      before->record(*stream_);
      launch(*stream_, kernel("chase"), {}, chain.data(), kSteps, end.data());
      after->record(*stream_);
      least = std::min(least, after->elapsed_us(*before));
    }
    return least;
  };
  const double hot_us = time_us(false);
  EXPECT_GT(time_us(true), 1.5 * hot_us) << hot_us;
  EXPECT_THAT(read<int>(end), Each(0));
}

// A kernel that sets a part aside would leave the next one with less.
TEST_F(Cuda, GivesBackWhatIsSetAsideOfItsCache) {
  if (cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20) != cudaSuccess) {
    (void)cudaGetLastError();
    GTEST_SKIP() << "no such cache";
  }
  device_->flush_caches(*stream_);
  std::size_t set_aside = 1;
  EXPECT_EQ(cudaDeviceGetLimit(&set_aside, cudaLimitPersistingL2CacheSize), cudaSuccess);
  EXPECT_EQ(set_aside, 0U);
}

TEST_F(Cuda, EncodesTensorMaps) {
  const DeviceMemory data(*device_, 64 * 128 * 2);
  TensorMapSpec spec{.data = data.data(),
                     .extent = {128, 64},
                     .stride_bytes = {0, 256},
                     .box = {64, 32},
                     .swizzle = Swizzle::bytes128};
  const TensorMap map = make_tensor_map(*device_, spec);
  const TensorMap zero{};
  EXPECT_NE(std::memcmp(&map, &zero, sizeof(map)), 0);
  spec.dtype = DType::u8;
  spec.outside = OutOfBounds::nan;
  EXPECT_EQ(error_of([&] { (void)make_tensor_map(*device_, spec); }).code(), ErrorCode::bad_input);
}

TEST_F(Cuda, IsSafeToLaunchFromManyThreads) {
  const DeviceMemory x = upload(std::vector<int>(32, 1));
  stream_->synchronise();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const auto stream = device_->make_stream();
      const DeviceMemory mine(*device_, 4096);
      for (int i = 0; i < 100; ++i) {
        launch(*stream, kernel("multiply<int, 5>"), {.block = {.x = 32}}, mine.data());
        launch(*stream, kernel("bounded"), {.block = {.x = 32}}, mine.data());
      }
      stream->synchronise();
    });
  threads.clear();
  EXPECT_THAT(read<int>(x), Each(1));
}

TEST_F(Cuda, RefusesAnothersStream) {
  const auto cpu = open_device("cpu");
  const auto stream = cpu->make_stream();
  const DeviceMemory x(*device_, 16);
  int host = 0;
  EXPECT_THAT(error_of([&] { device_->copy_to_host(*stream, &host, x.data(), 4); }).what(),
              HasSubstr("a stream of cpu"));
}

// A process of its own: after a bad address CUDA works no more in it.
void break_the_device() {
  const auto device = open_device("cuda:0");
  const auto stream = device->make_stream();
  const DeviceMemory x(*device, 16);
  launch(*stream, kernel("store_at"), {}, reinterpret_cast<int*>(0x10));
  std::string text;
  for (int i = 0; i < 2; ++i)
    text += error_of([&] { i == 0 ? stream->synchronise() : (void)device->allocate(1); }).what() +
            std::string("\n");
  std::fputs(text.c_str(), stderr);
  std::_Exit(0);
}

TEST(CudaDeathTest, ABrokenDeviceSaysWhatBrokeIt) {
  if (cuda_device_factory().list().empty()) GTEST_SKIP() << "no NVIDIA GPU here";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(break_the_device(), testing::ExitedWithCode(0),
              "waiting for a stream: cudaErrorIllegalAddress.*\n.*waiting for a stream: "
              "cudaErrorIllegalAddress.*started again");
}

}  // namespace
}  // namespace rooftile
