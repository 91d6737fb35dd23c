// SPDX-License-Identifier: Apache-2.0
// The simulator's core: right kernels have no findings under any schedule, and each planted fault
// is found, with its kind and place, under most.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "rooftile/formats/bf16.h"
#include "tests/sim/sim_test_support.h"

extern const rooftile::KernelTable core_kernels;

namespace rooftile::sim_test {
namespace {

constexpr int kRandomSchedules = 50;

std::vector<float> ramp(int count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// One launch of a kernel, with memory of its own.
struct Subject {
  std::string kernel;  // without its fault
  std::function<SimLaunch(Simulated&, const std::string& kernel)> run;
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> list{
      {"reverse",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{4}, {128}},
                        static_cast<const float*>(sim.memory(ramp(512))), sim.memory<float>(512));
       }},
      {"smooth",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{1}, {128}},
                        static_cast<const float*>(sim.memory(ramp(128))), sim.memory<float>(128),
                        5);
       }},
      {"swap_lanes",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{1}, {32}},
                        static_cast<const float*>(sim.memory(ramp(32))), sim.memory<float>(32));
       }},
      {"narrow",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{1}, {128}},
                        static_cast<const float*>(sim.memory(ramp(128))), sim.memory<bf16>(128));
       }},
      {"bounds",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{2}, {128}, 512},
                        static_cast<const float*>(sim.memory(ramp(200))), sim.memory<float>(200),
                        200);
       }},
      {"first_atomics",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{1}, {32}}, sim.memory<unsigned>(32),
                        sim.memory<unsigned>(32));
       }},
      {"sum_all",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{16}, {32}},
                        static_cast<const float*>(sim.memory(ramp(512))), sim.memory<float>(16),
                        sim.memory(std::vector<unsigned>{0}), sim.memory<float>(1));
       }},
      {"meet",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{20}, {64}}, sim.memory(std::vector<unsigned>{0}),
                        sim.memory<float>(20 * 64));
       }},
      {"hand_over",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{1}, {128}},
                        static_cast<const float*>(sim.memory(ramp(128))), sim.memory<float>(64));
       }},
      {"together",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{1}, {64}},
                        static_cast<const float*>(sim.memory(ramp(64))), sim.memory<float>(64));
       }},
      {"in_place",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{3}, {128}}, sim.memory(ramp(384)));
       }},
      {"in_common",
       [](Simulated& sim, const std::string& kernel) {
         return sim.run(core_kernels, kernel, {{3}, {64}}, sim.memory(ramp(1)),
                        sim.memory<float>(192));
       }},
  };
  return list;
}

const Subject& subject(const std::string& kernel) {
  return *std::find_if(subjects().begin(), subjects().end(),
                       [&](const Subject& s) { return s.kernel == kernel; });
}

TEST(SimCore, RightKernelsHaveNoFindings) {
  Simulated sim;
  for (const Subject& right : subjects()) {
    for (const SimOptions& options : schedules(kRandomSchedules)) {
      sim.device->set_options(options);
      const SimLaunch launch = right.run(sim, right.kernel + "<0>");
      EXPECT_EQ(findings(launch), "") << right.kernel << ", " << text(options);
    }
  }
}

struct Planted {
  std::string kernel;
  int fault;
  FindingKind kind;
};

class SimFault : public testing::TestWithParam<Planted> {};

TEST_P(SimFault, IsFound) {
  const Planted& planted = GetParam();
  Simulated sim;
  const std::string kernel = planted.kernel + "<" + std::to_string(planted.fault) + ">";
  int found = 0;
  std::string others;
  const std::vector<SimOptions> all = schedules(4);
  for (const SimOptions& options : all) {
    sim.device->set_options(options);
    const SimLaunch launch = subject(planted.kernel).run(sim, kernel);
    found += has(launch, planted.kind) ? 1 : 0;
    if (!has(launch, planted.kind)) others += text(options) + ": " + findings(launch) + "\n";
  }
  EXPECT_EQ(found, static_cast<int>(all.size())) << kernel << "\n" << others;
}

using enum FindingKind;
INSTANTIATE_TEST_SUITE_P(
    All, SimFault,
    testing::Values(
        Planted{"reverse", 1, race}, Planted{"reverse", 2, out_of_bounds},
        Planted{"reverse", 3, out_of_bounds}, Planted{"smooth", 1, race},
        Planted{"swap_lanes", 1, race}, Planted{"narrow", 1, race},
        Planted{"bounds", 1, out_of_bounds}, Planted{"bounds", 2, out_of_bounds},
        Planted{"bounds", 3, misaligned}, Planted{"bounds", 4, out_of_bounds},
        Planted{"bounds", 5, out_of_bounds}, Planted{"bounds", 6, uninitialised},
        Planted{"bounds", 7, out_of_bounds}, Planted{"bounds", 8, out_of_bounds},
        Planted{"sum_all", 1, race}, Planted{"sum_all", 2, race}, Planted{"meet", 1, livelock},
        Planted{"hand_over", 1, deadlock}, Planted{"hand_over", 2, barrier_misuse},
        Planted{"hand_over", 3, race}, Planted{"together", 1, divergence},
        Planted{"together", 2, divergence}, Planted{"together", 3, deadlock},
        Planted{"together", 4, divergence}, Planted{"in_place", 1, race},
        Planted{"in_place", 2, race}, Planted{"in_common", 1, race}, Planted{"in_common", 2, race},
        Planted{"first_atomics", 1, uninitialised}, Planted{"first_atomics", 2, uninitialised},
        Planted{"first_atomics", 3, uninitialised}, Planted{"first_atomics", 4, uninitialised}),
    [](const auto& test) { return test.param.kernel + std::to_string(test.param.fault); });

TEST(SimCore, ResultsAreThoseOfTheSource) {
  Simulated sim;
  float* out = sim.memory<float>(512);
  sim.run(core_kernels, "reverse<0>", {{4}, {128}},
          static_cast<const float*>(sim.memory(ramp(512))), out);
  const std::vector<float> reversed = sim.values(out, 512);
  for (int i = 0; i < 512; ++i)
    ASSERT_EQ(reversed[static_cast<std::size_t>(i)],
              static_cast<float>(i / 128 * 128 + 128 - i % 128));
}

TEST(SimCore, HalvesOfAWarpShuffleApart) {
  for (const SimOptions& options : schedules(20)) {
    Simulated sim;
    sim.device->set_options(options);
    unsigned* out = sim.memory<unsigned>(32);
    EXPECT_EQ(findings(sim.run(core_kernels, "shuffle_by_halves", {{1}, {32}}, out)), "");
    const std::vector<unsigned> sums = sim.values(out, 32);
    for (unsigned t = 0; t < 32; ++t) {
      unsigned right = t;
      for (unsigned i = 0; i < 100; ++i) right += t < 16 ? t ^ (1 + i % 15) : 16 + i % 16;
      EXPECT_EQ(sums[t], right) << t << ", " << text(options);
    }
  }
}

TEST(SimCore, AtomicsAndEarlyReturns) {
  for (const SimOptions& options : schedules(8)) {
    Simulated sim;
    sim.device->set_options(options);
    std::vector<unsigned> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0u);
    unsigned* bins = sim.memory(std::vector<unsigned>(32, 0));
    EXPECT_EQ(findings(sim.run(core_kernels, "histogram", {{3}, {64}},
                               static_cast<const unsigned*>(sim.memory(numbers)), bins, 1000)),
              "");
    const std::vector<unsigned> counts = sim.values(bins, 32);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0u), 1000u);
    EXPECT_EQ(counts[0], 32u);
    EXPECT_EQ(counts[31], 31u);
    float* out = sim.memory<float>(64);
    EXPECT_EQ(findings(sim.run(core_kernels, "leave_early", {{1}, {64}}, out, 50)), "");
    EXPECT_EQ(sim.values(out, 1)[0], 25.0f);
  }
}

TEST(SimCore, UninitialisedGlobalMemoryAndFreedMemory) {
  Simulated sim;
  float* out = sim.memory<float>(32);
  const SimLaunch launch = sim.run(core_kernels, "copy", {{1}, {32}},
                                   static_cast<const float*>(sim.memory<float>(32)), out);
  EXPECT_TRUE(has(launch, uninitialised)) << findings(launch);
  void* freed = sim.device->allocate(128);
  sim.device->release(freed);
  EXPECT_TRUE(has(sim.run(core_kernels, "copy", {{1}, {32}}, static_cast<const float*>(freed), out),
                  out_of_bounds));
}

TEST(SimCore, FindingsNameBlockThreadLineAndVariable) {
  Simulated sim;
  const SimLaunch launch = subject("reverse").run(sim, "reverse<1>");
  const std::string text = findings(launch);
  EXPECT_NE(text.find("core_kernels.cu:"), std::string::npos) << text;
  EXPECT_NE(text.find("reverse<1>::tile + "), std::string::npos) << text;
  EXPECT_NE(text.find("block (0,0,0) thread "), std::string::npos) << text;
}

TEST(SimCore, FindingsSayOnWhichSideOfAVariable) {
  Simulated sim;
  auto* out = sim.memory<float>(1);
  const auto at = [&](int place) {
    return findings(sim.run(core_kernels, "beside", {{1}, {32}}, out, place));
  };
  EXPECT_EQ(at(2), "");
  EXPECT_NE(at(3).find("reads 4 bytes past the end of beside::three"), std::string::npos) << at(3);
  EXPECT_NE(at(-1).find("reads 4 bytes before the start of beside::three"), std::string::npos)
      << at(-1);
}

TEST(SimCore, LaunchesThatOverlapMustWait) {
  for (const SimOptions& options : schedules(4)) {
    Simulated sim;
    sim.device->set_options(options);
    float* data = sim.memory(ramp(64));
    const LaunchShape plain{{1}, {64}};
    LaunchShape overlapping = plain;
    overlapping.programmatic_overlap = true;
    const auto behind = [&](const std::string& kernel, const LaunchShape& shape) {
      launch(*sim.stream, find_kernel(core_kernels, "behind<1>"), plain, data);
      return sim.run(core_kernels, kernel, shape, data);
    };
    EXPECT_EQ(findings(behind("behind<1>", plain)), "");
    EXPECT_EQ(findings(behind("behind<0>", overlapping)), "");
    EXPECT_EQ(findings(behind("behind_one", overlapping)), "");
    EXPECT_TRUE(has(behind("behind<1>", overlapping), missing_wait));
    EXPECT_TRUE(has(behind("behind<2>", overlapping), missing_wait));
    // A copy lies between: it waits for the kernel, and the launch for it.
    launch(*sim.stream, find_kernel(core_kernels, "behind<1>"), plain, data);
    const float one = 1;
    sim.device->copy_to_device(*sim.stream, data, &one, sizeof one);
    EXPECT_EQ(findings(sim.run(core_kernels, "behind<1>", overlapping, data)), "");
  }
}

// The first of these launches writes `data`, the last adds to it, those between touch none of it.
TEST(SimCore, LaunchesOverlapThoseFurtherAheadThatNobodyWaitedFor) {
  for (const SimOptions& options : schedules(2)) {
    Simulated sim;
    sim.device->set_options(options);
    float* data = sim.memory(ramp(64));
    float* other = sim.memory(ramp(64));
    const LaunchShape plain{{1}, {64}};
    LaunchShape overlapping = plain;
    overlapping.programmatic_overlap = true;
    const auto is_right = [&](const std::vector<std::string>& between, const std::string& last,
                              float* touched) {
      launch(*sim.stream, find_kernel(core_kernels, "behind<1>"), plain, data);
      for (const std::string& kernel : between)
        launch(*sim.stream, find_kernel(core_kernels, kernel), overlapping, other);
      const SimLaunch done = sim.run(core_kernels, last, overlapping, touched);
      EXPECT_EQ(done.findings.empty(), !has(done, missing_wait)) << findings(done);
      return done.findings.empty();
    };
    const std::string waits = "behind<0>", does_not_wait = "behind<1>";
    EXPECT_FALSE(is_right({"between<0>"}, waits, data));
    EXPECT_TRUE(is_right({"between<0>"}, waits, other));
    EXPECT_TRUE(is_right({"between<1>"}, waits, data));
    EXPECT_TRUE(is_right({"between<2>"}, waits, data));
    EXPECT_TRUE(is_right({"between<1>"}, does_not_wait, data));
    EXPECT_FALSE(is_right({"between<1>"}, does_not_wait, other));
    EXPECT_FALSE(is_right({"between<2>"}, does_not_wait, data));
    EXPECT_FALSE(is_right({"between<0>", "between<1>"}, waits, data));
    EXPECT_TRUE(is_right({"between<1>", "between<1>"}, waits, data));
  }
}

TEST(SimCore, TrapsEndTheLaunchAndTheDeviceGoesOn) {
  Simulated sim;
  const float* in = sim.memory(ramp(32));
  EXPECT_TRUE(has(sim.run(core_kernels, "stop", {{1}, {32}}, in), trap));
  EXPECT_EQ(findings(sim.run(core_kernels, "copy", {{1}, {32}}, in, sim.memory<float>(32))), "");
}

TEST(SimCore, CountersAreThoseOfTheHardware) {
  Simulated sim;
  const SimLaunch launch = subject("reverse").run(sim, "reverse<0>");
  const SimCounters& counters = launch.counters;
  EXPECT_EQ(counters[SimCounter::global_load_requests], 16u);
  EXPECT_EQ(counters[SimCounter::global_load_sectors], 64u);
  EXPECT_EQ(counters[SimCounter::global_store_sectors], 64u);
  EXPECT_EQ(counters[SimCounter::shared_load_requests], 16u);
  EXPECT_EQ(counters[SimCounter::shared_load_conflicts], 0u);
  EXPECT_EQ(counters[SimCounter::global_read_sectors_unique], 64u);
  EXPECT_EQ(counters[SimCounter::block_barriers], 4u);
}

TEST(SimCore, LaunchesThatAGpuRefusesAreRefused) {
  Simulated sim;
  const float* in = sim.memory(ramp(32));
  float* out = sim.memory<float>(32);
  const auto refuse = [&](const LaunchShape& shape, const std::string& what) {
    try {
      sim.run(core_kernels, "copy", shape, in, out);
      ADD_FAILURE() << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  refuse({{1}, {1025}}, "at most 1024");
  refuse({{0}, {32}}, "at least one block");
  refuse({{1}, {32}, 300000}, "shared memory");
  refuse({{3}, {32}, 0, {2}}, "multiple of the cluster");
  EXPECT_THROW(launch(*sim.stream, find_kernel(core_kernels, "copy"), LaunchShape{}, in, 5), Error);
  EXPECT_THROW(find_kernel(core_kernels, "copi"), Error);
}

}  // namespace
}  // namespace rooftile::sim_test
