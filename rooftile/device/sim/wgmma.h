// SPDX-License-Identifier: Apache-2.0
// What a block keeps of its wgmma instructions. An instruction is issued when all 128 threads of
// its warpgroup have executed it, and happens any time before the last of them has waited for it.
// Until then its accumulators are here and the threads' registers hold a NaN.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rooftile/device/sim/matrix_unit.h"
#include "rooftile/device/sim/register_watch.h"
#include "rooftile/device/sim/wgmma_operand.h"
#include "rooftile/tile/sim/matrix.h"

namespace rooftile::sim {

constexpr int kWarpgroupThreads = 128;
constexpr int kWgmmaRows = 64;
constexpr std::uint32_t kInFlightPattern = 0xffffffff;  // a NaN of every floating-point type

/// The array d of each thread of a warpgroup, as a matrix of 64 x n.
struct Accumulators {
  std::array<std::uint8_t*, kWarpgroupThreads> registers{};
  MatrixDtype type{};
  int n = 0;
  std::vector<MatrixValue> values{};
  [[nodiscard]] int count() const { return n / 2; }  // elements of a thread
  [[nodiscard]] std::uint32_t bytes() const {
    return static_cast<std::uint32_t>(type == MatrixDtype::fp16 ? n : 2 * n);
  }
};

struct WgmmaOperation {
  WgmmaForm form;
  std::uint64_t a, b;
  bool accumulate;
  bool is_a_shared;
  std::uint32_t pc;
  std::uint32_t group;  // how many were committed before it
  std::uint64_t serial = 0;
  int accumulators = -1;
  int arrived = 0;  // threads that executed it
  int waited = 0;   // threads that waited for it
  bool has_happened = false;
  std::vector<std::uint32_t> a_registers{};       // 4 of each thread
  std::vector<SharedRun> a_runs{}, b_runs{};      // what it reads
  std::array<std::uint32_t, 5> a_runs_of_warp{};  // [w], [w + 1]: those of warp w

  [[nodiscard]] WgmmaOperand operand_a() const {
    return {a, form.major_a, form.a, kWgmmaRows, form.k, form.scale_a};
  }
  [[nodiscard]] WgmmaOperand operand_b() const {
    return {b, form.major_b, form.b, form.n, form.k, form.scale_b};
  }
};

struct Warpgroup {
  Block* block = nullptr;
  int number = 0;                           // in the block
  std::deque<WgmmaOperation> operations{};  // the first has number first_operation
  std::uint64_t first_operation = 0;
  std::array<std::uint64_t, kWarpgroupThreads> issued{};  // operations, by thread
  std::array<std::uint64_t, kWarpgroupThreads> waited{};  // operations
  std::array<std::uint32_t, kWarpgroupThreads> committed{};
  std::vector<Accumulators> accumulators{};
  std::array<RegisterWatch, kWarpgroupThreads> watches{};
  std::vector<int> waiting{};  // threads of the block

  [[nodiscard]] int actor() const { return kFirstWarpgroupAgent + number; }
  WgmmaOperation& operation(std::uint64_t n) {
    return operations[static_cast<std::size_t>(n - first_operation)];
  }
};

struct WgmmaEngine {
  std::array<std::unique_ptr<Warpgroup>, kWarpgroupAgents> groups;
};

/// The warpgroup of a thread, made at first use.
Warpgroup& warpgroup_of(Block& block, int thread);

// --- wgmma_checks.cc: each reports what it finds
/// The same instruction as the first thread's? False where it cannot be joined.
bool check_uniform(const Warpgroup& group, const WgmmaOperation& first, const WgmmaOperation& mine,
                   int thread);
void check_descriptors(const WgmmaOperation& operation);
/// What warp `warp` of the warpgroup reads, with the knowledge of `thread`.
void check_reads(Warpgroup& group, WgmmaOperation& operation, int thread);
/// Registers that the thread touched without a fence, or that are in flight otherwise.
void check_registers(Warpgroup& group, const WgmmaOperation& operation, int thread, const void* d,
                     const std::uint32_t* a);

// --- wgmma_registers.cc
/// Takes d of `thread` into the accumulators, unless they are there already, and poisons it.
void take_registers(Warpgroup& group, WgmmaOperation& operation, int thread, void* d);
/// Gives back what is in flight of the groups before `groups`.
void give_registers(Warpgroup& group, int thread, std::uint32_t groups);

// --- wgmma_happen.cc
/// Computes the operations up to `last`, in order.
void happen_until(Warpgroup& group, std::uint64_t last);

/// When the block has ended: what was not waited for.
void end_wgmma(WgmmaEngine& engine);
/// In a deadlock: what some threads of a warpgroup never came to.
void stop_wgmma(WgmmaEngine& engine);

}  // namespace rooftile::sim
