// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/c_kernel.h"

#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <string_view>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

constexpr int kMostTensors = 32;

static_assert(sizeof(RooftileCTensor::shape) == sizeof(std::int64_t) * kMaxRank);
// What stands in a buffer that a plugin has filled, or has not.
std::string text_in(const char* buffer, std::size_t bytes, const char* otherwise) {
  const std::string text(buffer, strnlen(buffer, bytes));
  return text.empty() ? otherwise : text;
}

const Problem& problem_of(const RooftileCProblem* self) {
  return *static_cast<const Problem*>(self->handle);
}

const ArgChoice* find_arg(const RooftileCProblem* self, const char* name) {
  for (const ArgChoice& arg : problem_of(self).args)
    if (arg.is_present && arg.name == name) return &arg;
  return nullptr;
}

std::int64_t axis(const RooftileCProblem* self, const char* name) {
  for (const auto& [known, extent] : problem_of(self).axes)
    if (known == name) return extent;
  return -1;
}

const char* option(const RooftileCProblem* self, const char* name) {
  for (const OptionChoice& choice : problem_of(self).options)
    if (choice.name == name) return choice.value.c_str();
  return nullptr;
}

double number(const RooftileCProblem* self, const char* name) {
  const char* text = option(self, name);
  return text == nullptr ? std::nan("") : parse_number(text).value_or(std::nan(""));
}

std::int32_t dtype(const RooftileCProblem* self, const char* name) {
  const ArgChoice* arg = find_arg(self, name);
  return arg == nullptr ? -1 : static_cast<std::int32_t>(arg->dtype);
}

const char* alias(const RooftileCProblem* self, const char* name) {
  const ArgChoice* arg = find_arg(self, name);
  return arg == nullptr || arg->alias.empty() ? nullptr : arg->alias.c_str();
}

RooftileCTensor c_tensor(const ArgChoice& arg, void* data) {
  RooftileCTensor tensor{.size = sizeof(RooftileCTensor),
                         .name = arg.name.c_str(),
                         .data = data,
                         .dtype = static_cast<std::int32_t>(arg.dtype),
                         .rank = arg.shape.rank(),
                         .shape = {},
                         .strides = {}};
  std::copy(arg.shape.begin(), arg.shape.end(), tensor.shape);
  std::copy(arg.strides.begin(), arg.strides.end(), tensor.strides);
  return tensor;
}

int tensor(const RooftileCProblem* self, const char* name, RooftileCTensor* result) {
  const ArgChoice* arg = find_arg(self, name);
  if (arg == nullptr) return 1;
  // Only as much as the caller knows of.
  const std::size_t size = std::min(result->size, sizeof(RooftileCTensor));
  const RooftileCTensor described = c_tensor(*arg, nullptr);
  std::memcpy(result, &described, size);
  result->size = size;
  return 0;
}

// `device_kind` must outlive the result.
RooftileCProblem c_problem(const Problem& problem, const char* device_kind, int compute_units) {
  return {.size = sizeof(RooftileCProblem),
          .handle = &problem,
          .op = problem.op.c_str(),
          .device_kind = device_kind,
          .compute_units = compute_units,
          .num_tensors = static_cast<std::int32_t>(problem.args.size()),
          .axis = axis,
          .option = option,
          .number = number,
          .dtype = dtype,
          .tensor = tensor,
          .alias = alias};
}

// Behind RooftileCContext::handle. An exception must not pass through the plugin's frames.
struct Run {
  Stream* stream;
  std::exception_ptr error{};
};

void parallel_for(const RooftileCContext* self, std::int64_t n, void (*body)(void*, std::int64_t),
                  void* user) {
  auto& run = *static_cast<Run*>(self->handle);
  try {
    run.stream->launch(n, [&](std::int64_t i) { body(user, i); });
  } catch (...) {
    run.error = std::current_exception();
  }
}

// One prepared run; allocates nothing when called.
struct PreparedRun {
  const RooftileCKernel* kernel;
  std::string device_kind{};
  int compute_units = 0;
  std::int64_t workspace_bytes = 0;

  void operator()(const Context& context, const Arguments& args) const {
    const Problem& problem = args.problem();
    std::array<RooftileCTensor, kMostTensors> tensors;
    std::array<const RooftileCTensor*, kMostTensors> pointers;
    for (std::size_t i = 0; i < problem.args.size(); ++i) {
      const ArgChoice& arg = problem.args[i];
      tensors.at(i) = c_tensor(arg, arg.is_present ? args[arg.name].data : nullptr);
      pointers.at(i) = &tensors.at(i);
    }
    Run state{.stream = context.stream};
    std::array<char, 512> message{};
    const bool is_cpu = std::string_view(kernel->target) == "cpu";
    const RooftileCContext given{.size = sizeof(RooftileCContext),
                                 .handle = &state,
                                 .stream = context.stream->native(),
                                 .workspace = context.workspace,
                                 .workspace_bytes = workspace_bytes,
                                 .rank = context.group.rank,
                                 .num_ranks = context.group.size,
                                 .parallel_for = is_cpu ? parallel_for : nullptr,
                                 .message = message.data(),
                                 .message_bytes = message.size()};
    const RooftileCProblem posed = c_problem(problem, device_kind.c_str(), compute_units);
    const int status = kernel->run(&given, pointers.data(), posed.num_tensors, &posed);
    if (state.error) std::rethrow_exception(state.error);
    if (status == 0) return;
    throw Error(ErrorCode::device, std::string(kernel->op) + "/" + kernel->name + ": " +
                                       text_in(message.data(), message.size(), "no message") +
                                       " (status " + std::to_string(status) + ")");
  }
};

}  // namespace

Support ask_c_kernel(const RooftileCKernel& kernel, const Problem& problem,
                     const DeviceProperties& device) {
  if (problem.args.size() > kMostTensors)
    return unsupported("the C interface passes at most 32 tensors");
  for (const ArgChoice& arg : problem.args)
    if (arg.is_present && arg.scaling)
      return unsupported("the C interface passes no block scales ('" + arg.name + "' has them)");
  const RooftileCProblem given = c_problem(problem, device.kind.c_str(), device.compute_units);
  std::array<char, 512> reason{};
  if (kernel.supports(&given, reason.data(), reason.size()) == 0) return supported();
  return unsupported(text_in(reason.data(), reason.size(), "the plugin gives no reason"));
}

Prepared prepare_c_kernel(const RooftileCKernel& kernel, const Problem& problem, Device& device) {
  const DeviceProperties& properties = device.properties();
  PreparedRun run{&kernel, properties.kind, properties.compute_units};
  if (kernel.workspace_bytes != nullptr) {
    const RooftileCProblem given = c_problem(problem, run.device_kind.c_str(), run.compute_units);
    run.workspace_bytes = kernel.workspace_bytes(&given);
    if (run.workspace_bytes < 0)
      throw Error(ErrorCode::device, std::string(kernel.op) + "/" + kernel.name +
                                         ": asks for a workspace of " +
                                         std::to_string(run.workspace_bytes) + " bytes");
  }
  const std::int64_t bytes = run.workspace_bytes;
  return {.run = std::move(run), .workspace_bytes = bytes};
}

}  // namespace rooftile
