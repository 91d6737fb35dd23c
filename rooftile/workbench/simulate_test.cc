// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rooftile/hardware/gpu.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/workbench/test_support.h"

namespace rooftile {

extern const KernelTable simulate_kernels;

namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The toy operation by a kernel of simulate_kernels_test.cu.
Record simulated(const std::string& name, std::uint32_t threads, const std::string& line) {
  KernelDef kernel = toy_kernel([=](const Context& context, const Arguments& args) {
    const auto count = static_cast<int>(num_elements(args["x"].shape));
    const auto blocks = (static_cast<std::uint32_t>(count) + threads - 1) / threads;
    launch(*context.stream, find_kernel(simulate_kernels, name), {{blocks}, {threads}},
           static_cast<float*>(args["y"].data), static_cast<const float*>(args["x"].data), 2.0F,
           count);
  });
  kernel.target = Target::sm90;
  const Operation operation{.def = &toy_op(), .kernels = {&kernel}};
  const std::unique_ptr<SimDevice> device = make_sim_device("h200");
  return simulate(operation, kernel, toy_problem(line), *device);
}

double figure(const Figures& figures, const std::string& name) {
  for (const auto& [key, value] : figures)
    if (key == name) return value;
  return 0;
}

TEST(Simulate, CountsAndPredictsAGoodKernel) {
  const Record record = simulated("toy_plain", 256, "rows=64 cols=1024 x=f32");
  ASSERT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_EQ(record.origin, Origin::simulated);
  EXPECT_FALSE(record.time_us);  // nothing was timed
  ASSERT_EQ(record.launches.size(), 1U);
  const LaunchRecord& launch = record.launches[0];
  EXPECT_EQ(launch.kernel, "toy_plain");
  EXPECT_EQ(figure(launch.counters, "global load requests"), 2048);
  EXPECT_EQ(figure(launch.counters, "global load sectors"), 8192);
  EXPECT_EQ(figure(launch.counters, "sectors read from DRAM"), 8192);  // L2 was empty
  EXPECT_EQ(figure(launch.counters, "distinct global sectors written"), 8192);
  EXPECT_EQ(launch.blocks_per_sm, 8);
  EXPECT_GT(launch.simulated_s.value(), 0);
  EXPECT_EQ(record.predicted_us, launch.predicted_us);
  EXPECT_EQ(launch.binds, "launch");
  EXPECT_GT(*record.predicted_us, figure(launch.terms_us, "launch"));
  ASSERT_EQ(launch.lines.size(), 2U);
  EXPECT_THAT(launch.lines[0].place, HasSubstr("simulate_kernels_test.cu:"));
  EXPECT_EQ(launch.lines[0].access, "global load of 4 bytes");
  EXPECT_THAT(launch.lines[0].remark, IsEmpty());
}

TEST(Simulate, RemarksOnWaste) {
  const Record record = simulated("toy_scattered", 1024, "rows=4 cols=1024 x=f32");
  ASSERT_EQ(record.status, Status::passed) << record.reason;
  std::string remarks;
  for (const LineRecord& line : record.launches.at(0).lines)
    remarks += line.access + ": " + line.remark + "\n";
  EXPECT_THAT(remarks, HasSubstr("global load of 4 bytes: 32 sectors a request, 4 would do"));
  EXPECT_THAT(remarks,
              HasSubstr("shared store of 4 bytes: 32 wavefronts a request: bank conflicts"));
}

TEST(Simulate, RemarksOnIdleLanes) {
  const SimLine half{.place = "a.cu:1",
                     .space = MemorySpace::global,
                     .op = AccessOp::load,
                     .bytes_per_lane = 4,
                     .requests = 10,
                     .lanes = 80,
                     .sectors = 10};
  EXPECT_EQ(remark_on(half), "8 of 32 lanes active");
  EXPECT_EQ(remark_on({}), "");
}

TEST(Simulate, WhatTheSimulatorFindsFails) {
  const Record record = simulated("toy_beyond", 256, "rows=1 cols=300 x=f32");
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_THAT(record.reason, HasSubstr("nothing has written"));
  EXPECT_FALSE(record.predicted_us);
}

TEST(Simulate, RecordsRoundTrip) {
  const Record record = simulated("toy_plain", 128, "rows=2 cols=64 x=f32");
  const std::string text = to_json("sim:h200", {record});
  EXPECT_EQ(to_json("sim:h200", records_from_json(text, "a.json")), text);
  EXPECT_THAT(text, HasSubstr(R"("origin": "simulated")"));
}

TEST(Simulate, TensorTimeIsAtThePeakOfItsType) {
  SimCounters counters;
  counters[SimCounter::blocks] = 132;
  counters[SimCounter::wgmma_multiply_adds] = 1'000'000'000;
  const Gpu& gpu = find_gpu("h200");
  const Occupancy one = occupancy({9, 0}, {.threads_per_block = 128, .registers_per_thread = 32});
  const double bf16 = work_of(counters, one, gpu, Unit::bf16).tensor_seconds;
  EXPECT_NEAR(bf16, 2e9 / (4096.0 * 132 * 1.98e9), 1e-9);
  EXPECT_NEAR(work_of(counters, one, gpu, Unit::fp8).tensor_seconds, bf16 / 2, 1e-9);
}

}  // namespace
}  // namespace rooftile
