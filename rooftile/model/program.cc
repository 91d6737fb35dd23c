// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/program.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "rooftile/base/error.h"
#include "rooftile/op/dispatch.h"
#include "rooftile/op/proof.h"
#include "rooftile/op/storage.h"

namespace rooftile {
namespace {

std::vector<TensorView> in_order(const OpDef& op, const std::vector<NamedView>& views) {
  std::vector<TensorView> ordered(op.args.size());
  for (const NamedView& named : views) {
    const auto found = std::ranges::find(op.args, named.name, &ArgDef::name);
    if (found == op.args.end())
      throw Error(ErrorCode::internal,
                  op.name + " has no argument '" + std::string(named.name) + "'");
    ordered[static_cast<std::size_t>(found - op.args.begin())] = named.view;
  }
  return ordered;
}

// The latest earlier steps that wrote what `views` read, by memory.
std::vector<int> producers(const std::vector<Step>& steps, const OpDef& op,
                           const std::vector<TensorView>& views) {
  std::vector<int> found;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!views[i].is_present() || op.args[i].role == Role::out) continue;
    for (int s = static_cast<int>(steps.size()) - 1; s >= 0; --s) {
      const Step& step = steps[static_cast<std::size_t>(s)];
      bool writes = false;
      for (std::size_t j = 0; j < step.views.size(); ++j)
        writes = writes || (step.op->args[j].role != Role::in && step.views[j].is_present() &&
                            step.views[j].data == views[i].data);
      if (!writes) continue;
      if (std::ranges::find(found, s) == found.end()) found.push_back(s);
      break;
    }
  }
  return found;
}

}  // namespace

double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const Plan& PlanStore::plan(const OpDef& op, std::span<const TensorView> views,
                            std::span<const OptionValue> options) {
  Problem problem = bind(op, views, options);
  const std::string key = problem.text();
  auto& plan = plans_[key];
  if (!plan) plan = std::make_unique<Plan>(prepare(*registry_, problem, *device_));
  return *plan;
}

void* PlanStore::workspace() {
  std::int64_t bytes = 0;
  for (const auto& [key, plan] : plans_) bytes = std::max(bytes, plan->workspace_bytes());
  if (!workspace_ || workspace_->bytes() < bytes)
    workspace_ = std::make_unique<DeviceMemory>(*device_, bytes);
  return workspace_->data();
}

std::vector<const Plan*> PlanStore::plans() const {
  std::vector<const Plan*> list;
  for (const auto& [key, plan] : plans_) list.push_back(plan.get());
  std::ranges::sort(list, {}, [](const Plan* plan) { return plan->problem().text(); });
  return list;
}

void Program::add(StepRole role, std::string_view op_name, std::vector<NamedView> named,
                  std::span<const OptionValue> options) {
  const OpDef& op = *store_->registry().operation(op_name).def;
  std::vector<TensorView> views = in_order(op, named);
  std::vector<int> reads = producers(steps_, op, views);
  const Plan& plan = store_->plan(op, views, options);
  steps_.push_back({std::move(role), &op, &plan, std::move(views), std::move(reads)});
}

void Program::run(Stream& stream) const {
  const Context context{.stream = &stream, .workspace = store_->workspace()};
  for (const Step& step : steps_) step.plan->run(context, step.views);
}

void Program::run(Stream& stream, Timeline& capture, int pass, double origin_us) const {
  const Context context{.stream = &stream, .workspace = store_->workspace()};
  const auto first = static_cast<int>(capture.events.size());
  std::vector<std::pair<double, double>> times(steps_.size());
  std::map<const KernelDef*, bool> proven;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    times[i].first = now_us();
    steps_[i].plan->run(context, steps_[i].views);
    stream.synchronise();
    times[i].second = now_us();
  }
  const DeviceProperties& device = stream.device().properties();
  // After the pass, so that what is slow to say does not stand between the steps.
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    TimelineEvent event{.op = step.op->name,
                        .kernel = step.plan->kernel().id(),
                        .problem = step.plan->problem().text(),
                        .role = step.role.name,
                        .layer = step.role.layer,
                        .pass = pass,
                        .cost = cost_of(step),
                        .start_us = times[i].first - origin_us,
                        .end_us = times[i].second - origin_us};
    for (const int read : step.reads) event.reads.push_back(first + read);
    event.output_stays = std::ranges::any_of(
        step.op->args, [](const ArgDef& arg) { return arg.role == Role::inout; });
    const auto [proof, is_new] = proven.try_emplace(&step.plan->kernel());
    if (is_new)
      proof->second = proof_state(*step.op, step.plan->kernel(), device) == ProofState::current;
    event.is_proven = proof->second;
    capture.events.push_back(std::move(event));
  }
}

Cost cost_of(const Step& step) {
  const Problem& problem = step.plan->problem();
  Problem of_integers = problem;  // costs depend on nothing else, and the rest is large
  for (ArgChoice& arg : of_integers.args)
    arg.is_present = arg.is_present && !arg.is_output && arg.dtype == DType::i32;
  Values data(of_integers);
  for (std::size_t i = 0; i < step.views.size(); ++i)
    if (of_integers.args[i].is_present)
      load_view(step.views[i], data[of_integers.args[i].name].values);
  return step.op->cost(problem, &data);
}

}  // namespace rooftile
