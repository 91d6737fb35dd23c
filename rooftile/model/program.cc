// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/program.h"

#include <algorithm>
#include <chrono>

#include "rooftile/base/error.h"
#include "rooftile/op/dispatch.h"
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
  for (const TensorView& view : views)
    if (view.is_present() && view.dtype == DType::i32 &&
        std::ranges::find(integers_, view.data, &TensorView::data) == integers_.end())
      integers_.push_back(view);
  steps_.push_back({std::move(role), &op, &plan, std::move(views), std::move(reads)});
}

void Program::run(Stream& stream) const {
  const Context context{.stream = &stream, .workspace = store_->workspace()};
  for (const Step& step : steps_) step.plan->run(context, step.views);
}

void Program::run(Stream& stream, std::span<StepTime> times) const {
  const Context context{.stream = &stream, .workspace = store_->workspace()};
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    times[i].start_us = now_us();
    steps_[i].plan->run(context, steps_[i].views);
    stream.synchronise();
    times[i].end_us = now_us();
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
