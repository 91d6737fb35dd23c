// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/tune.h"

#include <algorithm>
#include <utility>

#include "rooftile/workbench/candidates.h"

namespace rooftile {
namespace {

std::vector<Candidate> candidates_of(const Operation& operation, const Problem& problem,
                                     const DeviceProperties& device) {
  std::vector<Candidate> list;
  for (const KernelDef* kernel : operation.kernels)
    if (problem.kernel.empty() || kernel->name == problem.kernel)
      for (Candidate& candidate : candidates_of(*kernel, problem, device))
        list.push_back(std::move(candidate));
  return list;
}

}  // namespace

TuneResult tune(const Operation& operation, const Problem& problem, Device& device,
                Ceilings& ceilings, const BenchOptions& options,
                const std::function<void(const Record&)>& on_record) {
  TuneResult result;
  std::vector<std::pair<double, Candidate>> ranking;  // median time
  for (const Candidate& candidate : candidates_of(operation, problem, device.properties())) {
    // Each candidate gets memory and poison of its own: half an answer cannot be completed by
    // another.
    const Record& record = result.candidates.emplace_back(
        bench(operation, *candidate.kernel, problem, device, ceilings, options, candidate.config));
    on_record(record);
    if (record.status == Status::passed && record.time_us)
      ranking.emplace_back(record.time_us->median, candidate);
  }
  if (ranking.empty()) return result;
  std::ranges::stable_sort(ranking, {}, [](const auto& entry) { return entry.first; });
  if (ranking.size() > 1) {
    // Medians of different minutes are close calls at best: the first two run again, alternating.
    BenchOptions playoff = options;
    playoff.against = ranking[1].second.kernel->name;
    playoff.against_config = ranking[1].second.config;
    const Record& last =
        result.candidates.emplace_back(bench(operation, *ranking[0].second.kernel, problem, device,
                                             ceilings, playoff, ranking[0].second.config));
    on_record(last);
    if (last.against && last.against->verdict == "slower") std::swap(ranking[0], ranking[1]);
  }
  const Candidate& winner = ranking.front().second;
  result.kernel = winner.kernel->name;
  result.config = winner.config;
  remember_tuned(operation, problem, device.properties(),
                 {result.kernel, result.config, ranking.front().first});
  return result;
}

}  // namespace rooftile
