// SPDX-License-Identifier: Apache-2.0
// The mbarriers of a block, and how asynchronous copies complete on them.
#pragma once

#include <memory>
#include <vector>

#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {

struct MbarrierState {
  std::uint32_t address = 0;  // in the window
  int agent = 0;              // the actor of copies that complete on it
  bool is_live = false;
  bool is_visible = false;  // to the asynchronous proxy: fenced after its init
  Epoch initialised{};
  /// The phase of the cluster's barrier behind which all know of the init: see
  /// fence_mbarrier_init().
  std::uint64_t known_from = kNever;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint32_t init_pc = 0;
  std::uint32_t count = 0;
  std::uint32_t pending = 0;  // arrivals that the phase still waits for
  std::int64_t bytes = 0;     // expected and not copied; negative: copied before they were expected
  std::uint32_t phase = 0;
  std::uint32_t first_clock = 1;   // of the agent in phase 0
  std::uint32_t waited_clock = 0;  // up to which some thread has waited
  std::uint32_t issued_clock = 0;  // of the last copy
  std::uint32_t issued_pc = 0;
  /// What arrivals of the block itself release, and those of others to who waits for the cluster.
  struct Released {
    Knowledge in_block{};
    Knowledge to_cluster{};
    void join(const Released& other) {
      in_block.join(other.in_block);
      to_cluster.join(other.to_cluster);
    }
  };
  Released arriving{};  // in this phase
  Released done{};      // in all phases that are over
  std::vector<std::uint16_t> waiting{};

  /// The agent's clock of what completes in the current phase.
  [[nodiscard]] std::uint32_t clock() const { return first_clock + phase; }
};

struct Mbarriers {
  std::vector<std::unique_ptr<MbarrierState>> all;
  MbarrierState* find(std::uint32_t address);
};

Mbarriers& mbarriers_of(Block& block);

/// A copy that will complete on a barrier: its agent and clock are those of the race detector.
struct Transaction {
  Block* owner = nullptr;
  MbarrierState* barrier = nullptr;
  std::uint32_t phase = 0;
  std::uint32_t clock = 0;
  Runnable issuer{};
  std::uint32_t pc = 0;
};

/// Of the current thread, on the barrier at `address` of `owner`'s window. `what` names the copy.
Transaction begin_transaction(Block& owner, std::uint32_t address, const char* what,
                              std::uint32_t pc);
void complete_transaction(const Transaction& transaction, std::uint32_t bytes);

/// A place in shared memory of a block of the running cluster.
struct SharedPlace {
  Block* owner = nullptr;
  std::uint32_t address = 0;
};
/// Ends the launch with a finding for an address that is in none, or in a block that has ended.
SharedPlace shared_place(const void* pointer, const char* what, std::uint32_t pc);

/// The barrier that the current thread names, for an operation other than a transaction. Ends the
/// launch with a finding where there is none.
MbarrierState& generic_barrier(Block& owner, std::uint32_t address, const char* what,
                               std::uint32_t pc);
/// One arrival by the engine that works for a thread (cp.async.mbarrier.arrive).
void arrive_for(Block& owner, MbarrierState& barrier, const Knowledge& known, Runnable issuer,
                std::uint32_t pc);

/// Whether a thread of the block has waited for what that agent of it copied by then.
[[nodiscard]] bool has_waited_for_copy(Block& block, int agent, std::uint32_t clock);

/// A proxy fence of the thread: the barriers whose init it knows of are visible to copies.
void show_mbarriers(Block& block, int thread);

/// For Engines: what was copied and never waited for, and the state of barriers in a deadlock.
void end_mbarriers(Block& block);
std::string describe_mbarriers(Block& block);

}  // namespace rooftile::sim
