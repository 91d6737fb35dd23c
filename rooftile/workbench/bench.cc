// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/bench.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/op/proof.h"
#include "rooftile/workbench/candidates.h"
#include "rooftile/workbench/ceilings.h"
#include "rooftile/workbench/measured_kernel.h"
#include "rooftile/workbench/verify.h"

namespace rooftile {
namespace {

constexpr double kMicro = 1e6;
// Without a data sheet: what no noise of the probes explains.
constexpr double kImplausible = 1.5;

Record start_record(const KernelDef& kernel, const Problem& problem, const Device& device,
                    const BenchOptions& options) {
  Record record{.op = problem.op,
                .kernel = kernel.id(),
                .problem = problem.text(),
                .device = device.properties().id,
                .device_name = description(device.properties()),
                .mode = std::string(name(options.timing.mode)),
                .data = problem.data + " seed=" + std::to_string(problem.seed),
                .code_hash = code_hash(kernel),
                .command = "rooftile bench " + problem.text(),
                .date = utc_now()};
  const std::string& against =
      options.against_text.empty() ? options.against : options.against_text;
  if (!against.empty()) record.command += " --against " + against;
  if (options.timing.mode != Mode::cold) record.command += " --" + record.mode;
  return record;
}

Record stop(Record record, Status status, std::string reason) {
  record.status = status;
  record.reason = std::move(reason);
  return record;
}

// The memory probe whose mix is nearest, if memory bounds this cost.
std::optional<Probe> nearest_probe(Device& device, const Cost& cost, const Ceilings& ceilings) {
  const double share = cost.bytes() > 0 ? cost.bytes_written / cost.bytes() : 0;
  if (floor_of(cost, ceilings).bound != Bound::memory) return std::nullopt;
  std::vector<Probe> probes = device.probes();
  std::erase_if(probes, [](const Probe& probe) { return probe.unit.has_value(); });
  if (probes.empty()) return std::nullopt;
  const auto distance = [&](const Probe& probe) {
    const double mix = probe.written_bytes / (probe.read_bytes + probe.written_bytes);
    const bool is_best = probe.name == ceilings.read.source || probe.name == ceilings.copy.source ||
                         probe.name == ceilings.triad.source || probe.name == ceilings.write.source;
    return std::abs(mix - share) + (is_best ? 0 : 1);
  };
  return *std::ranges::min_element(probes, {}, distance);
}

Against against_of(const std::string& name, const Contender& a, const Contender& b, double scale) {
  std::vector<double> pairs = ratios(a, b);
  for (double& ratio : pairs) ratio *= scale;
  return {.kernel = name,
          .time_us = quantiles(b.samples_us),
          .ratio = quantiles(pairs),
          .verdict = verdict(pairs)};
}

// Faster than physics: the cost or the measurement is wrong.
std::string implausible(const Record& record, const Cost& cost, const Ceilings& ceilings,
                        bool is_cached) {
  const double fastest_us = record.time_us->p10;
  if (is_cached) return "";
  if (const double sheet_us = sheet_floor_us(cost, ceilings); sheet_us > 0)
    return fastest_us < sheet_us
               ? "faster than the data sheet allows (" + time_text(fastest_us) + " against " +
                     time_text(sheet_us) + "): an error in the measurement or the cost"
               : "";
  const double floor_us = floor_of(cost, ceilings).time_us;
  if (fastest_us * kImplausible >= floor_us) return "";
  return figures(floor_us / fastest_us * 100) +
         " % of the measured ceiling: an error in the measurement or the cost";
}

// What must have moved when the last sample ended: writes that fit the last-level cache may still
// be there, in cold mode too.
Cost surely_moved(Cost cost, const DeviceProperties& device) {
  if (cost.bytes_written < static_cast<double>(device.last_level_cache_bytes))
    cost.bytes_written = 0;
  return cost;
}

bool has_sheet(const Ceilings& ceilings) { return ceilings.sheet_bytes_per_s.has_value(); }

bool fits_cache(const Cost& cost, Mode mode, const DeviceProperties& device) {
  return mode != Mode::cold && cost.bytes() < static_cast<double>(device.last_level_cache_bytes);
}

void add_state(Record& record, const DeviceState& state) {
  record.clocks_mhz = state.clock_mhz;
  record.power_w = state.power_w;
  record.temperature_c = state.temperature_c;
}

// What bench() was asked for, once it is known to be possible.
struct Task {
  const OpDef& op;
  const KernelDef& kernel;
  const KernelDef* other;  // the rival, if any
  const Problem& problem;
  Device& device;
  Ceilings& ceilings;
  const BenchOptions& options;
  const Config& config;
};

Record measure(const Task& task, Record record) {
  const auto& [op, kernel, other, problem, device, ceilings, options, config] = task;
  const std::unique_ptr<Stream> stream = device.make_stream();
  MeasuredKernel measured(op, kernel, problem, device, *stream, config);
  record.config = measured.config().text();
  std::unique_ptr<MeasuredKernel> rival;
  if (other != nullptr) {
    Problem others = problem;
    others.kernel = other->name;
    rival = std::make_unique<MeasuredKernel>(op, *other, others, device, *stream,
                                             options.against_config);
  }
  std::vector<MeasuredKernel*> kernels{&measured};
  if (rival) kernels.push_back(rival.get());
  if (std::string fault = MeasuredKernel::check_before(kernels, record); !fault.empty()) {
    const Status status = record.status == Status::invalid ? Status::invalid : Status::failed;
    return stop(std::move(record), status, fault);
  }

  if (options.timing.mode == Mode::graph && measured.is_in_place())
    return stop(std::move(record), Status::unsupported,
                "it works in place, and the runs of a graph would each take the result of the one "
                "before: --hot and --cold restore its input");

  const Cost cost = measured.cost();
  std::vector<Contender> contenders{measured.contender()};
  if (rival) contenders.push_back(rival->contender());
  if (options.timing.mode == Mode::graph)
    for (Contender& contender : contenders) put_into_graph(device, *stream, contender);
  const auto probe = options.with_probe ? nearest_probe(device, cost, ceilings) : std::nullopt;
  if (probe) contenders.push_back({.run = [&] { probe->run(*stream); }});

  const TimingOutcome outcome = alternate(device, *stream, contenders, options.timing);
  if (!outcome.fault.empty()) return stop(std::move(record), Status::failed, outcome.fault);
  for (MeasuredKernel* each : kernels)
    if (std::string fault = each->check_after(); !fault.empty())
      return stop(std::move(record), Status::failed, each->id() + ": " + fault);

  for (const Contender& each : contenders)
    if (std::string fault = fault_of(each.samples_us); !fault.empty())
      return stop(std::move(record), Status::invalid, std::move(fault));
  record.time_us = quantiles(contenders[0].samples_us);
  add_state(record, outcome.state);
  if (rival) {
    // One of several configurations is named: the kernel alone would mean its default.
    const Candidate named{other, options.against_config};
    record.against = against_of(named.text(), contenders[0], contenders[1], 1);
  }
  if (probe) {
    // Per byte: the probe moves another amount.
    const double scale = cost.bytes() / (probe->read_bytes + probe->written_bytes);
    record.probe = against_of(probe->name, contenders[0], contenders.back(), scale);
  }
  const bool is_cached = fits_cache(cost, options.timing.mode, device.properties());
  const Cost moved = surely_moved(cost, device.properties());
  // Probes that ran while the machine was busy are the likelier fault: ask them again first.
  if (!has_sheet(ceilings) && !implausible(record, moved, ceilings, is_cached).empty())
    improve_ceilings(device, ceilings);
  place_on_roof(record, cost, ceilings, options.timing.mode, device.properties());
  // A vendor's kernel whose result has been checked proves the probe too slow, not itself too fast:
  // it may use instructions that no probe of ours has. It raises the ceiling below.
  if (std::string reason = implausible(record, moved, ceilings, is_cached);
      !reason.empty() && !(kernel.calls_vendor_library && !has_sheet(ceilings)))
    return stop(std::move(record), Status::invalid, reason);
  if (outcome.is_throttled)
    return stop(std::move(record), Status::invalid,
                "throttled: the clock stayed below 75 % of nominal (" +
                    figures(outcome.state.clock_mhz.value_or(0)) + " MHz)");
  if (!is_cached && raise_ceiling(ceilings, moved, record.time_us->median, kernel.id())) {
    remember_ceilings(device, ceilings);
    place_on_roof(record, cost, ceilings, options.timing.mode, device.properties());
  }
  return record;
}

}  // namespace

void place_on_roof(Record& record, const Cost& cost, const Ceilings& ceilings, Mode mode,
                   const DeviceProperties& device) {
  const double seconds = record.time_us->median / kMicro;
  if (cost.total_ops() > 0) record.tflops = cost.total_ops() / seconds / 1e12;
  if (cost.bytes() > 0) {
    record.gbytes_per_s = cost.bytes() / seconds / 1e9;
    record.intensity = cost.intensity();
  }
  Floor floor = floor_of(cost, ceilings);
  if (fits_cache(cost, mode, device) && floor.bound == Bound::memory) {
    record.bound = "cache";
    return;
  }
  if (floor.bound == Bound::none) return;
  record.bound = floor.bound == Bound::memory ? "memory" : "compute";
  const double floor_s = floor.time_us / kMicro;
  record.attainable = floor.bound == Bound::memory ? cost.bytes() / floor_s / 1e9
                                                   : cost.total_ops() / floor_s / 1e12;
  record.percent_of_roof = floor.time_us / record.time_us->median * 100;
}

Record bench(const Operation& operation, const KernelDef& kernel, const Problem& problem,
             Device& device, Ceilings& ceilings, const BenchOptions& options,
             const Config& config) {
  Problem named = problem;
  named.kernel = kernel.name;
  Record record = start_record(kernel, named, device, options);
  if (const Support support = supports(kernel, named, device.properties()); !support)
    return stop(std::move(record), Status::unsupported, support.reason);
  const KernelDef* other = nullptr;
  if (!options.against.empty()) {
    other = &operation.kernel(options.against);
    if (const Support support = supports(*other, named, device.properties()); !support)
      return stop(std::move(record), Status::unsupported, other->id() + ": " + support.reason);
  }
  try {
    return measure({*operation.def, kernel, other, named, device, ceilings, options, config},
                   record);
  } catch (const std::exception& error) {
    return stop(std::move(record), Status::failed, std::string("threw: ") + error.what());
  }
}

Record compare_kernels(const Operation& operation, const KernelDef& a, const KernelDef& b,
                       const Problem& problem, Device& device, Ceilings& ceilings,
                       BenchOptions options) {
  options.against = b.name;
  options.with_probe = false;
  options.timing.least_samples = std::max(options.timing.least_samples, 20);
  return bench(operation, a, problem, device, ceilings, options);
}

RecordComparison compare_records(const Record& a, const Record& b) {
  const auto same = [](const char* what, const std::string& left, const std::string& right) {
    if (left != right)
      fail_input(std::string("not comparable: ") + what + " '" + left + "' and '" + right + "'");
  };
  const auto problem_of = [](const Record& record) {
    const std::size_t blank = record.problem.find(' ');
    return record.op + (blank == std::string::npos ? "" : record.problem.substr(blank));
  };
  same("data", a.data.substr(0, a.data.find(' ')), b.data.substr(0, b.data.find(' ')));
  same("problem", problem_of(a), problem_of(b));
  same("device", a.device + " " + a.device_name, b.device + " " + b.device_name);
  same("mode", a.mode, b.mode);
  if (!a.time_us || !b.time_us || a.status != Status::passed || b.status != Status::passed)
    fail_input("not comparable: a record of '" + a.problem + "' has no valid time");
  // Of different runs only the quantiles are left: their whole ranges must be apart.
  const double gap = 1.01;
  const RecordComparison undecided{b.time_us->median / a.time_us->median, "cannot tell"};
  RecordComparison result = undecided;
  if (a.time_us->p90 * gap < b.time_us->p10) result.verdict = "faster";
  if (b.time_us->p90 * gap < a.time_us->p10) result.verdict = "slower";
  const auto is_narrow = [](const Quantiles& q) { return q.p90 - q.p10 < 0.02 * q.median; };
  if (std::abs(result.ratio - 1) < 0.01 && is_narrow(*a.time_us) && is_narrow(*b.time_us))
    result.verdict = "same";
  return result;
}

std::pair<bool, std::string> keep(const std::vector<Record>& comparisons) {
  std::vector<std::string> faster;
  for (const Record& record : comparisons) {
    if (record.status != Status::passed || !record.against)
      return {false, "not measured on '" + record.problem + "': " + record.reason};
    if (record.against->verdict == "slower") return {false, "slower on '" + record.problem + "'"};
    // Another seed is other data, not another problem.
    const std::string problem = record.problem.substr(0, record.problem.find(" seed="));
    if (record.against->verdict == "faster" && std::ranges::find(faster, problem) == faster.end())
      faster.push_back(problem);
  }
  if (faster.size() >= 2)
    return {true, "faster on " + std::to_string(faster.size()) + " problems, slower on none"};
  return {false, "faster on " + std::to_string(faster.size()) +
                     " problem(s); a change is kept when it wins on a second one too"};
}

}  // namespace rooftile
