// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/plan.h"

#include <cstdint>
#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/op/bind.h"

namespace rooftile {
namespace {

// What an argument without gaps occupies from its address on; 0 where there are gaps, in which
// others may lie.
std::int64_t dense_bytes_of(const ArgChoice& arg) {
  if (!arg.is_present) return 0;
  const OffsetRange range = offset_range(arg.shape, arg.strides);
  const std::int64_t elements = num_elements(arg.shape);
  return range.least == 0 && range.greatest + 1 == elements ? bytes_of(arg.dtype, elements) : 0;
}

bool overlap(const TensorView& a, std::int64_t a_bytes, const TensorView& b, std::int64_t b_bytes) {
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a.data);
  const auto b_begin = reinterpret_cast<std::uintptr_t>(b.data);
  return a_begin < b_begin + static_cast<std::uintptr_t>(b_bytes) &&
         b_begin < a_begin + static_cast<std::uintptr_t>(a_bytes);
}

// A kernel may rely on what the plan says of shared memory: an output shares that of its alias and
// of nothing else, and no part of it.
void check_aliases(const Problem& problem, std::span<const std::int64_t> dense_bytes,
                   std::span<const TensorView> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    const ArgChoice& output = problem.args[i];
    if (!output.is_output || !views[i].is_present() || num_elements(output.shape) == 0) continue;
    for (std::size_t j = 0; j < views.size(); ++j) {
      const std::string& other = problem.args[j].name;
      if (j == i) continue;
      const bool is_same = views[j].data == views[i].data;
      if (!is_same && dense_bytes[i] != 0 && dense_bytes[j] != 0 && views[j].is_present() &&
          overlap(views[i], dense_bytes[i], views[j], dense_bytes[j]))
        fail_input("output '" + output.name + "' overlaps '" + other + "' in part");
      if (is_same == (other == output.alias)) continue;
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
  for (const ArgChoice& arg : problem_.args) dense_bytes_.push_back(dense_bytes_of(arg));
}

void Plan::run(const Context& context, std::span<const TensorView> views) const {
  if (views.size() != problem_.args.size())
    fail_input(kernel_->id() + ": called with " + std::to_string(views.size()) +
               " tensors, the operation has " + std::to_string(problem_.args.size()));
  for (std::size_t i = 0; i < views.size(); ++i) check_view(problem_.args[i], views[i]);
  check_aliases(problem_, dense_bytes_, views);
  if (context.stream == nullptr) fail_input(kernel_->id() + ": no stream given");
  if (prepared_.workspace_bytes > 0 && context.workspace == nullptr)
    fail_input(kernel_->id() + ": needs a workspace of " +
               std::to_string(prepared_.workspace_bytes) + " bytes");
  prepared_.run(context, Arguments(problem_, views.data()));
}

}  // namespace rooftile
