// SPDX-License-Identifier: Apache-2.0
// Devices by name, the cpu's memory, streams and events, and what becomes of memory that outlives
// its device.
#include "rooftile/device/device.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/device/cpu/isa.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::ok, "nothing thrown"};
}

TEST(OpenDevice, KnowsTheCpu) {
  const auto device = open_device("cpu");
  EXPECT_EQ(device->properties().id, "cpu");
  EXPECT_TRUE(device->properties().kind.starts_with("cpu-"));
  EXPECT_GE(device->properties().compute_units, 1);
  EXPECT_GT(device->properties().memory_bytes, 0);
  EXPECT_GT(device->properties().last_level_cache_bytes, 0);
}

TEST(OpenDevice, ListsWhatThereIs) {
  const Error error = error_of([] { open_device("cpv"); });
  EXPECT_EQ(error.code(), ErrorCode::bad_input);
  EXPECT_THAT(error.what(), HasSubstr("unknown device 'cpv'"));
  EXPECT_THAT(error.what(), HasSubstr("'cpu'"));
  EXPECT_EQ(error_of([] { open_device(""); }).code(), ErrorCode::bad_input);
}

TEST(OpenDevice, SaysWhyThereIsNoGpu) {
  for (const DeviceFactory& factory : device_factories())
    if (factory.family == "cuda" && !factory.list().empty()) GTEST_SKIP() << "there is a GPU here";
  const Error error = error_of([] { open_device("cuda:0"); });
  EXPECT_EQ(error.code(), ErrorCode::bad_input);
  EXPECT_THAT(error.what(), HasSubstr("cuda:0"));
  EXPECT_THAT(error.what(), HasSubstr(ROOFTILE_WITH_CUDA ? "no NVIDIA GPU" : "built without CUDA"));
}

TEST(CpuMemory, IsAlignedAndNeverNull) {
  const auto device = make_cpu_device(1);
  for (const std::int64_t bytes : {0, 1, 4095, 4096, 4097, 5 << 20}) {
    const DeviceMemory memory(*device, bytes);
    ASSERT_NE(memory.data(), nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 4096, 0U) << bytes;
    std::memset(memory.data(), 1, static_cast<std::size_t>(bytes));
  }
}

TEST(CpuMemory, NamesTheSizeThatItCannotGive) {
  const auto device = make_cpu_device(1);
  for (const std::int64_t bytes :
       {std::int64_t{-1}, std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    const Error error = error_of([&] { (void)device->allocate(bytes); });
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(bytes)));
  }
}

TEST(CpuMemory, IsCopiedInBothDirections) {
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  const DeviceMemory memory(*device, 6);
  device->copy_to_device(*stream, memory.data(), "hello", 6);
  std::string text(6, '-');
  device->copy_to_host(*stream, text.data(), memory.data(), 6);
  stream->synchronise();
  EXPECT_EQ(text, std::string("hello\0", 6));
}

TEST(CpuStream, RunsEveryBlockOnceAndInOrderOfLaunches) {
  const auto device = make_cpu_device(3);
  const auto stream = device->make_stream();
  EXPECT_EQ(&stream->device(), device.get());
  std::vector<int> calls(1000, 0);
  stream->launch(1000, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
  stream->launch(1000, [&](std::int64_t i) { calls[static_cast<std::size_t>(i)] *= 2; });
  stream->launch(0, [&](std::int64_t) { calls[0] = 99; });
  stream->synchronise();
  EXPECT_EQ(calls, std::vector<int>(1000, 2));
}

TEST(CpuEvent, TimesDoNotRunBackwards) {
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  const auto first = device->make_event();
  const auto second = device->make_event();
  first->record(*stream);
  second->record(*stream);
  EXPECT_GE(second->elapsed_us(*first), 0);
  EXPECT_LE(first->elapsed_us(*second), 0);
}

TEST(DeviceLife, IsNeverTheSameTwice) {
  const auto one = make_cpu_device(1);
  const std::uint64_t first = *one->life();
  EXPECT_EQ(*one->life(), first);
  for (int i = 0; i < 5; ++i) EXPECT_NE(*make_cpu_device(1)->life(), first);
}

TEST(DeviceMemory, MayOutliveItsDevice) {
  auto device = make_cpu_device(1);
  auto memory = std::make_unique<DeviceMemory>(*device, 100);
  DeviceMemory moved(std::move(*memory));
  EXPECT_EQ(memory->data(), nullptr);
  EXPECT_NE(moved.data(), nullptr);
  EXPECT_EQ(moved.bytes(), 100);
  device.reset();
  memory.reset();
  EXPECT_EQ(moved.bytes(), 100);  // and its destructor leaves the dead device alone
}

TEST(Isa, NamesAreInOrder) {
  EXPECT_EQ(name(Isa::scalar), "scalar");
  EXPECT_EQ(name(Isa::avx512_bf16), "avx512_bf16");
  EXPECT_LT(Isa::avx2, Isa::avx512);
}

// The variable is read once in a process: each case is a process of its own.
void tell_isa(const char* allowed) {
  setenv("ROOFTILE_ISA", allowed, 1);
  try {
    std::fprintf(stderr, "isa %s", std::string(name(cpu_isa())).c_str());
    std::_Exit(0);
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(1);
  }
}

TEST(IsaDeathTest, CanBeLimitedAndAnUnknownOneIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(tell_isa("scalar"), testing::ExitedWithCode(0), "isa scalar");
  EXPECT_EXIT(tell_isa("avx1024"), testing::ExitedWithCode(1), "ROOFTILE_ISA: unknown");
}

}  // namespace
}  // namespace rooftile
