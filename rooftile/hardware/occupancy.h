// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel one SM holds at once, and what stops it from holding more. Needs no
// GPU. The rules are those of CUDA 13.0's occupancy calculator; clusters are not modelled.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/hardware/sm_limits.h"

namespace ROOFTILE_API rooftile {

/// What one block of a kernel asks for.
struct BlockNeeds {
  int threads_per_block = 0;
  int registers_per_thread = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  int barriers_per_block = 1;  // 1 is __syncthreads() alone
  int virtual_resources_per_block = 0;
  /// Shared memory asked for by the preferred carve-out; none means the largest.
  std::optional<std::int64_t> carveout_bytes = {};
};

enum class OccupancyFactor : std::uint8_t {
  warps,
  registers,
  shared_memory,
  blocks,
  barriers,
  virtual_resources,
};
constexpr int kOccupancyFactors = 6;
std::string_view name(OccupancyFactor factor);

struct Occupancy {
  ComputeCapability capability;
  BlockNeeds needs;
  int blocks_per_sm = 0;  // 0: not even one block fits, so a launch fails
  int warps_per_sm = 0;
  int max_warps_per_sm = 0;
  double fraction = 0;  // warps_per_sm / max_warps_per_sm
  /// Blocks that each factor alone would allow, by OccupancyFactor; absent where it does not apply.
  std::array<std::optional<int>, kOccupancyFactors> limit_blocks = {};

  [[nodiscard]] std::optional<int> limit(OccupancyFactor factor) const {
    return limit_blocks[static_cast<std::size_t>(factor)];
  }
  /// Whether more of this factor is needed for another block.
  [[nodiscard]] bool binds(OccupancyFactor factor) const { return limit(factor) == blocks_per_sm; }
  [[nodiscard]] std::vector<OccupancyFactor> binding_factors() const;

  /// One sentence for a person: what limits, what was asked for and what there is.
  [[nodiscard]] std::string why() const;
};

/// Throws Error(unsupported) for a capability that is not known, and Error(bad_input) for needs
/// that no launch can have (no thread, more than 1024, more than 255 registers, a negative size). A
/// block that is too big for the SM is an answer, not an error: 0 blocks, and why() says what is
/// allowed.
Occupancy occupancy(ComputeCapability capability, const BlockNeeds& needs);

}  // namespace rooftile
