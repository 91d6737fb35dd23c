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

/// What a tuned record is valid for: device, driver, operation, dtypes, options, layouts, and the
/// shape class (each extent exact to 16, beyond that by the power of two above it).
std::string tuned_key(const Problem& problem, const DeviceProperties& device);

/// The record for this class, else what came with the library; nothing when there is neither, when
/// it names a kernel or configuration that is gone, or, for a record of this machine, when that
/// kernel's machine code has changed since.
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
