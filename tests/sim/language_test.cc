// SPDX-License-Identifier: Apache-2.0
// CUDA C++ beside instructions: what works, and that the rest is refused with its name and line.
// What does not compile is in refused_language_test.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "language_parameters.h"
#include "tests/sim/sim_test_support.h"

extern const rooftile::KernelTable language_kernels;

namespace rooftile::sim_test {
namespace {

using namespace rooftile::language_test;

std::string refusal(Simulated& sim, const std::string& kernel, std::uint32_t threads) {
  try {
    sim.run(language_kernels, kernel, {{1}, {threads}}, sim.memory<float>(threads));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// The only finding, with its line of the kernels' file.
void expect_only(const SimLaunch& launch, FindingKind kind, const std::string& word) {
  const std::string text = findings(launch);
  ASSERT_EQ(launch.findings.size(), 1u) << text;
  EXPECT_EQ(launch.findings[0].kind, kind) << text;
  EXPECT_NE(text.find(word), std::string::npos) << text;
  EXPECT_NE(text.find("language_kernels.cu:"), std::string::npos) << text;
}

TEST(SimLanguage, LaunchBoundsAreKept) {
  Simulated sim;
  EXPECT_EQ(refusal(sim, "bounded", 96), "");
  EXPECT_NE(refusal(sim, "bounded", 97).find("__launch_bounds__(96)"), std::string::npos);
  EXPECT_EQ(refusal(sim, "bounded_warps<4>", 128), "");
  EXPECT_NE(refusal(sim, "bounded_warps<4>", 160).find("__launch_bounds__(128)"),
            std::string::npos);
  EXPECT_EQ(refusal(sim, "unbounded", 1024), "");
}

TEST(SimLanguage, StructsAreParameters) {
  Simulated sim;
  Table table{.in = sim.memory(std::vector<float>(32, 2.0f)),
              .out = sim.memory<float>(32),
              .count = 32,
              .name = {},
              .scale = {},
              .last = 5};
  Wide wide{};
  for (int i = 0; i < kScales; ++i) table.scale[i] = i;
  for (int i = 0; i < 32; ++i) wide.offset[i] = 1000 * i;
  const SimLaunch launch =
      sim.run(language_kernels, "structs", {{1}, {32}}, table, char{7}, wide, short{-3});
  EXPECT_EQ(findings(launch), "");
  const std::vector<float> values = sim.values(table.out, 32);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(values[static_cast<std::size_t>(i)],
              static_cast<float>(2 * (i % kScales) + 1000 * i + 9));
}

TEST(SimLanguage, ParametersMayHave32764Bytes) {
  Simulated sim;
  Large numbers{};
  for (int i = 0; i < kLargeCount; ++i) numbers.value[i] = i;
  auto* out = sim.memory<long long>(40);
  EXPECT_EQ(findings(sim.run(language_kernels, "large", {{1}, {40}}, numbers, out)), "");
  EXPECT_EQ(sim.values(out, 40)[39], 3900);
}

TEST(SimLanguage, CopiesOfTheLibraryAreSeen) {
  Simulated sim;
  const auto* in = static_cast<const float*>(sim.memory(std::vector<float>(kCopied, 1.0f)));
  auto* out = sim.memory<float>(kCopied);
  const auto run = [&](const std::string& kernel) {
    return sim.run(language_kernels, kernel, {{1}, {kCopied}}, in, out, kCopied);
  };
  EXPECT_EQ(findings(run("copy_bytes<0>")), "");
  EXPECT_EQ(sim.values(out, kCopied)[kCopied - 1], 1.0f);
  expect_only(run("copy_bytes<1>"), FindingKind::race, "copy_bytes<1>::tile");
  EXPECT_TRUE(has(run("copy_bytes<2>"), FindingKind::out_of_bounds));
  EXPECT_EQ(findings(sim.run(language_kernels, "set_bytes<0>", {{1}, {kCopied}}, out)), "");
  EXPECT_EQ(sim.values(out, kCopied)[kCopied - 1], 0.0f);
  expect_only(sim.run(language_kernels, "set_bytes<1>", {{1}, {kCopied}}, out), FindingKind::race,
              "set_bytes<1>::tile");
}

TEST(SimLanguage, CopiesMayBeUnaligned) {
  Simulated sim;
  std::vector<char> bytes(4 * 32 + 1);
  const float value = 1.25f;
  for (std::size_t i = 0; i < 32; ++i) std::memcpy(bytes.data() + 1 + 4 * i, &value, 4);
  auto* out = sim.memory<float>(32);
  EXPECT_EQ(findings(sim.run(language_kernels, "unaligned", {{1}, {32}},
                             static_cast<const char*>(sim.memory(bytes)), out)),
            "");
  EXPECT_EQ(sim.values(out, 32)[31], value);
}

TEST(SimLanguage, FunctionsOfTheHostAreRefused) {
  Simulated sim;
  const auto* in = static_cast<const float*>(sim.memory(std::vector<float>{0.0f, -0.0f}));
  auto* out = sim.memory<float>(2);
  expect_only(sim.run(language_kernels, "exponential", {{1}, {1}}, in, out),
              FindingKind::unsupported, "expf");
  expect_only(sim.run(language_kernels, "power", {{1}, {1}}, in, out), FindingKind::unsupported,
              "powf");
  expect_only(sim.run(language_kernels, "sine", {{1}, {1}},
                      static_cast<const double*>(sim.memory(std::vector<double>{1})),
                      sim.memory<double>(1)),
              FindingKind::unsupported, "sin:");
  // -0 is below +0.
  EXPECT_EQ(findings(sim.run(language_kernels, "zeros", {{1}, {1}}, in, out)), "");
  EXPECT_TRUE(std::signbit(sim.values(out, 2)[0]));
  EXPECT_FALSE(std::signbit(sim.values(out, 2)[1]));
}

TEST(SimLanguage, DivisionsByZeroAndAssertsEndTheLaunch) {
  Simulated sim;
  const auto* in = static_cast<const int*>(sim.memory(std::vector<int>{2, 0}));
  auto* out = sim.memory<int>(1);
  expect_only(sim.run(language_kernels, "divide", {{1}, {1}}, in, out), FindingKind::bad_operand,
              "by 0");
  expect_only(sim.run(language_kernels, "asserts", {{1}, {1}}, in, out), FindingKind::trap,
              "in[0] == 1");
}

TEST(SimLanguage, VariablesOfTheProgramAreReadOnly) {
  Simulated sim;
  auto* out = sim.memory<float>(4);
  EXPECT_EQ(findings(sim.run(language_kernels, "constant_variable", {{1}, {4}}, out)), "");
  EXPECT_EQ(sim.values(out, 4)[3], 4.0f);
  expect_only(sim.run(language_kernels, "device_variable", {{1}, {1}}, sim.memory<int>(1)),
              FindingKind::unsupported, "__device__ variable");
}

TEST(SimLanguage, GridsThatCannotBeCheckedAreRefused) {
  Simulated sim;
  EXPECT_THROW(sim.run(language_kernels, "unbounded", {{1 << 24}, {1}}, sim.memory<float>(1)),
               Error);
}

TEST(SimLanguage, TimesThatDoNotFitAreRefused) {
  constexpr int kFits = (1 << 19) - 8;
  Simulated sim;
  auto* out = sim.memory<float>(2);
  EXPECT_EQ(findings(sim.run(language_kernels, "many_barriers", {{1}, {1}}, out, kFits)), "");
  expect_only(sim.run(language_kernels, "many_barriers", {{1}, {1}}, out, kFits + 100),
              FindingKind::unsupported, "synchronisations");
  sim.device->set_options({.check = false});
  EXPECT_EQ(findings(sim.run(language_kernels, "many_barriers", {{1}, {1}}, out, kFits + 100)), "");
}

}  // namespace
}  // namespace rooftile::sim_test
