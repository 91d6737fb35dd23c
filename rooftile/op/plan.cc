// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/plan.h"

#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/op/bind.h"

namespace rooftile {
namespace {

// A kernel may rely on what the plan says of shared memory: an output shares that of its alias and
// of nothing else.
void check_aliases(const Problem& problem, std::span<const TensorView> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    const ArgChoice& output = problem.args[i];
    if (!output.is_output || !views[i].is_present() || num_elements(output.shape) == 0) continue;
    for (std::size_t j = 0; j < views.size(); ++j) {
      const std::string& other = problem.args[j].name;
      if (j == i || (views[j].data == views[i].data) == (other == output.alias)) continue;
      fail_input("output '" + output.name + "' " + (other == output.alias ? "must have" : "has") +
                 " the memory of '" + other + "', as the plan was " +
                 (other == output.alias ? "" : "not ") + "prepared for");
    }
  }
}

}  // namespace

Plan::Plan(const KernelDef& kernel, Problem problem, Device& device, Config config)
    : kernel_(&kernel), problem_(std::move(problem)), config_(std::move(config)) {
  problem_.kernel = kernel.name;
  const Support support = supports(kernel, problem_, device.properties());
  if (!support)
    throw Error(ErrorCode::unsupported, kernel.id() + " does not support '" + problem_.text(false) +
                                            "': " + support.reason);
  if (config_.values.empty() && kernel.configs) {
    const std::vector<Config> offered = kernel.configs(problem_, device.properties());
    if (offered.empty())
      throw Error(ErrorCode::internal,
                  kernel.id() + " supports '" + problem_.text(false) + "' with no configuration");
    config_ = offered.front();
  }
  prepared_ = kernel.prepare(problem_, device, config_);
}

void Plan::run(const Context& context, std::span<const TensorView> views) const {
  if (views.size() != problem_.args.size())
    fail_input(kernel_->id() + ": called with " + std::to_string(views.size()) +
               " tensors, the operation has " + std::to_string(problem_.args.size()));
  for (std::size_t i = 0; i < views.size(); ++i) check_view(problem_.args[i], views[i]);
  check_aliases(problem_, views);
  if (context.stream == nullptr) fail_input(kernel_->id() + ": no stream given");
  if (prepared_.workspace_bytes > 0 && context.workspace == nullptr)
    fail_input(kernel_->id() + ": needs a workspace of " +
               std::to_string(prepared_.workspace_bytes) + " bytes");
  prepared_.run(context, Arguments(problem_, views.data()));
}

}  // namespace rooftile
