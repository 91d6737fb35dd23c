// SPDX-License-Identifier: Apache-2.0
// The times that the simulator predicts, beside those that an H200 took (records/).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "rooftile/base/file.h"
#include "rooftile/hardware/calibrate.h"
#include "rooftile/hardware/gpu.h"
#include "rooftile/workbench/simulate.h"

namespace rooftile {
namespace {

std::vector<Record> records_of(const std::string& file) {
  const std::string path = std::string(ROOFTILE_SOURCE_DIR) + "/records/" + file;
  return records_from_json(read_file(path).value(), path);
}

SimCounters counters_of(const LaunchRecord& launch) {
  SimCounters counters;
  for (const auto& [name, count] : launch.counters) {
    const auto info = std::ranges::find(sim_counters(), name, &SimCounterInfo::name);
    EXPECT_NE(info, sim_counters().end()) << name;
    counters[info->counter] = static_cast<std::uint64_t>(count);
  }
  return counters;
}

// What benchmarks/validate_prediction.py recorded, by the model of today, beside what was measured.
TEST(Prediction, IsAsFarFromAnH200AsIsSaid) {
  std::vector<Record> measured;
  for (const char* file : {"h200/rows.json", "h200/gemm.json"})
    for (Record& record : records_of(file)) measured.push_back(std::move(record));
  const Gpu& gpu = find_gpu("h200");
  const std::vector<Record> predicted = records_of("sim/predicted.json");
  std::vector<std::string> names;
  std::vector<double> errors;
  for (const Record& record : predicted) {
    SCOPED_TRACE(record.problem);
    const auto same = std::ranges::find_if(measured, [&](const Record& m) {
      return m.problem == record.problem && m.config == record.config;
    });
    ASSERT_NE(same, measured.end());
    double us = 0;
    for (const LaunchRecord& launch : record.launches) {
      Occupancy occupancy;
      occupancy.blocks_per_sm = static_cast<int>(launch.blocks_per_sm);
      us += predict(work_of(counters_of(launch), occupancy, gpu, Unit::bf16), prediction_model(gpu))
                .total_us;
    }
    EXPECT_NEAR(us / record.predicted_us.value(), 1, 1e-3) << "the record is of another model";
    const double error = us / same->time_us.value().median - 1;
    std::printf("%-75s %+5.1f %%\n", record.problem.c_str(), error * 100);
    names.push_back(record.problem);
    errors.push_back(error);
  }
  const PredictionError::Of said = prediction_error().alone;
  const PredictionError::Of found = summary(names, errors);
  EXPECT_TRUE(found.worst_launch.starts_with(said.worst_launch)) << found.worst_launch;
  EXPECT_EQ(found.launches, said.launches);
  EXPECT_NEAR(found.worst, said.worst, 0.002);
  EXPECT_NEAR(found.median, said.median, 0.002);
}

}  // namespace
}  // namespace rooftile
