// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/verify.h"

#include <algorithm>
#include <map>
#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/base/parallel.h"
#include "rooftile/base/rng.h"
#include "rooftile/base/text.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/proof.h"

namespace rooftile {
namespace {

constexpr std::size_t kSampledRows = 8;

void keep_errors(const Comparison& result, Record& record) {
  const auto raise = [](std::optional<double>& field, double value) {
    field = std::max(field.value_or(0), value);
  };
  raise(record.max_abs_error, result.max_abs_error);
  raise(record.max_rel_error, result.max_rel_error);
  raise(record.max_ulps, result.max_ulps);
  raise(record.max_of_bound, result.max_of_bound);
}

// Everything one kernel needs to be run on one problem.
struct Bench {
  const OpDef& op;
  const KernelDef& kernel;
  Device& device;
  Stream& stream;
  Workload workload;
  Plan plan;
  Workspace workspace;

  Bench(const OpDef& op_def, const KernelDef& kernel_def, const Problem& problem, Device& dev,
        Stream& on)
      : op(op_def),
        kernel(kernel_def),
        device(dev),
        stream(on),
        workload(op_def, problem, dev, on),
        plan(kernel_def, workload.problem(), dev),
        workspace(plan, dev, on) {}

  void run(int times = 1, Poison poison = Poison::nan) {
    workload.reset(poison);
    workspace.poison();
    workload.run(plan, workspace.data(), times);
  }
  std::string memory_fault() {
    const std::string fault = workload.memory_fault();
    return fault.empty() ? workspace.fault() : fault;
  }
};

std::string run_and_check(Bench& bench, Policy policy, Record& record, int times = 1,
                          Poison poison = Poison::nan) {
  bench.run(times, poison);
  const std::string fault = check_outputs(bench.op, bench.workload, policy, record);
  const std::string memory = bench.memory_fault();
  return !memory.empty() ? memory : fault;
}

// The promise of equal bits (those of the run that was just found right), and for kernels that
// promise nothing that every run is right.
std::string check_repeats(Bench& bench, const VerifyOptions& options, Record& record) {
  const bool is_repeatable = bench.kernel.determinism != Determinism::any;
  const std::string right = bench.workload.output_bits();
  for (int i = 1; i < options.repeats; ++i) {
    const std::string run = "run " + std::to_string(i + 1);
    if (is_repeatable) {
      bench.run();
      if (bench.workload.output_bits() != right)
        return "not repeatable: " + run + " gave other bits";
    }
    std::string fault =
        is_repeatable ? bench.memory_fault() : run_and_check(bench, options.policy, record);
    if (!fault.empty()) return run + ": " + fault;
  }
  return "";
}

// Other legal orders of the same threads, on devices that have them.
std::string check_schedules(Bench& bench, const VerifyOptions& options, Record& record) {
  if (!bench.device.has_schedules()) return "";
  const bool is_repeatable = bench.kernel.determinism != Determinism::any;
  const std::string right = bench.workload.output_bits();
  std::string fault;
  for (int number = 1; number < options.schedules && fault.empty(); ++number) {
    bench.device.use_schedule(number);
    try {
      // A launch that may begin before the one ahead has ended must wait for it: a second run right
      // behind the first tells. Where it is in place it would compute something else.
      const bool runs_twice = number == 1 && !bench.workload.is_in_place();
      fault = run_and_check(bench, options.policy, record, runs_twice ? 2 : 1);
      if (fault.empty() && is_repeatable && bench.workload.output_bits() != right)
        fault = "gives other bits";
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (!fault.empty()) fault = "schedule " + std::to_string(number) + ": " + fault;
  }
  bench.device.use_schedule(0);
  return fault;
}

// Whatever configuration a tuner may choose must be right: each of the others once.
std::string check_configs(Bench& bench, const VerifyOptions& options, Record& record) {
  if (!bench.kernel.configs) return "";
  const bool has_schedules = bench.device.has_schedules() && options.schedules > 0;
  int number = 0;
  std::string fault;
  const Problem& problem = bench.workload.problem();
  for (const Config& config : bench.kernel.configs(problem, bench.device.properties())) {
    if (config == bench.plan.config()) continue;
    const Plan plan(bench.kernel, problem, bench.device, config);
    Workspace workspace(plan, bench.device, bench.stream);
    if (has_schedules) bench.device.use_schedule(++number % options.schedules);
    try {
      bench.workload.reset();
      bench.workload.run(plan, workspace.data());
      fault = check_outputs(bench.op, bench.workload, options.policy, record);
      if (fault.empty()) fault = bench.workload.memory_fault();
      if (fault.empty()) fault = workspace.fault();
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (!fault.empty()) {
      fault = "with " + config.text() + ": " + fault;
      break;
    }
  }
  if (has_schedules) bench.device.use_schedule(0);
  return fault;
}

// The same problem with one row, its data that of the batch's row: only for problems whose outputs
// all begin with the batch axis and whose strides follow from the shape.
std::optional<Problem> one_row(const OpDef& op, const Problem& problem) {
  if (op.batch_axis.empty() || problem.axis(op.batch_axis) < 2) return std::nullopt;
  for (const ArgDef& arg : op.args) {
    if (!problem.has(arg.name)) continue;
    const auto place = std::ranges::find(arg.axes, op.batch_axis);
    const bool is_first = !arg.axes.empty() && place == arg.axes.begin();
    if (!is_first && (arg.role != Role::in || place != arg.axes.end())) return std::nullopt;
  }
  ProblemText text{.op = op.name, .kernel = problem.kernel};
  for (const auto& [axis, extent] : problem.axes)
    text.assignments.emplace_back(axis, std::to_string(axis == op.batch_axis ? 1 : extent));
  for (const ArgChoice& arg : problem.args) {
    if (!arg.is_present) continue;
    if (arg.has_own_strides || arg.scaling || !arg.alias.empty()) return std::nullopt;
    text.assignments.emplace_back(arg.name, name(arg.dtype));
  }
  for (const OptionChoice& option : problem.options)
    text.assignments.emplace_back(option.name, option.value);
  text.assignments.emplace_back("data", problem.data);
  return bind(op, text);
}

bool begins_with(const ArgDef& arg, const std::string& axis) {
  return !arg.axes.empty() && arg.axes.front() == axis;
}

// Blocks of `row` as they stand in the batch.
void copy_blocks(Bench& bench, Bench& single, std::int64_t row) {
  for (const ArgDef& arg : bench.op.args) {
    const Problem& problem = single.workload.problem();
    if (arg.role == Role::out || !problem.has(arg.name)) continue;
    if (!info(problem.dtype(arg.name)).is_block()) continue;
    const std::string all = bench.workload.tensor(arg.name).element_bits();
    const auto bytes = static_cast<std::size_t>(problem.bytes(arg.name));
    const std::size_t first =
        begins_with(arg, bench.op.batch_axis) ? static_cast<std::size_t>(row) * bytes : 0;
    single.workload.tensor(arg.name).store_bits(std::string_view(all).substr(first, bytes));
  }
}

/// The inputs of `alone`, which is `problem` with one row, for one row after the other.
class InputsOfRow {
 public:
  InputsOfRow(const OpDef& op, const Problem& problem, const Values& batch, const Problem& alone)
      : op_(op), problem_(problem), batch_(batch), inputs_(alone) {
    for (const ArgDef& arg : op.args)
      if (!begins_with(arg, op.batch_axis)) copy(arg, 0);
  }

  /// Null when the operation has no problem that means this row.
  Values* at(std::int64_t row) {
    for (const ArgDef& arg : op_.args) {
      if (arg.role == Role::out && problem_.has(arg.name)) clear(inputs_[arg.name]);
      // Why all of them where the operation has its say: it may change any.
      if (op_.row_alone || begins_with(arg, op_.batch_axis)) copy(arg, row);
    }
    if (op_.row_alone && !op_.row_alone(problem_, batch_, row, inputs_)) return nullptr;
    return &inputs_;
  }

 private:
  // Of the answer for the row before.
  static void clear(Array& output) {
    std::ranges::fill(output.values, 0.0);
    output.magnitude.clear();
    output.also_right.clear();
  }

  void copy(const ArgDef& arg, std::int64_t row) {
    if (!problem_.has(arg.name) || arg.role == Role::out) return;
    const Array& all = batch_[arg.name];
    Array& one = inputs_[arg.name];
    const std::int64_t first =
        begins_with(arg, op_.batch_axis) ? row * static_cast<std::int64_t>(one.values.size()) : 0;
    copy_in_parallel(one.values.data(), all.values.data() + first,
                     one.values.size() * sizeof(double));
  }

  const OpDef& op_;
  const Problem& problem_;
  const Values& batch_;
  Values inputs_;
};

using RowsOfOutputs = std::map<std::string, std::vector<std::vector<double>>>;

RowsOfOutputs rows_of_outputs(Workload& workload, const std::vector<std::int64_t>& rows) {
  RowsOfOutputs list;
  for (const auto* slot : workload.outputs()) list[slot->name] = slot->tensor->load_rows(rows);
  return list;
}

// A row alone must give the bits that it has in the batch.
std::string check_rows(Bench& bench) {
  const Problem& problem = bench.workload.problem();
  const auto alone = one_row(bench.op, problem);
  if (!alone || !supports(bench.kernel, *alone, bench.device.properties())) return "";
  bench.run();
  const std::int64_t rows = problem.axis(bench.op.batch_axis);
  const std::vector<std::int64_t> some{0, rows / 2, rows - 1};
  const RowsOfOutputs in_batch = rows_of_outputs(bench.workload, some);
  Bench single(bench.op, bench.kernel, *alone, bench.device, bench.stream);
  InputsOfRow rows_alone(bench.op, problem, bench.workload.inputs(), *alone);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const std::int64_t row = some[i];
    const Values* const inputs = rows_alone.at(row);
    if (inputs == nullptr) continue;
    single.workload.set_inputs(*inputs);
    copy_blocks(bench, single, row);
    single.run();
    for (const auto* slot : single.workload.outputs()) {
      const std::vector<double>& got = slot->tensor->load();
      const auto same = [](double a, double b) { return a == b || (a != a && b != b); };
      if (!std::ranges::equal(got, in_batch.at(slot->name)[i], same))
        return "not batch-invariant: row " + std::to_string(row) + " of '" + slot->name +
               "' has other bits alone";
    }
  }
  return "";
}

std::string judge(Bench& bench, const VerifyOptions& options, std::uint64_t seed, Record& record) {
  bench.workload.set_inputs(seed);
  if (std::string fault = run_and_check(bench, options.policy, record); !fault.empty())
    return fault;
  // Other data in the same memory: an answer kept by pointer or shape is wrong now.
  bench.workload.set_inputs(seed + 1);
  if (std::string fault = run_and_check(bench, options.policy, record, 1, Poison::number);
      !fault.empty())
    return "with other data in the same memory: " + fault;
  if (std::string fault = check_repeats(bench, options, record); !fault.empty()) return fault;
  if (std::string fault = check_schedules(bench, options, record); !fault.empty()) return fault;
  if (std::string fault = check_configs(bench, options, record); !fault.empty()) return fault;
  return bench.kernel.determinism == Determinism::batch_invariant ? check_rows(bench) : "";
}

// "all" as the sets that it stands for.
std::vector<std::string> expand(const std::vector<std::string>& sets) {
  std::vector<std::string> expanded;
  for (const std::string& set : sets) {
    if (set == "all") {
      expanded.insert(expanded.end(), {"smoke", "ci", "edges"});
    } else {
      expanded.push_back(set);
    }
  }
  return expanded;
}

}  // namespace

bool check_some_rows(const OpDef& op, Workload& workload, Policy policy, Record& record,
                     std::string& fault) {
  const Problem& problem = workload.problem();
  const auto alone = one_row(op, problem);
  if (!alone) return false;
  const std::int64_t rows = problem.axis(op.batch_axis);
  const Rng rng(problem.seed, "rows");
  std::vector<std::int64_t> some{0, rows - 1};
  while (some.size() < kSampledRows) some.push_back(rng.below(some.size(), rows));
  const RowsOfOutputs outputs = rows_of_outputs(workload, some);
  int checked = 0;
  InputsOfRow rows_alone(op, problem, workload.inputs(), *alone);
  for (std::size_t i = 0; i < some.size() && fault.empty(); ++i) {
    const std::int64_t row = some[i];
    Values* const values = rows_alone.at(row);
    if (values == nullptr) continue;
    ++checked;
    op.meaning(*alone, *values);
    for (const auto* slot : workload.outputs()) {
      const Array& expected = (*values)[slot->name];
      const Comparison result =
          compare(outputs.at(slot->name)[i], expected, slot->tensor->view().dtype,
                  op.tolerance(problem, slot->name), policy);
      keep_errors(result, record);
      if (!result.passed() && fault.empty())
        fault = "row " + std::to_string(row) + ": " + result.text(expected);
    }
  }
  for (auto* slot : workload.outputs())
    if (const std::int64_t left = slot->tensor->first_poisoned();
        checked != 0 && fault.empty() && left >= 0)
      fault = slot->name + ": nothing was written to element " + std::to_string(left);
  return checked != 0;
}

std::string check_outputs(const OpDef& op, Workload& workload, Policy policy, Record& record) {
  std::string fault;
  for (const auto* slot : workload.outputs()) {
    const Array& expected = workload.expected()[slot->name];
    const DType dtype = slot->tensor->view().dtype;
    const Comparison result = compare(slot->tensor->load(), expected, dtype,
                                      op.tolerance(workload.problem(), slot->name), policy);
    keep_errors(result, record);
    if (!fault.empty()) continue;
    if (!result.passed()) {
      fault = result.text(expected);
    } else if (result.takes_zeros()) {
      record.status = Status::invalid;
      fault = slot->name +
              ": zeros would pass as well: what is allowed exceeds every expected value (" +
              figures(result.max_abs_expected) + " at most)";
    }
  }
  return fault;
}

Record verify(const OpDef& op, const KernelDef& kernel, const Problem& problem, Device& device,
              const VerifyOptions& options) {
  Problem named = problem;
  named.kernel = kernel.name;
  Record record{.op = op.name,
                .kernel = kernel.id(),
                .problem = named.text(),
                .device = device.properties().id,
                .device_name = description(device.properties()),
                .data = problem.data + " seed=" + std::to_string(problem.seed + options.seed),
                .code_hash = code_hash(kernel),
                .command = "rooftile verify " + named.text(),
                .date = utc_now()};
  if (const Support support = supports(kernel, named, device.properties()); !support) {
    record.status = Status::unsupported;
    record.reason = support.reason;
    return record;
  }
  try {
    const std::unique_ptr<Stream> stream = device.make_stream();
    Bench bench(op, kernel, named, device, *stream);
    record.config = bench.plan.config().text();
    record.reason = judge(bench, options, problem.seed + options.seed, record);
    if (!record.reason.empty() && record.status != Status::invalid) record.status = Status::failed;
  } catch (const std::exception& error) {
    record.status = Status::failed;
    record.reason = std::string("threw: ") + error.what();
  }
  return record;
}

VerifyCounts verify_all(const Operation& operation, Device& device, const VerifyPlan& plan,
                        const std::function<void(const Record&)>& on_record) {
  VerifyCounts counts;
  for (const KernelDef* kernel : operation.kernels) {
    if (!plan.kernel.empty() && kernel->name != plan.kernel) continue;
    if (!runs_on(kernel->target, device.properties())) continue;
    int passed_edges = 0;
    bool has_failed = false;
    for (const std::string& set : expand(plan.sets)) {
      for (const Problem& problem : problems_of(*operation.def, set)) {
        const Record record = verify(*operation.def, *kernel, problem, device, plan.options);
        on_record(record);
        counts.passed += record.status == Status::passed ? 1 : 0;
        counts.failed += record.status == Status::failed ? 1 : 0;
        counts.invalid += record.status == Status::invalid ? 1 : 0;
        counts.unsupported += record.status == Status::unsupported ? 1 : 0;
        has_failed |= record.status == Status::failed || record.status == Status::invalid;
        passed_edges += set == "edges" && record.status == Status::passed ? 1 : 0;
      }
    }
    // Only the operation's own rule proves; a looser named policy does not.
    if (plan.options.policy == Policy::derived && (has_failed || passed_edges > 0))
      remember_proof(*operation.def, *kernel, device.properties(), !has_failed);
  }
  return counts;
}

std::vector<Problem> problems_of(const OpDef& op, const std::string& set) {
  std::vector<Problem> problems;
  for (const std::string& wanted : expand({set}))
    for (const Case& entry : op.cases)
      if (entry.set == wanted)
        problems.push_back(bind(op, parse_problem_text(op.name + " " + entry.text)));
  return problems;
}

}  // namespace rooftile
