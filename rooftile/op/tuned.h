// SPDX-License-Identifier: Apache-2.0
// Tuned records: the fastest kernel and configuration found for a class of problems on one device.
#pragma once

#include <optional>
#include <string>

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

/// The record for this class; nothing when there is none, when it names a kernel that is gone, or
/// when that kernel's machine code has changed since.
std::optional<Tuned> find_tuned(const Operation& operation, const Problem& problem,
                                const DeviceProperties& device);

void remember_tuned(const Operation& operation, const Problem& problem,
                    const DeviceProperties& device, const Tuned& tuned);

}  // namespace rooftile
