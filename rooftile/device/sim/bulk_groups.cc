// SPDX-License-Identifier: Apache-2.0
// Source: PTX ISA, "cp.async.bulk.commit_group", "cp.async.bulk.wait_group".
#include "rooftile/device/sim/bulk_groups.h"

#include <algorithm>

#include "rooftile/device/sim/engines.h"
#include "rooftile/tile/sim/async.h"

namespace rooftile::sim {
namespace {

BulkGroups::OfThread& current_groups() {
  return bulk_groups_of(*worker()->block).threads[static_cast<std::size_t>(worker()->thread)];
}

int reader_of(int thread) { return kFirstStoreAgent + thread / kLanes; }
int writer_of(int thread) { return reader_of(thread) + kWarps; }

void wait_for(const BulkGroups::Group& group, bool reads) {
  Block& block = *worker()->block;
  for (const BulkCopy& copy : group.copies) {
    finish_pending(block, [&](std::uint64_t serial) { return serial == copy.serial; });
    learn_actor(block, worker()->thread, reader_of(worker()->thread), copy.clock);
    if (!reads) learn_actor(block, worker()->thread, writer_of(worker()->thread), copy.clock);
  }
}

}  // namespace

BulkGroups& bulk_groups_of(Block& block) {
  std::unique_ptr<BulkGroups>& groups = engines_of(block).bulk_groups;
  if (groups == nullptr) groups = std::make_unique<BulkGroups>();
  return *groups;
}

BulkActors next_bulk_copy(std::uint32_t pc) {
  Block& block = *worker()->block;
  const int thread = worker()->thread;
  const std::uint32_t clock =
      ++bulk_groups_of(block).clock[static_cast<std::size_t>(thread / kLanes)];
  return {{&block, reader_of(thread), clock, pc}, {&block, writer_of(thread), clock, pc}};
}

void issue_bulk(const BulkActors& actors, std::function<void()> happen) {
  const std::uint64_t serial = issue(*actors.reader.block, std::move(happen));
  current_groups().open.push_back({serial, actors.reader.clock, actors.reader.pc});
}

void bulk_commit() {
  BulkGroups::OfThread& groups = current_groups();
  groups.committed.push_back({std::move(groups.open), false});
  groups.open.clear();
}

void bulk_wait(std::uint32_t pending, bool reads) {
  std::vector<BulkGroups::Group>& committed = current_groups().committed;
  if (committed.size() <= pending) return;
  const auto end = committed.end() - static_cast<std::ptrdiff_t>(pending);
  for (auto group = committed.begin(); group != end; ++group) {
    if (!(reads && group->is_read)) wait_for(*group, reads);
    group->is_read = true;
  }
  if (!reads) committed.erase(committed.begin(), end);
}

void end_bulk_groups(Block& block) {
  const auto complain = [&](const BulkCopy& copy) {
    if (is_new_finding(FindingKind::missing_wait, copy.pc, 0))
      report(FindingKind::missing_wait, copy.pc, 0,
             describe_block(block) +
                 ": a bulk copy out of shared memory was issued, and the block"
                 " ended without a wait until it has read its source");
  };
  for (const BulkGroups::OfThread& thread : bulk_groups_of(block).threads) {
    for (const BulkCopy& copy : thread.open) complain(copy);
    for (const BulkGroups::Group& group : thread.committed)
      if (!group.is_read) std::for_each(group.copies.begin(), group.copies.end(), complain);
  }
}

}  // namespace rooftile::sim
