// SPDX-License-Identifier: Apache-2.0
// NVIDIA's cuDNN, loaded at run time: the yardstick of normalisation on its GPUs. Its graph
// interface has it as one operation; which of its engines runs is fixed in prepare(). Why not its
// layer normalisation: its variance cancels where rows lie far from zero, and verify fails.
#include <memory>
#include <string>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/ops/cudnn_rows.h"
#if ROOFTILE_WITH_CUDA
#include "rooftile/device/cuda/cudnn_norm.h"
#endif

namespace rooftile::ops::rmsnorm {
namespace {

Support takes_without_asking(const Problem& problem, const DeviceProperties& device) {
  if (problem.has("residual")) return unsupported("residual: cuDNN's normalisation adds none");
  if (problem.number("weight_offset") != 0)
    return unsupported("weight_offset: cuDNN's normalisation adds none to w");
  if (problem.option("round") != "late")
    return unsupported("round=early: cuDNN rounds once, at the end");
  if (!problem.arg("y").alias.empty())
    return unsupported("y shares memory with x, which cuDNN does not say that it allows");
  // Why the data: what else would tell is in the device's memory.
  if (problem.data == "extreme" && problem.dtype("x") != DType::fp16)
    return unsupported("data=extreme: cuDNN's sums of squares are f32 and may leave its range");
  return takes_cudnn_rows(problem, device, {"w"});
}

#if ROOFTILE_WITH_CUDA

cudnn::DataType type_of(DType type) {
  return type == DType::bf16   ? cudnn::kBfloat16
         : type == DType::fp16 ? cudnn::kHalf
                               : cudnn::kFloat;
}

CudnnNorm norm_of(const Problem& problem) {
  return {.type = type_of(problem.dtype("x")),
          .w_type = type_of(problem.dtype("w")),
          .rows = problem.axis("rows"),
          .cols = problem.axis("cols"),
          .eps = static_cast<float>(problem.number("eps"))};
}

std::shared_ptr<CudnnNormEngines> engines_for(const Problem& problem,
                                              const DeviceProperties& device) {
  return cudnn_norm_engines(cudnn_device(cuda_index(device)), norm_of(problem));
}

Support takes(const Problem& problem, const DeviceProperties& device) {
  if (Support plain = takes_without_asking(problem, device); !plain) return plain;
  try {
    (void)engines_for(problem, device);
    return supported();
  } catch (const Error& error) {  // it has no engine or does not start here: kernels of ours may
    return unsupported(error.what());
  }
}

std::vector<Config> configs(const Problem& problem, const DeviceProperties& device) {
  return cudnn_configs(static_cast<std::int64_t>(engines_for(problem, device)->count()));
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  CudnnDevice& gpu = cudnn_device(cuda_index(device.properties()));
  const auto engines = engines_for(problem, device.properties());
  const auto number = static_cast<std::size_t>(config.at("candidate"));
  if (number >= engines->count())
    throw Error(ErrorCode::unsupported, problem.op + "/cudnn: candidate " + std::to_string(number) +
                                            " of " + std::to_string(engines->count()));
  const std::shared_ptr<const CudnnNormPlan> plan = [&] {
    const CudnnTurn turn(gpu, nullptr);
    return engines->plan(number);
  }();
  const auto run = [=, &gpu](const Context& context, const Arguments& args) {
    check_cudnn_addresses(args, {"x", "y", "w"});
    plan->run(gpu, static_cast<cudaStream_t>(context.stream->native()), context.workspace,
              args["x"].data, args["y"].data, args["w"].data);
  };
  return {.run = run, .workspace_bytes = plan->workspace_bytes()};
}

#else

Support takes(const Problem& problem, const DeviceProperties& device) {
  return takes_without_asking(problem, device);  // which says that there is no CUDA
}

std::vector<Config> configs(const Problem&, const DeviceProperties&) { return {}; }

Prepared prepare(const Problem&, Device&, const Config&) {
  throw Error(ErrorCode::unsupported, "built without CUDA (ROOFTILE_WITH_CUDA)");
}

#endif

}  // namespace

extern const KernelDef cudnn;
const KernelDef cudnn{
    .op = "rmsnorm",
    .name = "cudnn",
    .idea = "NVIDIA's cuDNN: its graph interface's normalisation, the engine fixed when prepared",
    .target = Target::sm80,
    .calls_vendor_library = true,
    // NVIDIA cuDNN, "Reproducibility (Determinism)": the same bits every run on one kind of GPU; no
    // normalisation is among the exceptions.
    .determinism = Determinism::repeatable,
    .supports = takes,
    .configs = configs,
    .prepare = prepare,
};

}  // namespace rooftile::ops::rmsnorm
