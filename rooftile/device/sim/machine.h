// SPDX-License-Identifier: Apache-2.0
// The simulated machine while it runs a launch.
//
//   Launch   one grid: what is the same for all of its blocks, and the counters
//   Worker   one thread of the host, with the clusters that are resident on it
//   Cluster  1 to 8 blocks that run together; they share one queue of threads that can run
//   Block    its threads and warps, its shared memory with its shadow, its barriers
//   Thread   a fiber
//
// Everything below a worker belongs to one thread of the host and needs no locks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "rooftile/device/gpu_kernel.h"
#include "rooftile/device/sim/clocks.h"
#include "rooftile/device/sim/counters.h"
#include "rooftile/device/sim/fiber.h"
#include "rooftile/device/sim/finding_list.h"
#include "rooftile/device/sim/module.h"
#include "rooftile/device/sim/options.h"
#include "rooftile/device/sim/read_set.h"
#include "rooftile/device/sim/ready_queue.h"
#include "rooftile/device/sim/shadow.h"
#include "rooftile/device/sim/thread.h"

namespace rooftile::sim {

constexpr int kWarps = 32;
constexpr int kNamedBarriers = 16;
constexpr std::uint32_t kSharedBytes = 228u << 10;  // the window's size; a launch has less
constexpr std::uint32_t kReservedShared = 1024;     // the window's first bytes are the system's

class GlobalMemory;
class L2Cache;
struct AccessCheck;
struct Block;
struct Cluster;
struct Launch;
struct Worker;

struct NamedBarrier {
  int expected = 0;
  int arrived = 0;
  std::vector<std::uint16_t> waiting{};
  Knowledge known{};
};

/// Of a block's shared memory, by a thread of another block, or by a copy into one.
struct RemoteAccess {
  Epoch when;
  std::uint64_t cluster_arrivals;  // of the thread, before it
  std::uint32_t pc;
  std::uint32_t address;  // in the window
};

/// What the engines of a block keep: mbarriers, groups of copies, matrix operations. Made by
/// engines_of() (engines.h) when a block first uses one.
struct Engines;
struct EnginesDeleter {
  void operator()(Engines* engines) const;
};

struct Block {
  explicit Block(Worker& owner);

  Worker& worker;
  Cluster* cluster = nullptr;
  std::uint32_t number = 0;  // in the grid
  std::uint32_t rank = 0;    // in the cluster
  Epoch began{};             // of actor 0, at clock 0
  Coordinates index{};
  int thread_count = 0;
  int live = 0;
  int fresh = 0;  // how many threads were started
  std::vector<Thread> threads;
  std::array<Warp, kWarps> warps;
  std::vector<std::uint16_t> start_order;

  std::uint8_t* shared = nullptr;     // dynamic shared memory; the window begins before it
  std::vector<std::uint8_t> statics;  // the __shared__ variables while another block runs
  Shadow dynamic_shadow{kSharedBytes + kShadowPageBytes};
  Shadow static_shadow{kSharedBytes + kShadowPageBytes};

  std::uint32_t latest_clock = 1;  // of any thread
  bool has_actors = false;         // some thread has Thread::actors
  bool has_foreign = false;
  bool has_fences = false;
  bool has_met_cluster = false;    // a thread has waited at the cluster's barrier
  bool has_remote_writes = false;  // another block's thread has written its shared memory
  bool has_proxy_fences = false;
  std::vector<ProxyFences> proxy_fences;  // of its threads, if it has; else those of a block before
  int barrier_arrived = 0;
  std::vector<std::uint16_t> barrier_waiting;
  int barrier_votes = 0;  // of those that arrived, with a true predicate
  int barrier_result = 0;
  std::array<NamedBarrier, kNamedBarriers> named;
  std::vector<std::pair<int, std::uint32_t>> grid_waits;  // threads, and their clocks then
  bool lets_next_begin = false;
  std::vector<std::unique_ptr<ReadSet>> read_sets;
  std::size_t read_sets_used = 0;
  std::vector<std::uint32_t> free_read_sets;  // of these
  std::unique_ptr<Engines, EnginesDeleter> engines;
  /// The last access of its shared memory by each actor of another block, by block and actor.
  std::map<std::pair<std::uint32_t, int>, RemoteAccess> remote;

  [[nodiscard]] int warp_count() const { return (thread_count + kLanes - 1) / kLanes; }
  /// The lanes that the warp began with: the last may have fewer than the others.
  [[nodiscard]] std::uint32_t lanes_of(int warp) const {
    const int count = std::min(kLanes, thread_count - warp * kLanes);
    return count == kLanes ? ~0u : (1u << count) - 1;
  }
  [[nodiscard]] bool has_fresh() const { return fresh < thread_count; }
  /// The next that has not begun.
  Runnable take_fresh() { return {this, start_order[static_cast<std::size_t>(fresh++)]}; }
  Thread& operator[](int thread) { return threads[static_cast<std::size_t>(thread)]; }
  const Thread& operator[](int thread) const { return threads[static_cast<std::size_t>(thread)]; }
  /// A zeroed vector of clocks, valid until the block ends.
  std::uint32_t* new_actors();
  ReadSet& new_read_set(std::uint32_t& index);
  void start(Cluster& in, std::uint32_t rank_in_cluster, std::uint32_t number_in_grid,
             Coordinates at);

 private:
  std::vector<std::unique_ptr<std::uint32_t[]>> actors_pool_;
  std::size_t actors_used_ = 0;
};

/// An asynchronous operation that was issued and has not happened yet.
struct PendingWork {
  Block* block;
  std::uint64_t serial;  // in order of issue
  std::function<void()> happen;
};

struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
  ReadyQueue ready;
  std::vector<Runnable> yielded;
  std::vector<PendingWork> pending;
  std::uint64_t next_serial = 0;
  std::uint64_t progress_seen = 0;
  int barrier_arrived = 0;  // threads, at the cluster's barrier
  std::uint64_t barrier_phase = 0;
  std::vector<Runnable> barrier_waiting;
  Knowledge barrier_known;  // of those that arrived
  Knowledge barrier_done;   // of the last phase
  bool is_stuck = false;    // every thread waits for memory

  [[nodiscard]] int live() const;
  /// So many that have not begun can run, if there are as many. (They do in any case when no other
  /// can.)
  void start_threads(int count);
};

/// A line of the table by memory instruction, while it is counted.
struct Site {
  std::uint32_t pc = 0;
  std::uint8_t flags = 0;
  std::uint8_t bytes = 0;
  std::uint64_t requests = 0, lanes = 0, sectors = 0, wavefronts = 0, conflicts = 0;
};

/// What strong accesses publish, by address (strong.cc); one of several parts, each with its lock.
struct Published {
  struct Place {
    std::uint64_t owner = 0;  // the thread whose plain store was the last, if one was
    std::unordered_map<std::uint64_t, Knowledge> known{};  // by the threads that may learn it
  };
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Place> places;
};

/// Of the launches that may still run while another does, the serial of the oldest: until a thread
/// has waited for the one ahead, and after that. 0: there is none.
struct GridsAhead {
  std::uint32_t before_wait = 0, after_wait = 0;
};

struct Launch {
  GpuKernel kernel;
  LaunchShape shape;
  SimOptions options;
  /// Where each argument is, and the arguments, copied when the launch was asked for.
  std::vector<std::uint8_t> arguments;
  void** args = nullptr;  // in there
  void (*call)(void**) = nullptr;
  const Module* module = nullptr;
  std::uint32_t serial = 1;  // of Epoch
  bool may_overlap = false;  // the kernel ahead of it
  GridsAhead ahead{};
  // Some thread has waited for the kernel ahead; some block has, before it let the next one begin.
  std::atomic<bool> has_waited{false}, holds_next{false};
  std::uint64_t resident_blocks = 1;  // that the device holds at once
  Shadow* global_shadow = nullptr;
  L2Cache* l2 = nullptr;
  FindingList findings;
  std::atomic<std::uint64_t> next_cluster{0};
  std::uint64_t clusters = 0;
  std::atomic<std::uint64_t> resident{0};
  std::atomic<std::uint64_t> progress{0};  // grows with whatever can let a waiting thread go on
  /// Of each worker the progress at which all of its threads waited for memory; kWorks, kIsDone.
  static constexpr std::uint64_t kWorks = ~std::uint64_t{0}, kIsDone = kWorks - 1;
  std::vector<std::atomic<std::uint64_t>> idle_at;
  std::atomic<std::size_t> next_worker{0};
  std::atomic<bool> is_over{false};  // a trap or a deadlock: nothing runs on
  int workers = 1;
  std::mutex merge_mutex;
  SimCounters counters;
  std::unordered_map<std::uint32_t, Site> sites;
  std::unordered_map<std::uint32_t, std::uint32_t> static_variables;  // those used: begin to end
  std::array<Published, 64> published;

  /// The number in the grid of the cluster that begins after `place` others (launch.cc).
  [[nodiscard]] std::uint64_t cluster_at(std::uint64_t place) const;
};

struct Worker {
  explicit Worker(Launch& of);
  ~Worker();
  void run();
  /// The resident cluster to run: one that can, a new one of the grid, or one that waits, in turn.
  std::size_t next_cluster();
  bool all_wait();
  /// Reports why a cluster stops the launch, and stops it.
  void stop(Cluster& stopped, bool is_livelock);

  Launch& launch;
  GlobalMemory& memory;
  void* host_stack_pointer = nullptr;
  Cluster* cluster = nullptr;  // that runs
  Block* block = nullptr;
  int thread = -1;
  std::uint8_t* statics = nullptr;  // this host thread's copy of the module's __shared__ variables
  std::uint32_t statics_bytes = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> used_statics;  // that kernels have accessed
  StackPool stacks;
  std::vector<LoggedAccess*> logs;
  SimCounters counters;
  std::vector<Site> sites;
  bool plays_dice = false;     // the options ask for something random
  bool owes_progress = false;  // the running thread wrote a volatile variable
  bool is_livelocked = false;  // threads run, and nothing changes
  std::uint64_t random = 1;
  std::uint64_t next_look = 0;  // for progress, when there have been so many switches
  std::uint64_t progress_seen = 0;
  std::uint64_t switches_at_progress = 0;
  // The last allocations and variable that accesses hit.
  struct Hit {
    std::uint64_t begin = 1, end = 0;
  };
  std::array<Hit, 4> allocations{};
  Hit copied{};  // the struct that is read now
  std::uint32_t next_allocation = 0;
  [[nodiscard]] bool hits_again(std::uint64_t address, std::uint64_t bytes) const {
    return std::ranges::any_of(allocations, [=](const Hit& hit) {
      return address >= hit.begin && address + bytes <= hit.end;
    });
  }
  std::uint32_t variable_begin = 1, variable_end = 0;
  std::vector<std::unique_ptr<Cluster>> resident;
  std::vector<std::unique_ptr<Cluster>> spare;
  std::size_t turn = 0;         // of those that wait
  std::size_t number = 0;       // among the launch's
  std::uint32_t row_owner = 0;  // Shadow::row_owner()

  std::uint32_t random_below(std::uint32_t bound);
  /// A __shared__ variable of the kernel is used: from now on each block has its own.
  void use_variable(const SharedVariable& variable);
  [[nodiscard]] bool uses_variable(const SharedVariable& variable) const;
  Thread& current() { return (*block)[thread]; }
  Site& site(std::uint32_t pc, std::uint8_t flags, std::uint8_t bytes);
};

/// The worker of this thread of the host while it simulates; null otherwise. Why a fiber knows its
/// own: the thread-local variable costs a call each time. (The model initial-exec would not, but
/// beside the __shared__ variables a running program, Python, could not load it.)
extern thread_local Worker* host_worker;
inline Worker* worker() {
  const Fiber* fiber = this_fiber();
  return fiber != nullptr ? fiber->worker : host_worker;
}

// --- scheduling (scheduler.cc)
/// The current thread stops here, for a reason, until ready() is called for it.
void block_thread(State why, std::uint32_t detail = 0, std::uint32_t more = 0);
void make_ready(Block& block, int thread);
enum class Turn : std::uint8_t { next, last };
/// The same of lanes of a warp, of which the first runs first.
void make_lanes_ready(Block& block, int warp, std::uint32_t lanes, Turn turn);
/// Work that another thread may be waiting for has been done.
void note_progress();
/// Runs `happen` now, at the end of what can run, or at random, as the options say; always before
/// `block`'s cluster ends. Returns its serial.
std::uint64_t issue(Block& block, std::function<void()> happen);
/// Makes pending work of `block` with these serials happen now.
void finish_pending(Block& block, const std::function<bool(std::uint64_t serial)>& which);
/// Ends the launch: the current thread never runs on.
[[noreturn]] void abandon();

// --- barriers (barriers.cc)
/// A thread of `block` has returned: barriers no longer wait for it.
void thread_left_barrier(Block& block);
void thread_left_cluster(Block& block, const Thread& thread);
/// Joins the knowledge of these threads of a block, as a barrier of them does.
void join_threads(Block& block, const std::vector<std::uint16_t>& threads);

// --- warps (warps.cc)
/// Waits until all lanes of `mask` call this with the same `kind` and `pc`. The last to come runs
/// `complete`, which reads Warp::value of the lanes in its argument and writes Warp::result; then
/// all return their result. Reports lanes that call something else.
std::uint64_t gather_warp(std::uint32_t kind, std::uint32_t mask, std::uint64_t value,
                          std::uint32_t pc, WarpOperation complete);
/// A lane has returned: those that wait for it alone go on without.
void thread_left_warp(Block& block, int warp);

// --- time (ordering.cc)
/// Whether thread `number`, of which that is known, knows that `before` has been, to that reach.
[[nodiscard]] bool is_ordered(const Block& block, const Known& thread, int number, Epoch before,
                              Reach reach = Reach::seen);
void tick(Block& block, Thread& thread);
/// Adds what `thread` knows to `known`, as far as `reach`.
void add_known(Knowledge& known, const Block& block, int thread, Reach reach = Reach::seen);
/// The same, and moves its clock on.
void publish(Knowledge& known, Block& block, int thread, Reach reach = Reach::seen);
void learn(Block& block, int thread, const Knowledge& known, Reach reach = Reach::seen);
/// Learns what it may have in common with other threads.
void learn_shared(Block& block, int thread, const SharedKnowledge& known);
/// The same for an engine: it has done everything up to `clock`.
void publish_actor(Knowledge& known, const Block& block, int actor, std::uint32_t clock);
void learn_actor(Block& block, int thread, int actor, std::uint32_t clock);

// --- fences (strong.cc)
/// What the fences of these threads covered, a barrier of them makes known to all.
void join_fences(Block& block, const std::vector<std::uint16_t>& threads, std::uint32_t now);
/// A load or store of a volatile variable, which is a relaxed one of the system's scope.
void volatile_access(const void* address, std::uint32_t bytes, bool is_write, std::uint32_t pc);

// --- launches that overlap (grid_dependency.cc)
/// Whether the thread has waited for the kernel ahead, or comes after one that has.
[[nodiscard]] bool knows_grid_ahead(Block& observer, int thread);
/// For a launch that may overlap this one, which has been run.
[[nodiscard]] GridsAhead grids_ahead_of_next(const Launch& launch);

// --- accesses of memory (hooks.cc)
/// A load or store of the current thread: checked (checks.h), logged, counted. False: it must not
/// be carried out. `is_volatile`: strong, as atomics are, though it counts as what it is.
bool on_access(std::uint64_t address, std::uint32_t bytes, bool is_write, std::uint32_t pc,
               AccessOp op, bool is_volatile = false);
/// A struct or other range, in pieces of `each` bytes.
void on_range(const void* address, std::size_t bytes, std::uint32_t each, bool is_write,
              std::uint32_t pc);

// --- atomics (atomics.cc)
/// Replaces the number at `address` by what `op` makes of it and `value`, atomically; returns the
/// old one. Checks, orders and counts nothing.
std::uint64_t apply_atomic(Atomic op, Number type, int bytes, void* address, std::uint64_t value,
                           std::uint64_t compare = 0);
/// Whether that is another number than `old`.
bool changes_number(Atomic op, Number type, int bytes, std::uint64_t old, std::uint64_t value,
                    std::uint64_t compare);

// --- shared memory's addresses (shared_memory.cc)
[[nodiscard]] bool is_shared(const Block& block, std::uint64_t address);
/// The block of the running cluster whose shared memory holds the address, or null.
Block* owner_of_shared(std::uint64_t address);
/// Whether a variable belongs to another kernel: the linker put it behind one of this kernel's.
bool is_of_other_kernel(const SharedVariable& variable);
/// Whether the bytes lie in dynamic shared memory as launched, or in one variable of this kernel.
bool lies_in_shared(const Block& block, std::uint64_t address, std::uint64_t bytes);
std::uint32_t window_address(const Block& block, std::uint64_t address);
std::uint8_t* window_pointer(Block& block, std::uint32_t address);
/// "dynamic shared memory + 0x400", "transpose<0>::tile + 128"
std::string describe_shared(const Block& block, std::uint64_t address);

// --- requests (requests.cc)
/// Joins the logged accesses of a warp's lanes to requests and counts them.
void flush_warp(Block& block, int warp);
/// A range of global memory is read, written or both: its sectors are marked as touched, and what
/// L2 asks of DRAM for them is counted. How many lines of L2 they lie in.
std::uint64_t touch_global(std::uint64_t address, std::uint64_t bytes, bool is_read, bool is_write);

// --- how long shared memory lasts (remote_access.cc)
/// A thread is about to access shared memory of `owner`, another block.
void note_remote_access(const AccessCheck& access, Block& owner, std::uint64_t address);
/// The current thread issues a copy, by that engine of `to`, from its own shared memory.
void note_copy_source(const Block& to, int agent, std::uint32_t clock, std::uint32_t address,
                      std::uint32_t pc);
/// The block has ended: its shared memory is gone, so that accesses of others must come before.
void end_remote_accesses(Block& block);

// --- findings (findings.cc)
void report(FindingKind kind, std::uint32_t pc, std::uint32_t other_pc, std::string text);
/// Why the threads of a cluster do not end (stop_report.cc).
void report_stop(Cluster& cluster, bool is_livelock);
[[nodiscard]] bool is_new_finding(FindingKind kind, std::uint32_t pc, std::uint32_t other_pc);
/// "block (1,0,0) thread 5", "TMA load of mbarrier 3", …
std::string describe_actor(const Block& block, int actor);
std::string describe_block(const Block& block);
std::string describe_here();  // the current block and thread

}  // namespace rooftile::sim

/// The return address of the runtime's function that a kernel called.
#define ROOFTILE_SIM_PC \
  static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(__builtin_return_address(0)))
