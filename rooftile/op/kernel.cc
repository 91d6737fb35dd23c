// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/kernel.h"

#include <array>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {

std::string_view name(Target target) {
  static constexpr std::array<std::string_view, 5> kNames{"cpu", "sm80", "sm90", "sm100", "sm120"};
  return kNames.at(static_cast<std::size_t>(target));
}

bool runs_on(Target target, const DeviceProperties& device) {
  if (target == Target::cpu) return device.kind.starts_with("cpu");
  std::string_view kind = device.kind;
  if (kind.starts_with("sim-")) kind.remove_prefix(4);  // a simulated GPU runs what the GPU runs
  if (target == Target::sm80) return kind.starts_with("sm");  // the portable kernels
  return kind == name(target);
}

const TensorView& Arguments::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < problem_->args.size(); ++i)
    if (problem_->args[i].name == name) return views_[i];
  throw Error(ErrorCode::internal, "a kernel asked for argument '" + std::string(name) +
                                       "', which its operation does not declare");
}

std::int64_t Config::at(std::string_view name) const {
  for (const auto& [known, value] : values)
    if (known == name) return value;
  throw Error(ErrorCode::internal, "configuration has no '" + std::string(name) + "'");
}

std::string Config::text() const {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) parts.push_back(name + "=" + std::to_string(value));
  return join(parts, " ");
}

Support supports(const KernelDef& kernel, const Problem& problem, const DeviceProperties& device) {
  if (!runs_on(kernel.target, device))
    return unsupported("runs on " + std::string(name(kernel.target)) + ", not on " + device.id);
  return kernel.supports(problem, device);
}

}  // namespace rooftile
