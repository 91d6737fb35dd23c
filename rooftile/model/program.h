// SPDX-License-Identifier: Apache-2.0
// A forward pass as data: operations prepared on the tensors that they will run on. Built once for
// a shape, run for every token of it; whoever wants to know what it does reads it or captures it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/registry.h"

namespace ROOFTILE_API rooftile {

/// An argument of a step by its name.
struct NamedView {
  std::string_view name;
  TensorView view;
};

/// What a step is in the model.
struct StepRole {
  std::string name;  // "ffn_up"
  int layer = -1;    // -1: outside the layers
};

/// One operation, ready to run.
struct Step {
  StepRole role;
  const OpDef* op = nullptr;
  const Plan* plan = nullptr;
  std::vector<TensorView> views{};  // one for each declared argument
  std::vector<int> reads{};         // the steps before it whose outputs it reads
};

/// When a step ran, in microseconds of now_us().
struct StepTime {
  double start_us = 0;
  double end_us = 0;
};

/// Plans by their problem: the layers of a model share them.
class PlanStore {
 public:
  PlanStore(const Registry& registry, Device& device) : registry_(&registry), device_(&device) {}

  /// Chooses and prepares at the first call for this problem. Throws as bind() and choose() do.
  const Plan& plan(const OpDef& op, std::span<const TensorView> views,
                   std::span<const OptionValue> options);

  /// At least what every plan so far needs; shared by all, since a stream runs one at a time.
  void* workspace();

  /// All plans made so far.
  [[nodiscard]] std::vector<const Plan*> plans() const;
  [[nodiscard]] const Registry& registry() const { return *registry_; }
  [[nodiscard]] Device& device() const { return *device_; }

 private:
  const Registry* registry_;
  Device* device_;
  std::unordered_map<std::string, std::unique_ptr<Plan>> plans_;
  std::unique_ptr<DeviceMemory> workspace_;
};

class Program {
 public:
  explicit Program(PlanStore& store) : store_(&store) {}

  /// Appends an operation. Arguments that are not named are absent.
  void add(StepRole role, std::string_view op, std::vector<NamedView> views,
           std::span<const OptionValue> options = {});

  /// Runs all steps in order on `stream`. With `times`, one for each step, waits for each.
  void run(Stream& stream) const;
  void run(Stream& stream, std::span<StepTime> times) const;

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  /// The integer tensors that steps read, each once: what their costs depend on besides shapes.
  [[nodiscard]] const std::vector<TensorView>& integers() const { return integers_; }

 private:
  PlanStore* store_;
  std::vector<Step> steps_;
  std::vector<TensorView> integers_{};
};

/// A step's cost with the data that its tensors hold now (lengths, ids), read on the host.
Cost cost_of(const Step& step);

/// A clock for captures: microseconds, monotonic.
double now_us();

}  // namespace rooftile
