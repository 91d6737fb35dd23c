// SPDX-License-Identifier: Apache-2.0
// One fault for each definition of FAULT_*, as CMakeLists.txt builds them.
#include <rooftile/op/plugin.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace {

using namespace rooftile;

// Right, but for the last column of rows of an odd length, which keeps what was there.
void run(const Context& context, const Arguments& args) {
  const TensorView& y = args["y"];
  const TensorView& x = args["x"];
  const std::int64_t cols = args.problem().axis("cols");
  const double scale = args.problem().number("scale");
  context.stream->launch(args.problem().axis("rows"), [&](std::int64_t r) {
    const auto at = [&](std::int64_t c) {
      return scale * x.as<const float>()[r * x.stride(0) + c * x.stride(1)];
    };
    double most = -HUGE_VAL;
    double sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) most = std::max(most, at(c));
    for (std::int64_t c = 0; c < cols; ++c) sum += std::exp(at(c) - most);
    for (std::int64_t c = 0; c < cols - cols % 2; ++c)
      y.as<float>()[r * y.stride(0) + c * y.stride(1)] =
          static_cast<float>(std::exp(at(c) - most) / sum);
  });
}

const KernelDef kernel{
    .op = "softmax",
    .name = "cpu_faulty",
    .idea = "none",
    .supports =
        [](const Problem& problem, const DeviceProperties&) {
          const bool is_f32 = problem.dtype("x") == DType::f32 && problem.dtype("y") == DType::f32;
          return is_f32 && !problem.has("lengths") ? supported() : unsupported("whole rows of f32");
        },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

[[maybe_unused]] void add(Registry& registry) {
#if defined(FAULT_half_way)
  registry.add(kernel);
  throw std::runtime_error("planted");
#elif defined(FAULT_not_constant)
  static KernelDef* made = new KernelDef(kernel);
  registry.add(*made);
#elif defined(FAULT_nothing)
  (void)registry;
#else
  registry.add(kernel);
#endif
}

}  // namespace

#if defined(FAULT_other_contract) || defined(FAULT_other_layout) || defined(FAULT_no_info)
extern "C" {
[[gnu::visibility("default")]] void rooftile_plugin(Registry& registry) { add(registry); }
#if defined(FAULT_other_contract)
extern const PluginInfo rooftile_plugin_info;
const PluginInfo rooftile_plugin_info{.contract = 999};
#elif defined(FAULT_other_layout)
extern const PluginInfo rooftile_plugin_info;
const PluginInfo rooftile_plugin_info{.layout = {1, 2, 3, 4, 5, 6}};
#endif
}
#else
ROOFTILE_PLUGIN(registry) { add(registry); }
#endif
