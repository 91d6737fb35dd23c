// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/call.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "rooftile/op/dispatch.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostPlans = 512;

struct Ready {
  Plan plan;
  // Why only where there is one: while a graph is captured, as on a stream that PyTorch makes for
  // it, a GPU's memory cannot be allocated.
  std::optional<DeviceMemory> workspace{};
};

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Everything that the choice of plan depends on, as bytes.
// Why the stream: what runs on two of them may overlap, and must not share a workspace.
std::string key_of(std::string_view op, const Stream& stream, std::span<const TensorView> views,
                   std::span<const OptionValue> options) {
  std::string key(op);
  append(key, *stream.device().life());
  append(key, stream.native());
  for (const TensorView& view : views) {
    key += view.is_present() ? '1' : '0';
    if (!view.is_present()) continue;
    append(key, view.dtype);
    for (const std::int64_t extent : view.shape) append(key, extent);
    for (const std::int64_t stride : view.strides) append(key, stride);
    for (std::size_t i = 0; i < views.size(); ++i)
      if (&views[i] != &view && views[i].data == view.data) append(key, i);
  }
  for (const OptionValue& option : options)
    key.append(option.name).append("=").append(option.value);
  return key;
}

Problem problem_of(const Registry& registry, std::string_view op, std::span<const TensorView> views,
                   std::span<const OptionValue> options) {
  const std::size_t slash = op.find('/');
  Problem problem = bind(*registry.operation(op.substr(0, slash)).def, views, options);
  if (slash != std::string_view::npos) problem.kernel = op.substr(slash + 1);
  return problem;
}

}  // namespace

void call(const Registry& registry, std::string_view op, Stream& stream,
          std::span<const TensorView> views, std::span<const OptionValue> options) {
  thread_local std::unordered_map<std::string, std::unique_ptr<Ready>> plans;
  Device& device = stream.device();
  const std::string key = key_of(op, stream, views, options);
  auto found = plans.find(key);
  if (found == plans.end()) {
    if (plans.size() >= kMostPlans) plans.clear();
    Plan plan = prepare(registry, problem_of(registry, op, views, options), device);
    auto ready = std::make_unique<Ready>(Ready{.plan = std::move(plan)});
    if (const std::int64_t bytes = ready->plan.workspace_bytes(); bytes > 0)
      ready->workspace.emplace(device, bytes);
    found = plans.emplace(key, std::move(ready)).first;
  }
  const Ready& ready = *found->second;
  ready.plan.run(
      {.stream = &stream, .workspace = ready.workspace ? ready.workspace->data() : nullptr}, views);
}

}  // namespace rooftile
