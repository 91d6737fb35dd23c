// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/measured_kernel.h"

#include <algorithm>
#include <cmath>

#include "rooftile/base/rng.h"
#include "rooftile/base/text.h"
#include "rooftile/workbench/verify.h"

namespace rooftile {
namespace {

constexpr int kSpots = 32;
// Larger references would take longer than the measurement: one set of data is then checked, and of
// another some rows.
constexpr double kSlowReferenceOps = 1e9;
// And still larger ones are checked by some of their rows.
constexpr double kSlowestReferenceOps = 4e9;

}  // namespace

MeasuredKernel::MeasuredKernel(const OpDef& op, const KernelDef& kernel, const Problem& problem,
                               Device& device, Stream& stream, const Config& config)
    : op_(op),
      kernel_(kernel),
      workload_(op, problem, device, stream),
      plan_(kernel, problem, device, config),
      workspace_(plan_, device, stream) {}

std::string MeasuredKernel::check_before(std::span<MeasuredKernel* const> kernels, Record& record) {
  MeasuredKernel& first = *kernels.front();
  const std::uint64_t seed = first.workload_.problem().seed;
  const double most_ops = first.op_.cost(first.workload_.problem(), nullptr).total_ops();
  std::vector<std::uint64_t> seeds{seed};
  if (most_ops < kSlowReferenceOps) seeds.insert(seeds.begin(), seed + 1);
  for (const std::uint64_t each_seed : seeds) {
    first.workload_.set_inputs(each_seed);
    for (MeasuredKernel* kernel : kernels) {
      Record errors;
      if (kernel != &first) kernel->workload_.share_inputs(first.workload_);
      if (std::string fault = kernel->check_run(kernel == &first ? record : errors); !fault.empty())
        return kernel->id() + ": " + fault;
    }
  }
  for (MeasuredKernel* kernel : kernels) {
    kernel->good_bits_ = kernel->workload_.output_bits();
    kernel->choose_spots();
  }
  return "";
}

std::string MeasuredKernel::check_run(Record& record) {
  workload_.run(plan_, workspace_.data());
  const std::string fault = check_results(record);
  return fault.empty() ? memory_fault() : fault;
}

std::string MeasuredKernel::check_results(Record& record) {
  std::string fault;
  if (cost().total_ops() > kSlowestReferenceOps &&
      check_some_rows(op_, workload_, Policy::derived, record, fault))
    return fault;
  return check_outputs(op_, workload_, Policy::derived, record);
}

/// How much a spot of a kernel whose bits may change can differ from one run to the next.
double MeasuredKernel::spot_bound(const std::string& output, std::int64_t index, double value) {
  if (kernel_.determinism != Determinism::any) return 0;
  const Array& expected = workload_.expected()[output];
  const double magnitude = expected.magnitude.empty()
                               ? std::abs(expected[index])
                               : expected.magnitude[static_cast<std::size_t>(index)];
  const Tolerance tolerance = op_.tolerance(workload_.problem(), output);
  return 2 * (std::abs(value) * 0x1p-6 + tolerance.accumulated * magnitude);
}

void MeasuredKernel::choose_spots() {
  const Rng rng(workload_.problem().seed, "spots");
  for (Workload::Slot* slot : workload_.outputs()) {
    const std::int64_t count = slot->tensor->count();
    for (std::uint64_t i = 0; i < kSpots && count > 0; ++i) {
      // The first and last element always: they are what a short grid or a late thread misses.
      const std::int64_t index = i == 0 ? 0 : i == 1 ? count - 1 : rng.below(i, count);
      const double value = slot->tensor->load_element_now(index);
      spots_.push_back({slot->tensor, index, value, spot_bound(slot->name, index, value)});
    }
  }
}

void MeasuredKernel::poison_spots() {
  for (const Spot& spot : spots_) spot.tensor->poison_element(spot.index);
}

std::string MeasuredKernel::check_spots() {
  ++sample_;
  for (const Spot& spot : spots_) {
    const double now = spot.tensor->load_element_now(spot.index);
    const bool is_same = now == spot.expected || (now != now && spot.expected != spot.expected);
    if (!is_same && !(std::abs(now - spot.expected) <= spot.bound))
      return kernel_.id() + ": in sample " + std::to_string(sample_) + " element " +
             std::to_string(spot.index) + " is " + shortest(now) + ", was " +
             shortest(spot.expected) + " when checked: work skipped, late or changed";
  }
  return "";
}

bool MeasuredKernel::is_in_place() const {
  return std::ranges::any_of(workload_.problem().args,
                             [](const ArgChoice& arg) { return !arg.alias.empty(); }) ||
         std::ranges::any_of(op_.args, [&](const ArgDef& arg) {
           return arg.role == Role::inout && workload_.problem().has(arg.name);
         });
}

Contender MeasuredKernel::contender() {
  const bool restores = is_in_place();
  return {.run =
              [this] {
                plan_.run({.stream = &workload_.stream(), .workspace = workspace_.data()},
                          workload_.views());
              },
          .before =
              [this, restores] {
                if (restores) {
                  workload_.reset();
                } else {
                  poison_spots();
                }
              },
          .after = [this] { return check_spots(); }};
}

// Not the answer of the runs before: one that was kept by pointer or shape is wrong for other data.
std::string MeasuredKernel::check_other_data() {
  Record ignored;
  const bool is_slow = cost().total_ops() >= kSlowReferenceOps;
  workload_.set_inputs(workload_.problem().seed + 1);
  workload_.run(plan_, workspace_.data());
  std::string fault;
  if (!is_slow)
    fault = check_outputs(op_, workload_, Policy::derived, ignored);
  else
    (void)check_some_rows(op_, workload_, Policy::derived, ignored, fault);
  return fault.empty() ? "" : "with other data in the same memory, after the measurement: " + fault;
}

std::string MeasuredKernel::check_after() {
  if (kernel_.determinism != Determinism::any) {
    if (workload_.output_bits() != good_bits_) return "the output changed during the measurement";
  } else {
    Record ignored;
    const std::string fault = check_results(ignored);
    if (!fault.empty()) return "after the measurement: " + fault;
  }
  if (std::string fault = memory_fault(); !fault.empty()) return fault;
  return check_other_data();
}

std::string MeasuredKernel::memory_fault() {
  const std::string fault = workload_.memory_fault();
  return fault.empty() ? workspace_.fault() : fault;
}

}  // namespace rooftile
