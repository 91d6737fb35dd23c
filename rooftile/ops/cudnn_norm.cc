// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/cudnn_norm.h"

#include <memory>
#include <string>

#include "rooftile/base/error.h"
#include "rooftile/ops/cudnn_rows.h"
#if ROOFTILE_WITH_CUDA
#include "rooftile/device/cuda/cudnn_norm.h"
#endif

namespace rooftile::ops {
namespace {

Support takes_without_asking(CudnnNormKind kind, const Problem& problem,
                             const DeviceProperties& device) {
  const bool is_layer = kind == CudnnNormKind::layer;
  if (problem.has("residual")) return unsupported("residual: cuDNN's normalisation adds none");
  if (is_layer && (!problem.has("w") || !problem.has("b")))
    return unsupported("cuDNN's needs both w and b");
  if (is_layer && problem.dtype("w") != problem.dtype("b"))
    return unsupported("w and b must have one type");
  if (!problem.arg("y").alias.empty())
    return unsupported("y shares memory with x, which cuDNN does not say that it allows");
  // Why the data: what else would tell is in the device's memory.
  if (problem.data == "extreme" && problem.dtype("x") != DType::fp16)
    return unsupported("data=extreme: cuDNN's sums of squares are f32 and may leave its range");
  return is_layer ? takes_cudnn_rows(problem, device, {"w", "b"})
                  : takes_cudnn_rows(problem, device, {"w"});
}

#if ROOFTILE_WITH_CUDA

cudnn::DataType type_of(DType type) {
  return type == DType::bf16   ? cudnn::kBfloat16
         : type == DType::fp16 ? cudnn::kHalf
                               : cudnn::kFloat;
}

CudnnNorm norm_of(CudnnNormKind kind, const Problem& problem) {
  const bool is_layer = kind == CudnnNormKind::layer;
  return {.mode = is_layer ? cudnn::kLayerNorm : cudnn::kRmsNorm,
          .type = type_of(problem.dtype("x")),
          .w_type = type_of(problem.dtype("w")),
          .has_bias = is_layer,
          .rows = problem.axis("rows"),
          .cols = problem.axis("cols"),
          .eps = static_cast<float>(problem.number("eps"))};
}

std::shared_ptr<CudnnNormEngines> engines_for(CudnnNormKind kind, const Problem& problem,
                                              const DeviceProperties& device) {
  return cudnn_norm_engines(cudnn_device(cuda_index(device)), norm_of(kind, problem));
}

#endif

}  // namespace

#if ROOFTILE_WITH_CUDA

Support takes_cudnn_norm(CudnnNormKind kind, const Problem& problem,
                         const DeviceProperties& device) {
  if (Support plain = takes_without_asking(kind, problem, device); !plain) return plain;
  try {
    (void)engines_for(kind, problem, device);
    return supported();
  } catch (const Error& error) {  // it has no engine or does not start here: kernels of ours may
    return unsupported(error.what());
  }
}

std::vector<Config> cudnn_norm_configs(CudnnNormKind kind, const Problem& problem,
                                       const DeviceProperties& device) {
  return cudnn_configs(static_cast<std::int64_t>(engines_for(kind, problem, device)->count()));
}

Prepared prepare_cudnn_norm(CudnnNormKind kind, const Problem& problem, Device& device,
                            const Config& config) {
  CudnnDevice& gpu = cudnn_device(cuda_index(device.properties()));
  const auto engines = engines_for(kind, problem, device.properties());
  const auto number = static_cast<std::size_t>(config.at("candidate"));
  if (number >= engines->count())
    throw Error(ErrorCode::unsupported, problem.op + "/cudnn: candidate " + std::to_string(number) +
                                            " of " + std::to_string(engines->count()));
  const std::shared_ptr<const CudnnNormPlan> plan = [&] {
    const CudnnTurn turn(gpu, nullptr);
    return engines->plan(number);
  }();
  const bool has_bias = kind == CudnnNormKind::layer;
  const auto run = [=, &gpu](const Context& context, const Arguments& args) {
    check_cudnn_addresses(args, {"x", "y", "w"});
    if (has_bias) check_cudnn_addresses(args, {"b"});
    plan->run(gpu, static_cast<cudaStream_t>(context.stream->native()), context.workspace,
              args["x"].data, args["y"].data, args["w"].data, has_bias ? args["b"].data : nullptr);
  };
  return {.run = run, .workspace_bytes = plan->workspace_bytes()};
}

#else

Support takes_cudnn_norm(CudnnNormKind kind, const Problem& problem,
                         const DeviceProperties& device) {
  return takes_without_asking(kind, problem, device);  // which says that there is no CUDA
}

std::vector<Config> cudnn_norm_configs(CudnnNormKind, const Problem&, const DeviceProperties&) {
  return {};
}

Prepared prepare_cudnn_norm(CudnnNormKind, const Problem&, Device&, const Config&) {
  throw Error(ErrorCode::unsupported, "built without CUDA (ROOFTILE_WITH_CUDA)");
}

#endif

}  // namespace rooftile::ops
