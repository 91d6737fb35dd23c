// SPDX-License-Identifier: Apache-2.0
// What a processor's memory and arithmetic can do at most: streams with and without non-temporal
// stores (McCalpin's STREAM kernels), and register-only multiply-add loops.
#pragma once

#include <cstdint>
#include <vector>

#include "rooftile/device/device.h"

namespace rooftile {

/// Probes of working sets far beyond the last-level cache, for all threads of `device`.
std::vector<Probe> cpu_probes(Device& device);

/// Reads `count` floats as fast as one thread can; the sum keeps the reads alive.
float probe_read(const float* data, std::int64_t count);

}  // namespace rooftile
