// SPDX-License-Identifier: Apache-2.0
// Kernels with their configurations, and a quick look at which is fastest: what a fair peer needs,
// since a vendor's library gets a choice among its algorithms as our kernels get tuned.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/registry.h"
#include "rooftile/workbench/timing.h"

namespace ROOFTILE_API rooftile {

struct Candidate {
  const KernelDef* kernel = nullptr;
  Config config{};  // empty: the kernel has none

  /// "gemm/cublaslt candidate=2"
  [[nodiscard]] std::string text() const;
};

/// The kernel in each configuration that it offers for the problem; empty where it does not support
/// it.
std::vector<Candidate> candidates_of(const KernelDef& kernel, const Problem& problem,
                                     const DeviceProperties& device);

/// The same of all kernels that call a vendor's library.
std::vector<Candidate> vendor_candidates(const Operation& operation, const Problem& problem,
                                         const DeviceProperties& device);

/// The first in order of preference that supports the problem and calls no vendor's library; null
/// where there is none.
const KernelDef* first_of_ours(const Operation& operation, const Problem& problem,
                               const DeviceProperties& device);

/// Of each group the fastest by the median of a few samples, all of them alternating on the same
/// data. Nobody looks at their results: bench() does, of those that are kept. One that throws is
/// left out; nothing for a group where none is left.
std::vector<std::optional<Candidate>> quickest(const OpDef& op, const Problem& problem,
                                               Device& device,
                                               std::span<const std::vector<Candidate>> groups,
                                               Mode mode);

}  // namespace rooftile
