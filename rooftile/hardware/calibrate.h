// SPDX-License-Identifier: Apache-2.0
// Fits the constants of the time model (predict.h) to measured kernels, and says how far it would
// have been from each kernel had it not seen it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/hardware/predict.h"

namespace ROOFTILE_API rooftile {

/// A kernel whose time was measured on the card.
struct ValidationKernel {
  std::string name;
  KernelWork work;
  double measured_us = 0;
};

/// "kernels" of records/h200/prediction.json. Throws Error(bad_input) that names what is wrong.
std::vector<ValidationKernel> validation_kernels(const std::string& json);

/// `start` with launch_us, trip_us and l2_sectors_per_s such that the sum of squared logarithms of
/// predicted / measured is least (coordinate search: the model has corners, and no gradient there).
PredictionModel calibrate(const PredictionModel& start, std::span<const ValidationKernel> kernels);

/// What the relative errors of launches come to; `worst_launch` is one of `launches`. None may be
/// empty, and both have as many.
PredictionError::Of summary(std::span<const std::string> launches, std::span<const double> errors);

/// Each kernel's time, predicted by a fit to all the others.
std::vector<double> left_out_us(const PredictionModel& start,
                                std::span<const ValidationKernel> kernels);

}  // namespace rooftile
