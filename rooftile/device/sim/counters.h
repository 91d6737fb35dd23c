// SPDX-License-Identifier: Apache-2.0
// What a simulated launch did. sim_counters() has the name that Nsight Compute gives to each, where
// it has one. Requests and sectors of global memory and bank conflicts were compared with an H200's
// (tests/sim/h200_test.cc); the others count what their names say.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

enum class SimCounter : std::uint8_t {
  global_load_requests,
  global_load_sectors,
  global_load_bytes,
  global_store_requests,
  global_store_sectors,
  global_store_bytes,
  global_atomic_requests,
  global_atomic_sectors,
  global_read_sectors_unique,
  global_written_sectors_unique,
  shared_load_requests,
  shared_load_wavefronts,
  shared_load_conflicts,
  shared_store_requests,
  shared_store_wavefronts,
  shared_store_conflicts,
  shared_atomic_requests,
  ldmatrix_requests,
  ldmatrix_wavefronts,
  stmatrix_requests,
  stmatrix_wavefronts,
  tma_load_bytes,
  tma_store_bytes,
  tma_reduce_bytes,
  tma_instructions,
  bulk_bytes,
  cp_async_requests,
  cp_async_bytes,
  wgmma_instructions,
  wgmma_multiply_adds,
  wgmma_shared_bytes,
  mma_instructions,
  mma_multiply_adds,
  warp_collectives,
  block_barriers,
  named_barriers,
  cluster_barriers,
  mbarrier_operations,
  fences,
  remote_shared_accesses,
  memory_lanes,
  memory_instructions,
  l2_requests,
  l2_read_sectors,
  l2_read_misses,
  dram_written_sectors,
  blocks,
  threads,
  fiber_switches,
};
constexpr int kSimCounters = static_cast<int>(SimCounter::fiber_switches) + 1;

struct SimCounterInfo {
  SimCounter counter;
  std::string_view name;    // ours
  std::string_view metric;  // Nsight Compute's, empty where there is none
};
std::span<const SimCounterInfo> sim_counters();

struct SimCounters {
  std::array<std::uint64_t, kSimCounters> values{};
  std::uint64_t& operator[](SimCounter c) { return values[static_cast<std::size_t>(c)]; }
  std::uint64_t operator[](SimCounter c) const { return values[static_cast<std::size_t>(c)]; }
  SimCounters& operator+=(const SimCounters& other) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
    return *this;
  }
};

enum class MemorySpace : std::uint8_t { global, shared };
enum class AccessOp : std::uint8_t { load, store, atomic };

/// One memory instruction of the kernel.
struct SimLine {
  std::string place;  // "rmsnorm.cu:24"
  MemorySpace space = MemorySpace::global;
  AccessOp op = AccessOp::load;
  int bytes_per_lane = 0;
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;       // active, of all requests
  std::uint64_t sectors = 0;     // of global memory
  std::uint64_t wavefronts = 0;  // of shared memory
  std::uint64_t conflicts = 0;   // wavefronts beyond those needed
};

}  // namespace rooftile
