// SPDX-License-Identifier: Apache-2.0
// What one streaming multiprocessor can hold, by compute capability. Source: CUDA C++ Programming
// Guide, "Technical Specifications per Compute Capability", and CUDA 13.0's occupancy calculator.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// 9.0 is {9, 0}. Not an order of power: 10.0 (B200) and 12.0 (RTX 5090) are different machines,
/// and 12.0 has the smaller SM.
struct ComputeCapability {
  int major = 0;
  int minor = 0;
  friend bool operator==(const ComputeCapability&, const ComputeCapability&) = default;
};

/// "9.0"
std::string name(ComputeCapability capability);

constexpr int kWarpLanes = 32;

/// The same on every capability of the table.
constexpr int kMaxThreadsPerBlock = 1024;
constexpr int kMaxRegistersPerThread = 255;
constexpr int kMaxBarriersPerBlock = 16;        // named barriers 0 to 15
constexpr int kRegistersPerSm = 65536;          // 32-bit; also the most that one block may take
constexpr int kPartitionsPerSm = 4;             // each with a quarter of the registers
constexpr int kRegisterUnitPerWarp = 256;       // a warp's registers are allocated in these
constexpr std::int64_t kSharedUnitBytes = 128;  // a block's shared memory is allocated in these
constexpr std::int64_t kReservedSharedBytes = 1024;  // taken by the system from every block

struct SmLimits {
  ComputeCapability capability;
  int max_warps;
  int max_blocks;
  std::int64_t shared_bytes;            // largest carve-out of the L1 cache
  std::int64_t max_block_shared_bytes;  // static and dynamic, with the opt-in
  /// Block barriers that all resident blocks share; 0 where they set no limit of their own.
  int barriers;
  /// Virtual resources that all resident blocks share; 0 where there are none.
  int virtual_resources;
  std::span<const std::int64_t> carveouts_bytes;  // ascending

  [[nodiscard]] int max_threads() const { return max_warps * kWarpLanes; }
};

/// Every capability known here, ascending.
std::span<const SmLimits> sm_limits();

/// Throws Error(unsupported), which lists those known.
const SmLimits& sm_limits(ComputeCapability capability);

}  // namespace rooftile
