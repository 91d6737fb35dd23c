// SPDX-License-Identifier: Apache-2.0
// What all asynchronous copies have in common: an engine that accesses memory for the thread that
// issued the copy, bounds, and what shared memory holds until a copy lands.
#pragma once

#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {

/// Who copies, to the race detector.
struct CopyActor {
  Block* block;
  int actor;
  std::uint32_t clock;
  std::uint32_t pc;
};

/// Reports what is wrong with an operand, and ends the launch as the GPU would.
[[noreturn]] void refuse_operand(FindingKind kind, const char* what, const std::string& text,
                                 std::uint32_t pc);

/// `bytes` at `address` of the block's window must lie in its dynamic shared memory or in one
/// variable.
void require_shared(Block& owner, std::uint32_t address, std::uint32_t bytes, const char* what,
                    std::uint32_t pc);
/// `bytes` of global memory must lie in one allocation.
void require_global(std::uint64_t address, std::uint64_t bytes, bool is_write, const char* what,
                    std::uint32_t pc);
void require_aligned(std::uint64_t address, std::uint32_t alignment, const char* what,
                     const char* operand, std::uint32_t pc);

/// Of the current thread's knowledge; nothing when the launch is not checked. `is_generic`: the
/// access needs no proxy fence after ordinary stores.
void check_shared(const CopyActor& actor, Block& owner, std::uint32_t address, std::uint32_t bytes,
                  bool is_write, bool is_atomic = false, bool is_generic = false);
void check_global(const CopyActor& actor, std::uint64_t address, std::uint64_t bytes, bool is_write,
                  bool is_atomic = false, bool is_generic = false);

/// The blocks of the running cluster whose bits are set; ends the launch for bits of blocks that it
/// lacks or that have ended.
std::vector<Block*> blocks_of_mask(std::uint16_t mask, const char* what, std::uint32_t pc);

/// Sectors that the launch touched; and of one request of an engine, those read from L2 too.
void touch_sectors(std::uint64_t address, std::uint64_t bytes, bool is_write);
void count_sectors(std::uint64_t address, std::uint64_t bytes, bool is_write);

/// Whether copies land later than they are issued, so that what they will overwrite is a pattern.
bool is_deferred();
void poison(Block& owner, std::uint32_t address, std::uint32_t bytes);

}  // namespace rooftile::sim
