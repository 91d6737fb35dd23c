// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a wgmma when a thread executes it.
#include <array>
#include <cstdio>
#include <optional>

#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/wgmma.h"

namespace rooftile::sim {
namespace {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

bool is_same_form(const WgmmaForm& x, const WgmmaForm& y) {
  return x.a == y.a && x.b == y.b && x.d == y.d && x.n == y.n && x.major_a == y.major_a &&
         x.major_b == y.major_b && x.scale_a == y.scale_a && x.scale_b == y.scale_b;
}

void check_operand(const WgmmaOperand& operand, const char* name, std::uint32_t pc) {
  FindingKind kind{};
  const std::string problem = problem_of(operand, kind);
  if (!problem.empty() && is_new_finding(kind, pc, 0))
    report(kind, pc, 0,
           describe_here() + ": descriptor " + name + " " + hexadecimal(operand.descriptor) + ": " +
               problem);
}

void check_runs(Warpgroup& group, const WgmmaOperation& operation, int thread,
                const SharedRun* first, const SharedRun* end) {
  Block& block = *group.block;
  const AccessCheck access{.observer = &block,
                           .thread = thread,
                           .actor = group.actor(),
                           .clock = operation.group + 1,
                           .is_async_proxy = true,
                           .pc = operation.pc};
  std::optional<Check> check;
  for (const SharedRun* run = first; run != end; ++run) {
    const std::uint8_t* const bytes = shared_bytes(block, run->address, run->bytes);
    if (bytes != nullptr) {
      if (!worker()->launch.options.check) continue;
      if (!check) check.emplace(access, &block);
      check_access(*check, reinterpret_cast<std::uint64_t>(bytes), run->bytes);
    } else if (is_new_finding(FindingKind::out_of_bounds, operation.pc, 0)) {
      report(FindingKind::out_of_bounds, operation.pc, 0,
             describe_here() + ": wgmma reads " + std::to_string(run->bytes) +
                 " bytes at shared address " + hexadecimal(run->address) +
                 ", outside of the block's shared memory (dynamic: " +
                 std::to_string(block.worker.launch.shape.dynamic_shared_bytes) + " bytes from " +
                 hexadecimal(kReservedShared) + ")");
    }
  }
}

/// Warp w reads the rows 16w to 16w + 15 of A.
void find_runs(WgmmaOperation& operation) {
  if (!operation.b_runs.empty()) return;
  const WgmmaOperand b = operation.operand_b();
  operation.b_runs = runs_of(b, 0, b.lines(), 0, b.chunks());
  if (!operation.is_a_shared) return;
  const WgmmaOperand a = operation.operand_a();
  for (int warp = 0; warp < 4; ++warp) {
    const std::vector<SharedRun> runs = a.major == Major::k
                                            ? runs_of(a, 16 * warp, 16 * warp + 16, 0, 2)
                                            : runs_of(a, 0, a.k, 2 * warp, 2 * warp + 2);
    operation.a_runs.insert(operation.a_runs.end(), runs.begin(), runs.end());
    operation.a_runs_of_warp[static_cast<std::size_t>(warp) + 1] =
        static_cast<std::uint32_t>(operation.a_runs.size());
  }
}

}  // namespace

bool check_uniform(const Warpgroup& group, const WgmmaOperation& first, const WgmmaOperation& mine,
                   int thread) {
  const auto who = [&] { return describe_actor(*group.block, thread); };
  if (first.is_a_shared != mine.is_a_shared || !is_same_form(first.form, mine.form)) {
    if (is_new_finding(FindingKind::divergence, mine.pc, first.pc))
      report(FindingKind::divergence, mine.pc, first.pc,
             who() + ": other threads of warpgroup " + std::to_string(group.number) +
                 " execute another wgmma, at " + source_line(first.pc));
    return false;
  }
  std::string what;
  if (first.a != mine.a)
    what = "descriptor A is " + hexadecimal(mine.a) + ", not " + hexadecimal(first.a);
  else if (first.b != mine.b)
    what = "descriptor B is " + hexadecimal(mine.b) + ", not " + hexadecimal(first.b);
  else if (first.accumulate != mine.accumulate)
    what = std::string("scale-d is ") + (mine.accumulate ? "1, not 0" : "0, not 1");
  else if (first.group != mine.group)
    what = std::to_string(mine.group) + " groups are committed, not " + std::to_string(first.group);
  if (!what.empty() && is_new_finding(FindingKind::bad_operand, mine.pc, first.pc))
    report(FindingKind::bad_operand, mine.pc, first.pc,
           who() + ": wgmma's operands differ within warpgroup " + std::to_string(group.number) +
               ": " + what);
  return true;
}

void check_descriptors(const WgmmaOperation& operation) {
  if (operation.is_a_shared) check_operand(operation.operand_a(), "A", operation.pc);
  check_operand(operation.operand_b(), "B", operation.pc);
}

void check_reads(Warpgroup& group, WgmmaOperation& operation, int thread) {
  find_runs(operation);
  const auto warp = static_cast<std::size_t>(thread % kWarpgroupThreads / kLanes);
  const SharedRun* const a = operation.a_runs.data();
  check_runs(group, operation, thread, a + operation.a_runs_of_warp[warp],
             a + operation.a_runs_of_warp[warp + 1]);
  check_runs(group, operation, thread, operation.b_runs.data(),
             operation.b_runs.data() + operation.b_runs.size());
}

void check_registers(Warpgroup& group, const WgmmaOperation& operation, int thread, const void* d,
                     const std::uint32_t* a) {
  RegisterWatch& watch = group.watches[static_cast<std::size_t>(thread % kWarpgroupThreads)];
  const std::uint32_t pc = operation.pc;
  if (!watch.has_fenced && is_new_finding(FindingKind::registers, pc, 0))
    report(FindingKind::registers, pc, 0,
           describe_here() + ": no wgmma.fence before the first wgmma");
  const auto begin = reinterpret_cast<std::uint64_t>(d);
  const std::uint64_t end =
      begin + static_cast<std::uint64_t>(operation.form.n *
                                         (operation.form.d == MatrixDtype::fp16 ? 1 : 2));
  const auto a_begin = reinterpret_cast<std::uint64_t>(a);
  const std::uint32_t touched_d = watch.touched(begin, end, false);
  const std::uint32_t touched_a = a == nullptr ? 0 : watch.touched(a_begin, a_begin + 16, true);
  const std::uint32_t touched = touched_d != 0 ? touched_d : touched_a;
  if (touched != 0 && is_new_finding(FindingKind::registers, pc, touched))
    report(FindingKind::registers, pc, touched,
           describe_here() + ": registers of this wgmma's " +
               (touched_d != 0 ? "accumulators" : "operand A") + " were accessed at " +
               source_line(touched) + " since the last wgmma.fence");
  const RegisterArray* const other = a == nullptr ? nullptr : watch.find(a_begin, a_begin + 16);
  if (other != nullptr && other->accumulators >= 0 &&
      is_new_finding(FindingKind::registers, pc, other->pc))
    report(FindingKind::registers, pc, other->pc,
           describe_here() + ": operand A are accumulators of the wgmma at " +
               source_line(other->pc) + ", which is in flight");
}

}  // namespace rooftile::sim
