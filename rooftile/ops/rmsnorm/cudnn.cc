// SPDX-License-Identifier: Apache-2.0
// NVIDIA's cuDNN, loaded at run time: the yardstick of normalisation on its GPUs. Its graph
// interface has it as one operation; which of its engines runs is fixed in prepare().
#include "rooftile/ops/cudnn_norm.h"

namespace rooftile::ops::rmsnorm {
namespace {

constexpr CudnnNormKind kKind = CudnnNormKind::root_mean_square;

Support takes(const Problem& problem, const DeviceProperties& device) {
  if (problem.number("weight_offset") != 0)
    return unsupported("weight_offset: cuDNN's normalisation adds none to w");
  if (problem.option("round") != "late")
    return unsupported("round=early: cuDNN rounds once, at the end");
  return takes_cudnn_norm(kKind, problem, device);
}

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
    .configs =
        [](const Problem& problem, const DeviceProperties& device) {
          return cudnn_norm_configs(kKind, problem, device);
        },
    .prepare =
        [](const Problem& problem, Device& device, const Config& config) {
          return prepare_cudnn_norm(kKind, problem, device, config);
        },
};

}  // namespace rooftile::ops::rmsnorm
