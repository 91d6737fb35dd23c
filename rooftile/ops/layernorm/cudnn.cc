// SPDX-License-Identifier: Apache-2.0
// NVIDIA's cuDNN, loaded at run time: the yardstick of normalisation on its GPUs. Its graph
// interface has it as one operation; which of its engines runs is fixed in prepare().
#include "rooftile/ops/cudnn_norm.h"

namespace rooftile::ops::layernorm {
namespace {

constexpr CudnnNormKind kKind = CudnnNormKind::layer;

}  // namespace

extern const KernelDef cudnn;
const KernelDef cudnn{
    .op = "layernorm",
    .name = "cudnn",
    .idea = "NVIDIA's cuDNN: its graph interface's normalisation, the engine fixed when prepared",
    .target = Target::sm80,
    .calls_vendor_library = true,
    // NVIDIA cuDNN, "Reproducibility (Determinism)": the same bits every run on one kind of GPU; no
    // normalisation is among the exceptions.
    .determinism = Determinism::repeatable,
    .supports =
        [](const Problem& problem, const DeviceProperties& device) {
          return takes_cudnn_norm(kKind, problem, device);
        },
    .configs =
        [](const Problem& problem, const DeviceProperties& device) {
          return cudnn_norm_configs(kKind, problem, device);
        },
    .prepare =
        [](const Problem& problem, Device& device, const Config& config) {
          return prepare_cudnn_norm(kKind, problem, device, config);
        },
};

}  // namespace rooftile::ops::layernorm
