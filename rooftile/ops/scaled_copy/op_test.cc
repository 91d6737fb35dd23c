// SPDX-License-Identifier: Apache-2.0
// The declaration of scaled_copy and its call.
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/device/sim/sim_device.h"
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/element.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/scaled_copy/scaled_copy.h"

namespace rooftile {
namespace {

using testing::ElementsAre;

const OpDef& op() { return *catalogue().operation("scaled_copy").def; }

TEST(ScaledCopyMeaning, IsTheProduct) {
  const Problem problem = catalogue().bind("scaled_copy rows=1 cols=3 alpha=-2");
  Values values(problem);
  values["x"].values = {1, -2, 0.25};
  op().meaning(problem, values);
  EXPECT_THAT(values["y"].values, ElementsAre(-2, 4, -0.5));
}

TEST(ScaledCopyMeaning, RoundsAlphaToF32) {
  const Problem problem = catalogue().bind("scaled_copy rows=1 cols=1 alpha=0.1");
  Values values(problem);
  values["x"].values = {1};
  op().meaning(problem, values);
  EXPECT_EQ(values["y"][0], static_cast<double>(0.1F));
}

TEST(ScaledCopyCost, CountsByHand) {
  // 4 x 8 elements: a multiplication each; x 32 * 2 bytes read, y 32 * 4 written.
  const Cost cost = op().cost(catalogue().bind("scaled_copy rows=4 cols=8 x=bf16 y=f32"), nullptr);
  EXPECT_EQ(cost[Unit::fp32], 32);
  EXPECT_EQ(cost.total_ops(), 32);
  EXPECT_EQ(cost.bytes_read, 64);
  EXPECT_EQ(cost.bytes_written, 128);
}

TEST(ScaledCopyCall, ConvertsAndScales) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  std::vector<float> x{1, 2, 1 + 0x1p-9F, -4};
  std::vector<bf16> y(4);
  const TensorView x_view = TensorView::contiguous(x.data(), DType::f32, {2, 2});
  const TensorView y_view = TensorView::contiguous(y.data(), DType::bf16, {2, 2});
  scaled_copy(*stream, y_view, x_view);
  EXPECT_EQ(static_cast<float>(y[2]), 1);
  EXPECT_EQ(static_cast<float>(y[3]), -4);
  scaled_copy(*stream, x_view, x_view, 0.5);
  EXPECT_THAT(x, ElementsAre(0.5, 1, 0.5F + 0x1p-10F, -2)) << "in place";
  EXPECT_THROW(scaled_copy(*stream, x_view, x_view, 1e39), Error) << "an alpha beyond f32";
  EXPECT_THROW(scaled_copy(*stream, x_view, TensorView::contiguous(x.data(), DType::f32, {1, 4})),
               Error);
}

// What each kernel makes of `x` as `dtype`, its bytes in hexadecimal.
std::string bytes_of_cast(Device& device, const char* kernel, const std::string& options,
                          const std::vector<float>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  const Operation& operation = catalogue().operation("scaled_copy");
  const Problem problem =
      catalogue().bind("scaled_copy rows=1 cols=" + std::to_string(n) + " x=f32 " + options);
  const auto stream = device.make_stream();
  const DeviceMemory from(device, 4 * n);
  const DeviceMemory to(device, n);
  device.copy_to_device(*stream, from.data(), x.data(), 4 * n);
  const auto view = [&](const DeviceMemory& memory, const char* name) {
    TensorView result = TensorView::contiguous(memory.data(), problem.dtype(name), {1, n});
    result.device = device.device_id();
    return result;
  };
  const std::vector<TensorView> views{view(to, "y"), view(from, "x")};
  const KernelDef& def = operation.kernel(kernel);
  const Config config = def.configs ? def.configs(problem, device.properties()).front() : Config{};
  Plan(def, problem, device, config).run({.stream = stream.get()}, views);
  std::vector<std::uint8_t> bytes(x.size());
  device.copy_to_host(*stream, bytes.data(), to.data(), n);
  stream->synchronise();
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// jax-ml/ml_dtypes#400 and sgl-project/sglang#40581: saturation or not, ties to even, and the last
// binade, whose codes are numbers in e4m3.
TEST(ScaledCopyCall, CastsToFp8AtItsEnds) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // 20 elements: whole octets and a rest.
  const std::vector<float> x{448,   464,     465,      1000,       -1000, inf,      nan,
                             256,   272,     300,      304,        320,   1.0625F,  1.1875F,
                             -0.0F, 0x1p-9F, 0x1p-10F, 0x1.8p-10F, -inf,  0x1p-149F};
  const std::vector<float> wide{57344, 61439, 61440, -61440, inf, -0.0F, 0x1p-16F, 0x1p-17F};
  const auto cpu = make_cpu_device(1);
  const auto sim = make_sim_device("h200");
  const std::pair<Device*, const char*> kernels[]{
      {cpu.get(), "cpu_plain"}, {cpu.get(), "cpu_simd"}, {sim.get(), "sm90_convert"}};
  for (const auto& [device, kernel] : kernels) {
    SCOPED_TRACE(kernel);
    EXPECT_EQ(bytes_of_cast(*device, kernel, "y=e4m3", x),
              "7e7e7e7efe7e7f"
              "7878797a7a383a"
              "80010001fe00");
    EXPECT_EQ(bytes_of_cast(*device, kernel, "y=e4m3 overflow=special", x).substr(0, 14),
              "7e7e7f7fff7f7f");
    EXPECT_EQ(bytes_of_cast(*device, kernel, "y=e5m2", wide), "7b7b7bfb7b800100");
    EXPECT_EQ(bytes_of_cast(*device, kernel, "y=e5m2 overflow=special", wide), "7b7b7cfc7c800100");
  }
}

// Every code of fp8 survives the way to each wider type and back.
TEST(ScaledCopyCall, KeepsEveryCodeOfFp8) {
  const auto device = make_cpu_device(1);
  const TestCache cache;
  const auto stream = device->make_stream();
  for (const DType narrow : {DType::e4m3, DType::e5m2})
    for (const DType wide : {DType::f32, DType::bf16, DType::fp16}) {
      std::vector<std::uint8_t> codes(256);
      for (int i = 0; i < 256; ++i)
        codes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
      std::vector<float> middle(256);
      std::vector<std::uint8_t> back(256);
      const auto view = [](auto& data, DType dtype) {
        return TensorView::contiguous(data.data(), dtype, {1, 256});
      };
      scaled_copy(*stream, view(middle, wide), view(codes, narrow));
      scaled_copy(*stream, view(back, narrow), view(middle, wide), 1, Overflow::to_special);
      for (std::size_t i = 0; i < 256; ++i) {
        const double before = load_element(narrow, codes.data(), static_cast<std::int64_t>(i));
        if (std::isnan(before))
          EXPECT_TRUE(std::isnan(load_element(narrow, back.data(), static_cast<std::int64_t>(i))));
        else
          EXPECT_EQ(back[i], codes[i]) << name(narrow) << " " << name(wide);
      }
    }
}

}  // namespace
}  // namespace rooftile
