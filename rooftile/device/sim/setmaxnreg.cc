// SPDX-License-Identifier: Apache-2.0
// setmaxnreg: nothing here runs short of registers, so what is checked is that a GPU would not.
// Source: PTX ISA, "setmaxnreg".
#include <algorithm>
#include <string>

#include "rooftile/device/sim/engines.h"
#include "rooftile/device/sim/register_pool.h"
#include "rooftile/tile/sim/matrix.h"

namespace rooftile::sim {
namespace {

constexpr std::uint32_t kSetMaxRegisters = 0x3000;
constexpr int kRegistersOfBlock = 65536;
constexpr int kMostRegisters = 255;
constexpr int kGranularity = 8;
constexpr int kWarpsOfGroup = 4;

/// What a thread can have at launch when all of the block's are given out. The compiler may take
/// less: then less can be asked for.
int registers_at_launch(const Block& block) {
  const int even = kRegistersOfBlock / (block.warp_count() * kLanes) / kGranularity * kGranularity;
  return std::min(even, (kMostRegisters + 1));
}

void report_once(const Block& block, std::uint32_t pc, const std::string& text) {
  if (is_new_finding(FindingKind::bad_operand, pc, 0))
    report(FindingKind::bad_operand, pc, 0, describe_block(block) + ": " + text);
}

}  // namespace

void set_max_registers(bool increase, int count) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  Block& block = *worker()->block;
  const auto warp = static_cast<std::size_t>(worker()->thread / kLanes);
  const std::uint32_t kind = kSetMaxRegisters + static_cast<std::uint32_t>(2 * count) +
                             static_cast<std::uint32_t>(increase);
  gather_warp(kind, 0xffffffff, 0, pc, [&](Warp&, std::uint32_t) {
    RegisterPool& pool = engines_of(block).register_pool;
    const int before = pool.per_thread[warp];
    if (before != 0 && (increase ? count < before : count > before))
      report_once(block, pc,
                  std::string("setmaxnreg.") + (increase ? "inc" : "dec") + " to " +
                      std::to_string(count) + " in a warp that has " + std::to_string(before));
    pool.per_thread[warp] = count;
    pool.pc[warp] = pc;
  });
}

void end_register_pool(const Block& block, const RegisterPool& pool) {
  const int launched = registers_at_launch(block);
  int total = 0;
  std::uint32_t pc = 0;
  for (int warp = 0; warp < block.warp_count(); ++warp) {
    const auto at = static_cast<std::size_t>(warp);
    const auto first = at / kWarpsOfGroup * kWarpsOfGroup;
    total += kLanes * (pool.per_thread[at] != 0 ? pool.per_thread[at] : launched);
    pc = std::max(pc, pool.pc[at]);
    if (pool.per_thread[at] != pool.per_thread[first])
      report_once(block, std::max(pool.pc[at], pool.pc[first]),
                  "setmaxnreg differs between the warps " + std::to_string(first) + " and " +
                      std::to_string(warp) + " of one warpgroup");
  }
  const int most = launched * kLanes * block.warp_count();
  if (pc != 0 && total > most)
    report_once(block, pc,
                "setmaxnreg asks for " + std::to_string(total) + " registers of a block that has " +
                    std::to_string(most) + ": setmaxnreg.inc would wait for ever");
}

}  // namespace rooftile::sim
