// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/candidates.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>

#include "rooftile/op/plan.h"
#include "rooftile/workbench/statistics.h"
#include "rooftile/workbench/workload.h"

namespace rooftile {
namespace {

constexpr double kQuickBudgetS = 0.25;
constexpr int kQuickSamples = 5;

// A candidate ready to be timed, with a workspace of its own.
struct Ready {
  const Candidate& candidate;
  std::size_t group;
  Plan plan;
  Workspace workspace;
  double time_us = 0;

  Ready(const Candidate& of, std::size_t in, const Problem& problem, Device& device, Stream& stream)
      : candidate(of),
        group(in),
        plan(*of.kernel, problem, device, of.config),
        workspace(plan, device, stream) {}
};

// Those that run, in the order of the groups.
std::vector<std::unique_ptr<Ready>> prepare_all(std::span<const std::vector<Candidate>> groups,
                                                Workload& workload, Device& device) {
  std::vector<std::unique_ptr<Ready>> list;
  for (std::size_t group = 0; group < groups.size(); ++group)
    for (const Candidate& candidate : groups[group]) {
      try {
        auto made = std::make_unique<Ready>(candidate, group, workload.problem(), device,
                                            workload.stream());
        workload.run(made->plan, made->workspace.data());
        list.push_back(std::move(made));
      } catch (const std::exception&) {  // bench() tells what is wrong with it when it is named
      }
    }
  return list;
}

void time_all(std::span<const std::unique_ptr<Ready>> list, Workload& workload, Device& device,
              Mode mode) {
  std::vector<Contender> contenders;
  for (const std::unique_ptr<Ready>& each : list)
    contenders.push_back({.run = [&workload, ready = each.get()] {
      ready->plan.run({.stream = &workload.stream(), .workspace = ready->workspace.data()},
                      workload.views());
    }});
  alternate(device, workload.stream(), contenders,
            {.mode = mode == Mode::cold ? Mode::cold : Mode::hot,
             .budget_s = kQuickBudgetS,
             .least_samples = kQuickSamples,
             .warm_up_runs = 1});
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i]->time_us = quantiles(contenders[i].samples_us).median;
}

}  // namespace

std::string Candidate::text() const {
  return kernel->id() + (config.values.empty() ? "" : " " + config.text());
}

std::vector<Candidate> candidates_of(const KernelDef& kernel, const Problem& problem,
                                     const DeviceProperties& device) {
  if (!supports(kernel, problem, device)) return {};
  if (!kernel.configs) return {{&kernel, {}}};
  std::vector<Candidate> list;
  for (Config& config : kernel.configs(problem, device))
    list.push_back({&kernel, std::move(config)});
  return list;
}

std::vector<Candidate> vendor_candidates(const Operation& operation, const Problem& problem,
                                         const DeviceProperties& device) {
  std::vector<Candidate> list;
  for (const KernelDef* kernel : operation.kernels)
    if (kernel->calls_vendor_library)
      for (Candidate& candidate : candidates_of(*kernel, problem, device))
        list.push_back(std::move(candidate));
  return list;
}

const KernelDef* first_of_ours(const Operation& operation, const Problem& problem,
                               const DeviceProperties& device) {
  for (const KernelDef* kernel : operation.kernels)
    if (!kernel->calls_vendor_library && supports(*kernel, problem, device)) return kernel;
  return nullptr;
}

std::vector<std::optional<Candidate>> quickest(const OpDef& op, const Problem& problem,
                                               Device& device,
                                               std::span<const std::vector<Candidate>> groups,
                                               Mode mode) {
  std::vector<std::optional<Candidate>> best(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (groups[i].size() == 1) best[i] = groups[i].front();
  if (std::ranges::all_of(groups, [](const auto& group) { return group.size() <= 1; })) return best;

  const std::unique_ptr<Stream> stream = device.make_stream();
  Workload workload(op, problem, device, *stream);
  workload.set_inputs(problem.seed);
  const std::vector<std::unique_ptr<Ready>> list = prepare_all(groups, workload, device);
  time_all(list, workload, device, mode);
  std::vector<double> least(groups.size(), std::numeric_limits<double>::infinity());
  for (const std::unique_ptr<Ready>& each : list)
    if (each->time_us < least[each->group]) {
      least[each->group] = each->time_us;
      best[each->group] = each->candidate;
    }
  return best;
}

}  // namespace rooftile
