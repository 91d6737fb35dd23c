// SPDX-License-Identifier: Apache-2.0
#include "rooftile/hardware/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "rooftile/base/error.h"
#include "rooftile/base/json.h"

namespace rooftile {
namespace {

constexpr double kFirstStep = 0.3;
constexpr double kLastStep = 1e-5;

double loss(const PredictionModel& model, std::span<const ValidationKernel> kernels) {
  double sum = 0;
  for (const ValidationKernel& kernel : kernels) {
    const double error = std::log(predict(kernel.work, model).total_us / kernel.measured_us);
    sum += error * error;
  }
  return sum;
}

double number(const Json& object, const char* key, double otherwise) {
  return object.contains(key) ? object[key].get<double>() : otherwise;
}

ValidationKernel kernel_of(const Json& object) {
  ValidationKernel kernel;
  kernel.name = object.at("name").get<std::string>();
  kernel.measured_us = object.at("measured_us").get<double>();
  KernelWork& work = kernel.work;
  work.dram_read_bytes = number(object, "dram_read_bytes", 0);
  work.dram_written_bytes = number(object, "dram_written_bytes", 0);
  work.l2_sectors = number(object, "l2_sectors", 0);
  work.l2_requests = number(object, "l2_requests", 0);
  work.shared_wavefronts = number(object, "shared_wavefronts", 0);
  work.instructions = number(object, "instructions", 0);
  work.tensor_seconds = number(object, "tensor_seconds", 0);
  work.blocks = number(object, "blocks", 0);
  work.barriers = number(object, "barriers", 0);
  work.resident_blocks = number(object, "resident_blocks", 0);
  if (!(kernel.measured_us > 0)) fail_input(kernel.name + ": measured_us must be above 0");
  return kernel;
}

}  // namespace

std::vector<ValidationKernel> validation_kernels(const std::string& json) {
  std::vector<ValidationKernel> kernels;
  try {
    const Json file = parse_json(json);
    for (const Json& object : file.at("kernels")) kernels.push_back(kernel_of(object));
  } catch (const Json::exception& error) {
    fail_input(std::string("not a file of validation kernels: ") + error.what());
  }
  return kernels;
}

PredictionModel calibrate(const PredictionModel& start, std::span<const ValidationKernel> kernels) {
  constexpr std::array<double PredictionModel::*, 3> kFree{
      &PredictionModel::launch_us, &PredictionModel::trip_us, &PredictionModel::l2_sectors_per_s};
  PredictionModel best = start;
  double least = loss(best, kernels);
  for (double step = kFirstStep; step > kLastStep;) {
    bool is_better = false;
    for (const auto free : kFree)
      for (const double factor : {1 + step, 1 / (1 + step)}) {
        PredictionModel tried = best;
        tried.*free *= factor;
        const double now = loss(tried, kernels);
        if (!(now < least)) continue;
        least = now;
        best = tried;
        is_better = true;
      }
    if (!is_better) step /= 2;
  }
  return best;
}

PredictionError::Of summary(std::span<const std::string> launches, std::span<const double> errors) {
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  const auto worst = std::ranges::max_element(sizes);
  PredictionError::Of found{
      .launches = static_cast<int>(sizes.size()),
      .worst = *worst,
      .worst_launch = launches[static_cast<std::size_t>(worst - sizes.begin())]};
  std::ranges::sort(sizes);
  found.median = (sizes[(sizes.size() - 1) / 2] + sizes[sizes.size() / 2]) / 2;
  return found;
}

std::vector<double> left_out_us(const PredictionModel& start,
                                std::span<const ValidationKernel> kernels) {
  std::vector<double> predicted;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::vector<ValidationKernel> others(kernels.begin(), kernels.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    predicted.push_back(predict(kernels[i].work, calibrate(start, others)).total_us);
  }
  return predicted;
}

}  // namespace rooftile
