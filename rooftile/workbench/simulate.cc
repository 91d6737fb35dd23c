// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/simulate.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/text.h"
#include "rooftile/hardware/gpu.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/proof.h"
#include "rooftile/workbench/verify.h"
#include "rooftile/workbench/workload.h"

namespace rooftile {
namespace {

constexpr int kAssumedRegisters = 32;  // few enough to limit nothing
constexpr double kSectorBytes = 32;
// Larger references are checked by some rows only.
constexpr double kSlowReferenceOps = 5e8;

/// The type of the matrix operations in a cost: the one with the most of them.
Unit tensor_unit_of(const Cost& cost) {
  Unit most = Unit::bf16;
  for (const Unit unit : {Unit::tf32, Unit::fp16, Unit::fp8, Unit::int8})
    if (cost[unit] > cost[most]) most = unit;
  return most;
}

Arithmetic arithmetic_of(Unit unit) {
  switch (unit) {
    case Unit::tf32:
      return kTensorTf32;
    case Unit::fp16:
      return kTensorFp16;
    case Unit::fp8:
      return kTensorFp8;
    case Unit::int8:
      return kTensorInt8;
    default:
      return kTensorBf16;
  }
}

LineRecord line_record(const SimLine& line) {
  const bool is_global = line.space == MemorySpace::global;
  LineRecord record;
  record.place = line.place;
  record.access = std::string(is_global ? "global " : "shared ") +
                  (line.op == AccessOp::load    ? "load"
                   : line.op == AccessOp::store ? "store"
                                                : "atomic") +
                  " of " + std::to_string(line.bytes_per_lane) +
                  (line.bytes_per_lane == 1 ? " byte" : " bytes");
  const auto add = [&](const char* name, std::uint64_t count) {
    record.counts.emplace_back(name, static_cast<double>(count));
  };
  add("requests", line.requests);
  add("lanes", line.lanes);
  if (is_global) {
    add("sectors", line.sectors);
  } else {
    add("wavefronts", line.wavefronts);
    add("conflicts", line.conflicts);
  }
  record.remark = remark_on(line);
  return record;
}

LaunchRecord launch_record(const SimLaunch& launch, const Gpu& gpu, Unit tensor_unit) {
  const std::optional<KernelResources> resources = resources_of(launch);
  const Occupancy fits = occupancy_of(launch, gpu, resources);
  LaunchRecord record;
  record.kernel = launch.kernel;
  record.shape = description(launch.shape);
  if (resources) record.registers = resources->registers;
  record.blocks_per_sm = fits.blocks_per_sm;
  record.occupancy = resources ? fits.why()
                               : fits.why() +
                                     " Registers are unknown: nvcc did not compile this "
                                     "kernel, so occupancy may be lower.";
  for (const SimCounterInfo& info : sim_counters())
    if (launch.counters[info.counter] != 0)
      record.counters.emplace_back(info.name, static_cast<double>(launch.counters[info.counter]));
  record.simulated_s = launch.seconds;
  for (const SimLine& line : launch.lines) record.lines.push_back(line_record(line));
  if (launch.counters[SimCounter::blocks] == 0) return record;
  const Prediction predicted =
      predict(work_of(launch.counters, fits, gpu, tensor_unit), prediction_model(gpu));
  record.predicted_us = predicted.total_us;
  for (int i = 0; i < kTimeTerms; ++i)
    record.terms_us.emplace_back(name(static_cast<TimeTerm>(i)),
                                 predicted[static_cast<TimeTerm>(i)]);
  record.binds = name(predicted.binds);
  record.why = predicted.why;
  return record;
}

/// One checked run; the fault, empty when right.
std::string run_once(const OpDef& op, Workload& workload, const Plan& plan, SimDevice& device,
                     Record& record) {
  const Workspace workspace(plan, device, workload.stream());
  workload.set_inputs(workload.problem().seed);
  device.flush_caches(workload.stream());
  (void)device.take_launches();
  workload.run(plan, workspace.data());
  std::string fault;
  const double ops = op.cost(workload.problem(), &workload.inputs()).total_ops();
  if (ops <= kSlowReferenceOps || !check_some_rows(op, workload, Policy::derived, record, fault))
    fault = check_outputs(op, workload, Policy::derived, record);
  if (fault.empty()) fault = workload.memory_fault();
  return fault.empty() ? workspace.fault() : fault;
}

}  // namespace

std::optional<KernelResources> resources_of(const SimLaunch& launch) {
  if (launch.ptxas_report.empty()) return std::nullopt;
  const std::optional<std::string> report = read_file(launch.ptxas_report);
  return report ? resources_of(*report, launch.kernel) : std::nullopt;
}

Occupancy occupancy_of(const SimLaunch& launch, const Gpu& gpu,
                       const std::optional<KernelResources>& resources) {
  return occupancy(gpu.compute_capability.value(),
                   {.threads_per_block = static_cast<int>(launch.shape.block.count()),
                    .registers_per_thread = resources ? resources->registers : kAssumedRegisters,
                    .static_shared_bytes =
                        resources ? resources->static_shared_bytes : launch.static_shared_bytes,
                    .dynamic_shared_bytes = launch.shape.dynamic_shared_bytes});
}

KernelWork work_of(const SimCounters& counters, const Occupancy& occupancy, const Gpu& gpu,
                   Unit tensor_unit) {
  using enum SimCounter;
  const auto count = [&](SimCounter counter) { return static_cast<double>(counters[counter]); };
  KernelWork work;
  work.dram_read_bytes = count(l2_read_misses) * kSectorBytes;
  // Not dram_written_sectors, those that L2 must give up meanwhile: measured, a launch whose data
  // fits L2 takes as long as if all that it writes went to memory.
  work.dram_written_bytes = count(global_written_sectors_unique) * kSectorBytes;
  work.l2_sectors =
      count(l2_read_sectors) + count(global_store_sectors) +
      (count(tma_store_bytes) + count(tma_reduce_bytes) + count(cp_async_bytes)) / kSectorBytes;
  work.l2_requests = count(l2_requests);
  work.shared_wavefronts = count(shared_load_wavefronts) + count(shared_store_wavefronts);
  work.instructions = count(memory_instructions) + count(ldmatrix_requests) +
                      count(stmatrix_requests) + count(cp_async_requests) +
                      count(tma_instructions) + count(wgmma_instructions) +
                      count(mma_instructions) + count(warp_collectives) +
                      count(mbarrier_operations) + count(fences);
  const double multiply_adds = count(wgmma_multiply_adds) + count(mma_multiply_adds);
  const Arithmetic arithmetic = arithmetic_of(tensor_unit);
  const double clock_hz = prediction_model(gpu).clock_hz;
  if (const auto peak = peak_ops_per_s_at(gpu, arithmetic, clock_hz); multiply_adds > 0 && peak)
    work.tensor_seconds = 2 * multiply_adds / *peak;
  work.blocks = count(blocks);
  work.barriers = count(block_barriers);
  work.resident_blocks = std::max(1, occupancy.blocks_per_sm);
  work.waits_for_memory = count(l2_read_sectors) + count(cp_async_bytes) > 0;
  return work;
}

std::string each_text(double value) {
  return value == std::floor(value) ? std::to_string(static_cast<std::int64_t>(value))
                                    : figures(value);
}

std::string remark_on(const SimLine& line) {
  if (line.requests == 0) return "";
  const auto requests = static_cast<double>(line.requests);
  const double lanes = static_cast<double>(line.lanes) / requests;
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (line.conflicts > 0)
    add(each_text(static_cast<double>(line.wavefronts) / requests) +
        " wavefronts a request: bank conflicts");
  // What the lanes ask for would fill this many sectors; twice as many is waste.
  const double least = std::max(1.0, lanes * line.bytes_per_lane / kSectorBytes);
  if (const double sectors = static_cast<double>(line.sectors) / requests; sectors >= 2 * least)
    add(each_text(sectors) + " sectors a request, " + each_text(least) + " would do: uncoalesced");
  if (lanes < 0.75 * kWarpLanes) add(each_text(lanes) + " of 32 lanes active");
  return text;
}

Record simulate(const Operation& operation, const KernelDef& kernel, const Problem& problem,
                SimDevice& device, const Config& config) {
  Problem named = problem;
  named.kernel = kernel.name;
  Record record{.op = named.op,
                .kernel = kernel.id(),
                .problem = named.text(),
                .device = device.properties().id,
                .device_name = description(device.properties()),
                .origin = Origin::simulated,
                .data = named.data + " seed=" + std::to_string(named.seed),
                .code_hash = code_hash(kernel),
                .command = "rooftile bench " + named.text(),
                .date = utc_now()};
  const auto stop = [&](Status status, const std::string& reason) {
    record.status = status;
    record.reason = reason;
  };
  if (const Support support = supports(kernel, named, device.properties()); !support) {
    stop(Status::unsupported, support.reason);
    return record;
  }
  try {
    const OpDef& op = *operation.def;
    const std::unique_ptr<Stream> stream = device.make_stream();
    Workload workload(op, named, device, *stream);
    const Plan plan(kernel, named, device, config);
    record.config = plan.config().text();
    if (const std::string fault = run_once(op, workload, plan, device, record); !fault.empty())
      stop(Status::failed, kernel.id() + ": " + fault);
    const Unit unit = tensor_unit_of(op.cost(named, &workload.inputs()));
    double total_us = 0;
    for (const SimLaunch& launch : device.take_launches()) {
      record.launches.push_back(launch_record(launch, *device.properties().gpu, unit));
      total_us += record.launches.back().predicted_us;
    }
    if (total_us > 0 && record.status == Status::passed) {
      record.predicted_us = total_us;
      record.predicted_error = prediction_error().alone.median;
    }
  } catch (const std::exception& error) {
    stop(Status::failed, std::string("threw: ") + error.what());
  }
  return record;
}

}  // namespace rooftile
