// SPDX-License-Identifier: Apache-2.0
// Tuned records: the fastest kernel and configuration found for a class of problems on one device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/kernel.h"
#include "rooftile/op/registry.h"

namespace ROOFTILE_API rooftile {

struct Tuned {
  std::string kernel;
  Config config{};
  double time_us = 0;
};

/// What a tuned record is valid for: device, driver, operation, dtypes, scales, options, layouts
/// (which axis is contiguous, whether rows are aligned to 16 bytes, what repeats), shared memory,
/// the kind of data, and the shape class (each extent exact to 16, beyond that by the power of two
/// above it).
std::string tuned_key(const Problem& problem, const DeviceProperties& device);

/// The record of this machine for this class, else what came with the library; of the problem's
/// kernel, where it names one. One that names a kernel or configuration that is gone, or, of this
/// machine, whose kernel's machine code has changed since, is as none.
std::optional<Tuned> find_tuned(const Operation& operation, const Problem& problem,
                                const DeviceProperties& device);

/// A line of tuned.txt, which tools/make_tuned makes of measured records.
struct ShippedTuned {
  std::string device;   // DeviceProperties::name
  std::string problem;  // with the kernel
  Tuned tuned;
};
std::vector<ShippedTuned> shipped_tuned();

void remember_tuned(const Operation& operation, const Problem& problem,
                    const DeviceProperties& device, const Tuned& tuned);

}  // namespace rooftile
