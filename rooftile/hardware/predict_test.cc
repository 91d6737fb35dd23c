// SPDX-License-Identifier: Apache-2.0
#include "rooftile/hardware/predict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/hardware/calibrate.h"
#include "rooftile/hardware/gpu.h"

namespace rooftile {
namespace {

using enum TimeTerm;

// Round figures: 100 SMs at 1 GHz.
constexpr PredictionModel kModel{.units = 100,
                                 .clock_hz = 1e9,
                                 .read_bytes_per_s = 4e12,
                                 .copy_bytes_per_s = 2e12,
                                 .write_bytes_per_s = 3e12,
                                 .tensor_share = 0.5,
                                 .l2_sectors_per_s = 1e11,
                                 .launch_us = 2,
                                 .trip_us = 1};

std::vector<ValidationKernel> measured() {
  return validation_kernels(
      read_file(std::string(ROOFTILE_SOURCE_DIR) + "/records/h200/prediction.json").value());
}

TEST(Predict, DramTimeFollowsTheAccessMix) {
  KernelWork work{.blocks = 100, .resident_blocks = 8, .waits_for_memory = false};
  work.dram_read_bytes = 8e6;
  EXPECT_DOUBLE_EQ(predict(work, kModel)[dram], 2);
  work.dram_written_bytes = 8e6;
  EXPECT_DOUBLE_EQ(predict(work, kModel)[dram], 8);
  work.dram_read_bytes = 0;
  EXPECT_NEAR(predict(work, kModel)[dram], 8.0 / 3, 1e-12);
  work.dram_read_bytes = 24e6;  // a quarter is written: half way from 4 to 2
  EXPECT_NEAR(predict(work, kModel)[dram], 32.0 / 3, 1e-12);
}

TEST(Predict, L2ServesTwoSectorsOrOneRequestAClock) {
  KernelWork work{.l2_sectors = 4e5, .l2_requests = 1e5, .blocks = 100, .resident_blocks = 8};
  EXPECT_DOUBLE_EQ(predict(work, kModel)[l2], 4);
  work.l2_requests = 4e5;
  EXPECT_DOUBLE_EQ(predict(work, kModel)[l2], 8);
}

TEST(Predict, WorkOfAnSmGrowsByTheTail) {
  KernelWork work{.shared_wavefronts = 1e6, .instructions = 1e6, .blocks = 100};
  EXPECT_DOUBLE_EQ(predict(work, kModel)[shared], 10);
  EXPECT_DOUBLE_EQ(predict(work, kModel)[issue], 2.5);
  work.blocks = 101;  // one SM has two
  EXPECT_DOUBLE_EQ(predict(work, kModel)[shared], 10 * 2 / 1.01);
  work.blocks = 10;  // ten SMs do it all
  EXPECT_DOUBLE_EQ(predict(work, kModel)[shared], 100);
}

TEST(Predict, PowerOrTheFullestSmLimitsTheTensorCores) {
  KernelWork work{.tensor_seconds = 1e-5, .blocks = 100};
  EXPECT_DOUBLE_EQ(predict(work, kModel)[tensor], 20);
  work.blocks = 10;
  EXPECT_DOUBLE_EQ(predict(work, kModel)[tensor], 100);
  EXPECT_EQ(predict(work, kModel).binds, tensor);
}

TEST(Predict, OtherBlocksHideLatency) {
  KernelWork work{.l2_sectors = 1e6, .blocks = 400, .barriers = 400};
  const Prediction alone = predict(work, kModel);  // 4 rounds of 2 trips, hidden by nothing
  EXPECT_DOUBLE_EQ(alone.latency_us, 8);
  EXPECT_DOUBLE_EQ(alone[exposed], 8);
  EXPECT_DOUBLE_EQ(alone.total_us, 2 + 10 + 8);
  work.resident_blocks = 2;  // 2 rounds, and half of the L2's time hides them
  const Prediction two = predict(work, kModel);
  EXPECT_DOUBLE_EQ(two.latency_us, 4);
  EXPECT_DOUBLE_EQ(two[exposed], 0);
  EXPECT_DOUBLE_EQ(two.total_us, 12);
  EXPECT_EQ(two.binds, l2);
  EXPECT_NE(two.why.find("L2"), std::string::npos);
}

TEST(Predict, NothingToDoIsALaunch) {
  const Prediction p = predict({.blocks = 1, .waits_for_memory = false}, kModel);
  EXPECT_DOUBLE_EQ(p.total_us, 2);
  EXPECT_EQ(p.binds, launch);
}

TEST(Predict, RefusesWhatIsNoCount) {
  EXPECT_THROW((void)predict({.blocks = 0}, kModel), Error);
  EXPECT_THROW((void)predict({.blocks = 1, .resident_blocks = 0}, kModel), Error);
  EXPECT_THROW((void)predict({.l2_sectors = -1, .blocks = 1}, kModel), Error);
  EXPECT_THROW((void)predict({.tensor_seconds = NAN, .blocks = 1}, kModel), Error);
  EXPECT_THROW((void)prediction_model(find_gpu("a100")), Error);
  EXPECT_THROW((void)validation_kernels(R"({"kernels": [{"name": "x"}]})"), Error);
  EXPECT_THROW((void)validation_kernels(R"({"kernels": [{"name": "x", "measured_us": 0}]})"),
               Error);
}

TEST(Predict, ScalesMemoryToAnotherGpu) {
  const PredictionModel h200 = prediction_model(find_gpu("h200"));
  const PredictionModel h100 = prediction_model(find_gpu("h100"));
  EXPECT_NEAR(h200.copy_bytes_per_s, 4.274e12, 1e9);
  EXPECT_NEAR(h100.copy_bytes_per_s / h200.copy_bytes_per_s, 3.35 / 4.8, 1e-12);
}

TEST(Calibrate, FindsTheConstantsThatMadeTheTimes) {
  std::vector<ValidationKernel> kernels = measured();
  PredictionModel hidden = prediction_model(find_gpu("h200"));
  hidden.launch_us = 5;
  hidden.trip_us = 0.8;
  hidden.l2_sectors_per_s = 2e11;
  for (ValidationKernel& kernel : kernels)
    kernel.measured_us = predict(kernel.work, hidden).total_us;
  const PredictionModel found = calibrate(prediction_model(find_gpu("h200")), kernels);
  EXPECT_NEAR(found.launch_us, 5, 0.01);
  EXPECT_NEAR(found.trip_us, 0.8, 0.01);
  EXPECT_NEAR(found.l2_sectors_per_s, 2e11, 1e9);
}

TEST(Calibrate, ConstantsAndErrorsAreThoseOfTheRecords) {
  const std::vector<ValidationKernel> kernels = measured();
  const PredictionModel built_in = prediction_model(find_gpu("h200"));
  const PredictionModel fitted = calibrate(built_in, kernels);
  std::printf("launch %.3f us, trip %.4f us, %.2f L2 sectors a clock\n", fitted.launch_us,
              fitted.trip_us, fitted.l2_sectors_per_s / fitted.clock_hz);
  EXPECT_NEAR(built_in.launch_us / fitted.launch_us, 1, 0.01);
  EXPECT_NEAR(built_in.trip_us / fitted.trip_us, 1, 0.01);
  EXPECT_NEAR(built_in.l2_sectors_per_s / fitted.l2_sectors_per_s, 1, 0.01);

  const std::vector<double> predicted = left_out_us(built_in, kernels);
  std::vector<std::string> names;
  std::vector<double> errors;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const double error = predicted[i] / kernels[i].measured_us - 1;
    const Prediction p = predict(kernels[i].work, built_in);
    std::printf("%-32s measured %7.2f us, left out %7.2f us (%+5.1f %%), fitted %7.2f us; %s\n",
                kernels[i].name.c_str(), kernels[i].measured_us, predicted[i], error * 100,
                p.total_us, p.why.c_str());
    names.push_back(kernels[i].name);
    errors.push_back(error);
    const bool is_gemm = kernels[i].name.starts_with("gemm");
    EXPECT_LT(std::abs(error), is_gemm ? 0.25 : 0.15) << kernels[i].name;
  }
  const PredictionError::Of said = prediction_error().fitted;
  const PredictionError::Of found = summary(names, errors);
  EXPECT_EQ(said.launches, found.launches);
  EXPECT_EQ(said.worst_launch, found.worst_launch);
  EXPECT_NEAR(said.worst, found.worst, 0.002);
  EXPECT_NEAR(said.median, found.median, 0.002);
}

}  // namespace
}  // namespace rooftile
