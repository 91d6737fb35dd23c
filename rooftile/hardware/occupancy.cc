// SPDX-License-Identifier: Apache-2.0
#include "rooftile/hardware/occupancy.h"

#include <algorithm>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

constexpr OccupancyFactor kFactors[kOccupancyFactors] = {
    OccupancyFactor::warps,  OccupancyFactor::registers, OccupancyFactor::shared_memory,
    OccupancyFactor::blocks, OccupancyFactor::barriers,  OccupancyFactor::virtual_resources,
};

constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

int warps_per_block(const BlockNeeds& needs) {
  return (needs.threads_per_block + kWarpLanes - 1) / kWarpLanes;
}

int registers_per_warp(const BlockNeeds& needs) {
  return static_cast<int>(
      round_up(std::int64_t{kWarpLanes} * needs.registers_per_thread, kRegisterUnitPerWarp));
}

// Why rounded: warps are dealt to the partitions in turn, so that the fullest holds this share.
std::int64_t registers_per_block(const BlockNeeds& needs) {
  return registers_per_warp(needs) * round_up(warps_per_block(needs), kPartitionsPerSm);
}

std::int64_t shared_bytes_asked(const BlockNeeds& needs) {
  return needs.static_shared_bytes + needs.dynamic_shared_bytes;
}

void check_range(std::string_view what, std::int64_t given, std::int64_t least, std::int64_t most) {
  if (given >= least && given <= most) return;
  fail_input(std::string(what) + " is " + std::to_string(given) + "; allowed are " +
             std::to_string(least) + " to " + std::to_string(most));
}

void check_needs(const BlockNeeds& needs) {
  constexpr std::int64_t kAnyBytes = std::int64_t{1} << 40;  // keeps the sums below exact
  check_range("threads_per_block", needs.threads_per_block, 1, kMaxThreadsPerBlock);
  check_range("registers_per_thread", needs.registers_per_thread, 1, kMaxRegistersPerThread);
  check_range("static_shared_bytes", needs.static_shared_bytes, 0, kAnyBytes);
  check_range("dynamic_shared_bytes", needs.dynamic_shared_bytes, 0, kAnyBytes);
  check_range("barriers_per_block", needs.barriers_per_block, 0, kMaxBarriersPerBlock);
  check_range("virtual_resources_per_block", needs.virtual_resources_per_block, 0, 1 << 20);
  if (needs.carveout_bytes) check_range("carveout_bytes", *needs.carveout_bytes, 0, kAnyBytes);
}

int register_limit(const BlockNeeds& needs) {
  const int warps_per_partition = kRegistersPerSm / kPartitionsPerSm / registers_per_warp(needs);
  return kPartitionsPerSm * warps_per_partition / warps_per_block(needs);
}

// The carve-out that the driver sets: the smallest step that holds what was asked for.
std::int64_t carveout_bytes(const SmLimits& sm, std::int64_t asked) {
  for (const std::int64_t step : sm.carveouts_bytes)
    if (step >= asked) return step;
  return sm.shared_bytes;
}

int shared_limit(const SmLimits& sm, const BlockNeeds& needs) {
  const std::int64_t block =
      round_up(shared_bytes_asked(needs) + kReservedSharedBytes, kSharedUnitBytes);
  if (block > sm.max_block_shared_bytes + kReservedSharedBytes) return 0;
  // Why the maximum: a preference too small for one block is raised until the block fits.
  const std::int64_t asked = std::max(needs.carveout_bytes.value_or(sm.shared_bytes), block);
  return static_cast<int>(carveout_bytes(sm, asked) / block);
}

std::optional<int> share(int available, int used) {
  if (available == 0 || used == 0) return std::nullopt;
  return available / used;
}

std::optional<int> limit_of(OccupancyFactor factor, const SmLimits& sm, const BlockNeeds& needs) {
  switch (factor) {
    case OccupancyFactor::warps:
      return sm.max_warps / warps_per_block(needs);
    case OccupancyFactor::registers:
      return register_limit(needs);
    case OccupancyFactor::shared_memory:
      return shared_limit(sm, needs);
    case OccupancyFactor::blocks:
      return sm.max_blocks;
    case OccupancyFactor::barriers:
      return share(sm.barriers, needs.barriers_per_block);
    case OccupancyFactor::virtual_resources:
      return share(sm.virtual_resources, needs.virtual_resources_per_block);
  }
  throw Error(ErrorCode::internal, "no such occupancy factor");
}

// "65 registers a thread, 73728 a block of 65536"
std::string use_text(OccupancyFactor factor, const SmLimits& sm, const BlockNeeds& needs) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  switch (factor) {
    case OccupancyFactor::warps:
      return "a block has " + number(warps_per_block(needs)) + " of " + number(sm.max_warps) +
             " warps";
    case OccupancyFactor::registers:
      return number(needs.registers_per_thread) + " registers a thread are " +
             number(registers_per_block(needs)) + " a block, of " + number(kRegistersPerSm);
    case OccupancyFactor::shared_memory:
      return "a block asks for " + number(shared_bytes_asked(needs)) +
             " bytes of shared memory; allowed are " + number(sm.max_block_shared_bytes) +
             " a block, of " + number(sm.shared_bytes) + " an SM, less " +
             number(kReservedSharedBytes) + " reserved in each block";
    case OccupancyFactor::blocks:
      return "an SM holds at most " + number(sm.max_blocks) + " blocks";
    case OccupancyFactor::barriers:
      return "a block uses " + number(needs.barriers_per_block) + " of " + number(sm.barriers) +
             " barriers";
    case OccupancyFactor::virtual_resources:
      return "a block uses " + number(needs.virtual_resources_per_block) + " of " +
             number(sm.virtual_resources) + " virtual resources";
  }
  throw Error(ErrorCode::internal, "no such occupancy factor");
}

}  // namespace

std::string_view name(OccupancyFactor factor) {
  constexpr std::string_view kNames[kOccupancyFactors] = {
      "warps", "registers", "shared memory", "blocks", "barriers", "virtual resources"};
  return kNames[static_cast<std::size_t>(factor)];
}

std::vector<OccupancyFactor> Occupancy::binding_factors() const {
  std::vector<OccupancyFactor> binding;
  for (const OccupancyFactor factor : kFactors)
    if (binds(factor)) binding.push_back(factor);
  return binding;
}

std::string Occupancy::why() const {
  const SmLimits& sm = sm_limits(capability);
  std::vector<std::string> names;
  std::vector<std::string> uses;
  for (const OccupancyFactor factor : binding_factors()) {
    names.emplace_back(name(factor));
    uses.push_back(use_text(factor, sm, needs));
  }
  const std::string held =
      blocks_per_sm == 0
          ? "no block fits"
          : std::to_string(blocks_per_sm) + (blocks_per_sm == 1 ? " block" : " blocks") +
                " an SM, " + std::to_string(warps_per_sm) + " of " +
                std::to_string(max_warps_per_sm) + " warps (" + figures(100 * fraction) + " %)";
  return held + ", limited by " + join(names, " and ") + ": " + join(uses, "; ");
}

Occupancy occupancy(ComputeCapability capability, const BlockNeeds& needs) {
  const SmLimits& sm = sm_limits(capability);
  check_needs(needs);
  Occupancy result{.capability = capability, .needs = needs, .max_warps_per_sm = sm.max_warps};
  int blocks = sm.max_blocks;
  for (const OccupancyFactor factor : kFactors) {
    const std::optional<int> limit = limit_of(factor, sm, needs);
    result.limit_blocks[static_cast<std::size_t>(factor)] = limit;
    blocks = std::min(blocks, limit.value_or(blocks));
  }
  result.blocks_per_sm = blocks;
  result.warps_per_sm = blocks * warps_per_block(needs);
  result.fraction = static_cast<double>(result.warps_per_sm) / sm.max_warps;
  return result;
}

}  // namespace rooftile
