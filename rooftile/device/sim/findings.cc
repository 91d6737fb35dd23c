// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "rooftile/device/sim/machine.h"

namespace rooftile {

std::string_view name(FindingKind kind) {
  static constexpr std::array<std::string_view, kFindingKinds> kNames{
      "race",        "uninitialised", "out of bounds", "misaligned",    "deadlock",
      "livelock",    "divergence",    "missing wait",  "missing fence", "barrier misuse",
      "bad operand", "registers",     "trap",          "unsupported"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace sim {

bool FindingList::is_new(const Place& place, std::uint32_t block) {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(place);
  if (found == entries_.end() || block < found->second.block) return true;
  ++found->second.finding.count;
  return false;
}

void FindingList::add(const Place& place, std::uint32_t block, std::string text) {
  const std::scoped_lock lock(mutex_);
  const auto [at, is_first] = entries_.try_emplace(place);
  Entry& entry = at->second;
  if (!is_first && entry.block <= block) return;
  const std::uint64_t before = is_first ? 0 : entry.finding.count;
  entry = {{std::get<FindingKind>(place), std::move(text), before + 1}, block, next_order_++};
}

std::vector<Finding> FindingList::take() {
  const std::scoped_lock lock(mutex_);
  std::vector<Entry> entries;
  for (auto& [place, entry] : entries_) entries.push_back(std::move(entry));
  entries_.clear();
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.block, a.order) < std::tie(b.block, b.order);
  });
  std::vector<Finding> findings;
  for (Entry& entry : entries) findings.push_back(std::move(entry.finding));
  return findings;
}

namespace {

/// The block that runs; where none does (a launch that ends), any comes before it.
std::uint32_t running_block() { return worker()->block != nullptr ? worker()->block->number : ~0u; }

}  // namespace

bool is_new_finding(FindingKind kind, std::uint32_t pc, std::uint32_t other_pc) {
  return worker()->launch.findings.is_new({kind, pc, other_pc}, running_block());
}

void report(FindingKind kind, std::uint32_t pc, std::uint32_t other_pc, std::string text) {
  if (!is_new_finding(kind, pc, other_pc)) return;
  if (pc != 0) text = source_line(pc) + ": " + text;
  worker()->launch.findings.add({kind, pc, other_pc}, running_block(), std::move(text));
}

std::string describe_block(const Block& block) {
  return "block (" + std::to_string(block.index.x) + "," + std::to_string(block.index.y) + "," +
         std::to_string(block.index.z) + ")";
}

std::string describe_actor(const Block& block, int actor) {
  const std::string where = describe_block(block) + " ";
  if (actor < kMaxThreads) return where + "thread " + std::to_string(actor);
  if (actor < kFirstWarpgroupAgent)
    return where + "asynchronous copy of mbarrier " + std::to_string(actor - kFirstMbarrierAgent);
  if (actor < kFirstStoreAgent)
    return where + "wgmma of warpgroup " + std::to_string(actor - kFirstWarpgroupAgent);
  if (actor < kFirstCopyAgent)
    return where + "asynchronous store of warp " +
           std::to_string((actor - kFirstStoreAgent) % kWarps);
  return where + "cp.async of warp " + std::to_string(actor - kFirstCopyAgent);
}

std::string describe_here() { return describe_actor(*worker()->block, worker()->thread); }

void trap(const char* why) {
  report(FindingKind::trap, ROOFTILE_SIM_PC, 0, describe_here() + ": " + why);
  abandon();
}

void unsupported(const char* feature) {
  report(FindingKind::unsupported, ROOFTILE_SIM_PC, 0,
         std::string("the simulator does not model ") + feature);
  abandon();
}

}  // namespace sim
}  // namespace rooftile
