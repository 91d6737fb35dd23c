// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/call.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rooftile/op/dispatch.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostPlans = 512;

struct Ready {
  Plan plan;
  bool is_captured = false;
  std::optional<DeviceMemory> workspace{};
};

// The plans of a thread. What a graph was captured of is kept for ever: a replay uses the plan's
// memory, and nobody tells when there will be none.
class Plans {
 public:
  Plans() = default;
  ~Plans() { clear(); }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  Ready* find(const std::string& key) {
    const auto found = plans_.find(key);
    return found == plans_.end() ? nullptr : found->second.get();
  }
  Ready* keep(const std::string& key, std::unique_ptr<Ready> ready) {
    if (plans_.size() >= kMostPlans) clear();
    return plans_.emplace(key, std::move(ready)).first->second.get();
  }

 private:
  void clear() {
    static std::mutex mutex;
    static auto& captured = *new std::vector<std::unique_ptr<Ready>>;
    const std::lock_guard lock(mutex);
    for (auto& [key, ready] : plans_)
      if (ready->is_captured) captured.push_back(std::move(ready));
    plans_.clear();
  }

  std::unordered_map<std::string, std::unique_ptr<Ready>> plans_;
};

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_scaling(std::string& key, const Scaling& scaling) {
  append(key, scaling.layout);
  for (const std::int64_t extent : scaling.block) append(key, extent);
  for (const TensorView* part : {&scaling.scale, &scaling.zero_point, &scaling.second_scale}) {
    append(key, part->is_present());
    append(key, part->dtype);
  }
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
    // Some kernels need aligned addresses.
    append(key, reinterpret_cast<std::uintptr_t>(view.data) % 16);
    for (const std::int64_t extent : view.shape) append(key, extent);
    for (const std::int64_t stride : view.strides) append(key, stride);
    if (view.scaling != nullptr) append_scaling(key, *view.scaling);
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
  thread_local Plans plans;
  Device& device = stream.device();
  const std::string key = key_of(op, stream, views, options);
  Ready* ready = plans.find(key);
  if (ready == nullptr) {
    Plan plan = prepare(registry, problem_of(registry, op, views, options), device);
    auto made = std::make_unique<Ready>(Ready{.plan = std::move(plan)});
    if (const std::int64_t bytes = made->plan.workspace_bytes(); bytes > 0)
      made->workspace.emplace(device, bytes);
    ready = plans.keep(key, std::move(made));
  }
  ready->is_captured |= stream.is_capturing();
  ready->plan.run(
      {.stream = &stream, .workspace = ready->workspace ? ready->workspace->data() : nullptr},
      views);
}

}  // namespace rooftile
