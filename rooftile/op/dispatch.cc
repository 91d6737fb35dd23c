// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/dispatch.h"

#include <cstdlib>
#include <iostream>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/op/proof.h"
#include "rooftile/op/tuned.h"

namespace rooftile {
namespace {

bool is_set(const char* variable, std::string_view word) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value).find(word) != std::string_view::npos;
}

struct Candidate {
  const KernelDef* kernel;
  ProofState proof;
};

[[noreturn]] void fail_unsupported(const Problem& problem, const DeviceProperties& device,
                                   const std::vector<std::string>& reasons) {
  std::string message = "no kernel runs '" + problem.text(false) + "' on " + device.id;
  for (const std::string& reason : reasons) message += "\n  " + reason;
  if (reasons.empty()) message += ": the operation has no kernels";
  throw Error(ErrorCode::unsupported, message);
}

std::string proof_text(ProofState state) {
  return state == ProofState::current ? "proven"
         : state == ProofState::stale ? "UNPROVEN here (its proof is stale)"
                                      : "UNPROVEN here (run: rooftile verify)";
}

Choice pick(const Operation& operation, const Problem& problem, const DeviceProperties& device,
            const std::vector<Candidate>& candidates) {
  if (const auto tuned = find_tuned(operation, problem, device))
    for (const Candidate& candidate : candidates)
      if (candidate.kernel->name == tuned->kernel)
        return {candidate.kernel, tuned->config, "tuned record, " + proof_text(candidate.proof)};
  return {candidates.front().kernel, {}, "first in order, " + proof_text(candidates.front().proof)};
}

// Those that support the problem: the proven ones if there are any, in order of preference.
std::vector<Candidate> candidates_for(const Operation& operation, const Problem& problem,
                                      const DeviceProperties& device) {
  std::vector<Candidate> proven;
  std::vector<Candidate> unproven;
  std::vector<std::string> reasons;
  for (const KernelDef* kernel : operation.kernels) {
    if (const Support support = supports(*kernel, problem, device); !support) {
      reasons.push_back(kernel->id() + ": " + support.reason);
      continue;
    }
    const ProofState proof = proof_state(*operation.def, *kernel, device);
    (proof == ProofState::current ? proven : unproven).push_back({kernel, proof});
    if (proof != ProofState::current)
      reasons.push_back(kernel->id() + ": " + proof_text(proof) + ", and ROOFTILE_STRICT is set");
  }
  if (!proven.empty()) return proven;
  if (unproven.empty() || is_set("ROOFTILE_STRICT", "1"))
    fail_unsupported(problem, device, reasons);
  return unproven;
}

}  // namespace

Choice choose(const Registry& registry, const Problem& problem, const DeviceProperties& device) {
  const Operation& operation = registry.operation(problem.op);
  Choice choice;
  if (!problem.kernel.empty()) {
    choice = {&operation.kernel(problem.kernel), {}, "named by the problem"};
  } else {
    choice = pick(operation, problem, device, candidates_for(operation, problem, device));
  }
  if (is_set("ROOFTILE_LOG", "dispatch"))
    std::cerr << "dispatch: " << problem.text(false) << " on " << device.id << " -> "
              << choice.kernel->id() << " (" << choice.why << ")\n";
  return choice;
}

Plan prepare(const Registry& registry, const Problem& problem, Device& device) {
  const Choice choice = choose(registry, problem, device.properties());
  return {*choice.kernel, problem, device, choice.config};
}

}  // namespace rooftile
