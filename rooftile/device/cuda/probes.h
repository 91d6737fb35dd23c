// SPDX-License-Identifier: Apache-2.0
// What a GPU's memory and arithmetic can do at most: McCalpin's STREAM kernels with 16-byte
// accesses, register-only multiply-adds, and the tensor cores alone.
#pragma once

#include <cstdint>
#include <vector>

#include "rooftile/device/device.h"

namespace rooftile {

/// Probes of working sets far beyond the L2 cache.
std::vector<Probe> cuda_probes(Device& device);

/// Adds one for each type of the tensor cores, where the GPU is a Hopper (matrix_probes.cu).
void add_cuda_matrix_probes(std::vector<Probe>& probes, Device& device);

/// Reads `bytes`, a multiple of 16 KiB, once; writes nothing. `sink` has 4 bytes that are never
/// written.
void probe_read(Stream& stream, const void* from, std::int64_t bytes, void* sink);

}  // namespace rooftile
