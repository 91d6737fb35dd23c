// SPDX-License-Identifier: Apache-2.0
// What is refused before a launch reaches a device: unknown kernels, other argument types, shapes
// that no GPU or this GPU cannot have.
#include "rooftile/device/gpu_kernel.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/hardware/gpu.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

const int code = 0;
const KernelEntry entries[] = {{"saxpy", "i4f4p8p8", &code}, {"fill", "p8", &code}};
KernelEntries simulated() { return {entries, 2}; }
KernelEntries cuda() { return {entries, 1}; }

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input) << error.what();
    return error.what();
  }
  return "nothing thrown";
}

std::string refusal(const LaunchShape& shape, std::int64_t static_shared_bytes = 0) {
  return message_of([&] { check_launch(shape, find_gpu("h200"), static_shared_bytes); });
}

TEST(FindKernel, GivesEveryPassThatWasBuilt) {
  const KernelTable table{"demo", simulated, cuda};
  EXPECT_NE(find_kernel(table, "saxpy").cuda, nullptr);
  EXPECT_EQ(find_kernel(table, "fill").cuda, nullptr);
  EXPECT_EQ(find_kernel({"demo", simulated, nullptr}, "saxpy").cuda, nullptr);
  EXPECT_THAT(message_of([&] { find_kernel(table, "sapxy"); }), HasSubstr("'saxpy'"));
}

TEST(Signature, IsALetterAndASizeForEachParameter) {
  struct Three {
    float x[3];
  };
  using Each = kernel_table::Signature<int, double, const void*, Three, char>;
  EXPECT_STREQ(Each::kText.chars, "i4f8p8s12i1");
  EXPECT_STREQ(kernel_table::Signature<>::kText.chars, "");
}

TEST(CheckLaunch, AllowsTheLargest) {
  EXPECT_EQ(refusal({}), "nothing thrown");
  EXPECT_EQ(refusal({.grid = {2147483647, 65535, 65535},
                     .block = {16, 1, 64},
                     .dynamic_shared_bytes = 227 * 1024}),
            "nothing thrown");
  EXPECT_EQ(refusal({.grid = {8, 2, 1}, .cluster = {4, 2, 1}}), "nothing thrown");
}

TEST(CheckLaunch, NamesTheLimitThatIsExceeded) {
  EXPECT_THAT(refusal({.grid = {.x = 0}}), HasSubstr("at least one block"));
  EXPECT_THAT(refusal({.block = {.x = 1025}}), HasSubstr("at most 1024"));
  EXPECT_THAT(refusal({.block = {.x = 1u << 31, .y = 1u << 31, .z = 4}}), HasSubstr("at most 1024"))
      << "not 0, the product's low 64 bits";
  EXPECT_THAT(refusal({.block = {.z = 65}}), HasSubstr("at most 64"));
  EXPECT_THAT(refusal({.grid = {.x = 1u << 31}}), HasSubstr("2147483647"));
  EXPECT_THAT(refusal({.grid = {.y = 65536}}), HasSubstr("65535"));
  EXPECT_THAT(refusal({.dynamic_shared_bytes = -1}), HasSubstr("-1 bytes"));
  EXPECT_THAT(refusal({.dynamic_shared_bytes = INT64_MAX}, 1024), HasSubstr("shared memory"));
  EXPECT_THAT(refusal({.dynamic_shared_bytes = 227 * 1024}, 16), HasSubstr("h200 has 232448"));
  EXPECT_THAT(refusal({.grid = {.x = 16}, .cluster = {.x = 16}}), HasSubstr("at most 8"));
  EXPECT_THAT(refusal({.grid = {.x = 15}, .cluster = {.x = 2}}), HasSubstr("no multiple"));
  EXPECT_THAT(refusal({.cluster = {.y = 0}}), HasSubstr("at least 1"));
}

TEST(LaunchKernel, NeedsTheKernelsTypes) {
  const auto cpu = open_device("cpu");
  const auto stream = cpu->make_stream();
  const GpuKernel saxpy = find_kernel({"demo", simulated, nullptr}, "saxpy");
  EXPECT_THAT(message_of([&] { launch(*stream, saxpy, {}, 1, 2.0, &code, &code); }),
              HasSubstr("launched with i4f8p8p8"));
  EXPECT_THAT(message_of([&] { launch(*stream, GpuKernel{}, {}, 1); }), HasSubstr("no kernel"));
  EXPECT_THROW(launch(*stream, saxpy, {}, 1, 2.0F, &code, &code), Error) << "a cpu runs none";
}

}  // namespace
}  // namespace rooftile
