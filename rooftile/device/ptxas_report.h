// SPDX-License-Identifier: Apache-2.0
// What ptxas said of a kernel when nvcc compiled it (-Xptxas -v): the registers and shared memory
// that its occupancy follows from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

struct KernelResources {
  int registers = 0;  // of a thread
  std::int64_t static_shared_bytes = 0;
  std::int64_t spilled_bytes = 0;  // stored and loaded
  int instances = 1;  // that the name may mean: with more than one the largest figures are given
};

/// The figures of `kernel`, named as in a kernel table ("rows<float, 4>"), from a report's text. An
/// instance is found by its template arguments; where their spelling leaves doubt, all instances of
/// that name count. None where the report has no such kernel.
std::optional<KernelResources> resources_of(std::string_view report, std::string_view kernel);

}  // namespace rooftile
