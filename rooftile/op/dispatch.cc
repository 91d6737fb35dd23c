// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/dispatch.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
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

// In order of preference, but for the tuned record's, which comes first.
std::vector<const KernelDef*> in_order(const Operation& operation,
                                       const std::optional<Tuned>& tuned) {
  std::vector<const KernelDef*> order(operation.kernels.begin(), operation.kernels.end());
  if (tuned)
    std::ranges::stable_partition(
        order, [&](const KernelDef* kernel) { return kernel->name == tuned->kernel; });
  return order;
}

// The first that supports the problem: of the proven ones if there are any. Kernels that could not
// be chosen any more are not asked, since a vendor's library may have to be loaded for its answer.
Choice pick(const Operation& operation, const Problem& problem, const DeviceProperties& device) {
  const std::optional<Tuned> tuned = find_tuned(operation, problem, device);
  const auto chosen = [&](const KernelDef* kernel, ProofState proof) -> Choice {
    if (tuned && kernel->name == tuned->kernel)
      return {kernel, tuned->config, "tuned record, " + proof_text(proof)};
    return {kernel, {}, "first in order, " + proof_text(proof)};
  };
  const bool is_strict = is_set("ROOFTILE_STRICT", "1");
  std::optional<Choice> unproven;
  std::vector<std::string> reasons;
  for (const KernelDef* kernel : in_order(operation, tuned)) {
    const ProofState proof = proof_state(*operation.def, *kernel, device);
    const bool is_proven = proof == ProofState::current;
    if (!is_proven && unproven) continue;
    if (const Support support = supports(*kernel, problem, device); !support)
      reasons.push_back(kernel->id() + ": " + support.reason);
    else if (is_proven)
      return chosen(kernel, proof);
    else if (is_strict)
      reasons.push_back(kernel->id() + ": " + proof_text(proof) + ", and ROOFTILE_STRICT is set");
    else
      unproven = chosen(kernel, proof);
  }
  if (!unproven) fail_unsupported(problem, device, reasons);
  return *unproven;
}

}  // namespace

Choice choose(const Registry& registry, const Problem& problem, const DeviceProperties& device) {
  const Operation& operation = registry.operation(problem.op);
  Choice choice;
  if (!problem.kernel.empty()) {
    const std::optional<Tuned> tuned = find_tuned(operation, problem, device);
    choice = {&operation.kernel(problem.kernel), tuned ? tuned->config : Config{},
              tuned ? "named by the problem, tuned record" : "named by the problem"};
  } else {
    choice = pick(operation, problem, device);
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
