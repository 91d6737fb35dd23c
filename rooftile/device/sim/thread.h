// SPDX-License-Identifier: Apache-2.0
// A simulated thread while it runs, and the warp of which it is a lane.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "rooftile/base/function_ref.h"
#include "rooftile/device/sim/clocks.h"

namespace rooftile::sim {

constexpr int kLanes = 32;
constexpr std::uint8_t kSpinsBeforeStuck = 16;
constexpr std::uint32_t kLoggedAccesses = 512;

enum class State : std::uint8_t {
  fresh,
  ready,
  running,
  yielded,  // waits for memory that another thread writes
  block_barrier,
  named_barrier,  // wait[0]: its number
  warp,           // wait[0]: the mask of lanes that must come
  mbarrier,       // wait[0]: its address in the window, wait[1]: the parity
  engine,         // wgmma, cp.async or bulk groups; wait[0]: see Async
  cluster_barrier,
  done,
};

/// One access of one lane, kept until its warp's accesses are joined to requests.
struct LoggedAccess {
  std::uint64_t address;
  std::uint32_t pc;
  std::uint8_t bytes;
  std::uint8_t flags;  // MemorySpace, and AccessOp << 1
};

/// What a thread's fences cover, of its block, of its cluster, and of the device; those of a larger
/// scope are fences of the smaller too.
struct Fences {
  static constexpr std::size_t kLevels = 3;
  struct Level {
    // What it had done, and knew of all threads, at its last one.
    std::uint32_t clock = 0, floor = 0;
    std::unique_ptr<Knowledge> more{};  // that it knew then, if anything
  };
  std::array<Level, kLevels> levels{};
  /// Read by relaxed atomics: known after the next fence.
  std::array<SharedKnowledge, kLevels> unfenced{};
  std::vector<const void*> volatile_loads{};  // of which the same holds
};

/// What each switch and each access needs lies in its first line of the host's cache.
struct alignas(64) Thread : Known {
  void* stack_pointer = nullptr;
  LoggedAccess* log = nullptr;  // its first; between two of its own lie those of the other lanes
  std::uint32_t clock = 1;
  std::uint16_t logged = 0;
  State state = State::fresh;
  std::uint8_t spins = 0;  // of a loop that waits with atomics, as far as it counts
  std::array<std::uint32_t, 2> wait{};
  std::uint8_t* stack = nullptr;
  std::unique_ptr<Fences> fences{};    // null while it has executed none
  std::uint64_t cluster_arrivals = 0;  // at the cluster's barrier
  std::uint64_t cluster_waits = 0;     // the same, when it last waited there
  bool knows_grid_ahead = false;       // that the kernel ahead has ended
  // The address of the last atomic of such a loop, which changed nothing, and what it saw there.
  std::uint64_t spin_address = 0;
  std::uint64_t spin_value = 0;
};
static_assert(sizeof(Known) == 32 && sizeof(Thread) == 128);

/// Of a shuffle: which lane to read from, and of segments of how many.
struct ShuffleSource {
  int operand = 0, width = kLanes;
};

struct Warp;
/// What a warp operation does for these lanes, all of which have come.
using WarpOperation = FunctionRef<void(Warp&, std::uint32_t lanes)>;

/// A warp operation that not all lanes of its mask have reached.
struct Gathering {
  std::uint32_t mask = 0;
  std::uint32_t arrived = 0;
  std::uint32_t kind = 0;
  std::uint32_t pc = 0;
  const WarpOperation* complete = nullptr;  // on the stack of the first that came
};

struct Warp {
  std::array<std::uint64_t, kLanes> value{};
  std::array<std::uint64_t, kLanes> result{};
  std::array<ShuffleSource, kLanes> source{};
  std::array<Gathering, kLanes> gatherings{};
  int gathering_count = 0;
  std::uint32_t lanes = 0;       // that it began with
  std::uint32_t live = 0;        // lanes that have not returned
  std::uint32_t logged = 0;      // lanes with accesses in their logs
  std::uint32_t operations = 0;  // that its lanes have done together
  std::uint32_t sync_lanes = 0;  // that have arrived at __syncthreads, the first of them at sync_pc
  std::uint32_t sync_pc = 0;
  LoggedAccess* logs = nullptr;
};

}  // namespace rooftile::sim
