// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/recording.h"

#include <algorithm>
#include <map>

#include "rooftile/op/proof.h"

namespace rooftile {
namespace {

// The step with its integers as they were.
Step as_it_was(Step step, const std::vector<TensorView>& integers,
               const std::vector<std::int32_t>& values) {
  const std::int32_t* next = values.data();
  for (const TensorView& kept : integers) {
    for (TensorView& view : step.views)
      if (view.is_present() && view.data == kept.data) view.data = const_cast<std::int32_t*>(next);
    next += num_elements(kept.shape);
  }
  return step;
}

}  // namespace

void Recording::run(std::shared_ptr<const Program> program, Stream& stream,
                    const std::string& phase, std::int64_t tokens, double start_us) {
  Pass pass{.entry = {.phase = phase, .tokens = tokens, .start_us = start_us - origin_us_},
            .times = std::vector<StepTime>(program->steps().size())};
  program->run(stream, pass.times);
  pass.entry.end_us = now_us() - origin_us_;
  for (const TensorView& view : program->integers())
    pass.integers.insert(pass.integers.end(), view.as<std::int32_t>(),
                         view.as<std::int32_t>() + num_elements(view.shape));
  pass.program = std::move(program);
  passes_.push_back(std::move(pass));
}

void Recording::append_to(Timeline& timeline, const DeviceProperties& device) const {
  std::map<const KernelDef*, bool> proven;
  for (const Pass& pass : passes_) {
    const auto first = static_cast<int>(timeline.events.size());
    const std::vector<Step>& steps = pass.program->steps();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      const KernelDef& kernel = step.plan->kernel();
      const auto [proof, is_new] = proven.try_emplace(&kernel);
      if (is_new) proof->second = proof_state(*step.op, kernel, device) == ProofState::current;
      TimelineEvent event{.op = step.op->name,
                          .kernel = kernel.id(),
                          .problem = step.plan->problem().text(),
                          .role = step.role.name,
                          .layer = step.role.layer,
                          .pass = static_cast<int>(timeline.passes.size()),
                          .cost = cost_of(as_it_was(step, pass.program->integers(), pass.integers)),
                          .start_us = pass.times[i].start_us - origin_us_,
                          .end_us = pass.times[i].end_us - origin_us_};
      for (const int read : step.reads) event.reads.push_back(first + read);
      event.output_stays = std::ranges::any_of(
          step.op->args, [](const ArgDef& arg) { return arg.role == Role::inout; });
      event.is_proven = proof->second;
      timeline.events.push_back(std::move(event));
    }
    timeline.passes.push_back(pass.entry);
  }
}

}  // namespace rooftile
