// SPDX-License-Identifier: Apache-2.0
// What kernels by cuDNN's normalisation of rows share. They have arguments x, y, w and, where a
// mean is subtracted, b; and the option eps. The configurations are cuDNN's engines.
#pragma once

#include <vector>

#include "rooftile/op/kernel.h"

namespace rooftile::ops {

enum class CudnnNormKind : std::uint8_t { root_mean_square, layer };

/// Asks cuDNN's heuristics, after what can be told without it.
Support takes_cudnn_norm(CudnnNormKind kind, const Problem& problem,
                         const DeviceProperties& device);

/// The two below for problems that it takes.
std::vector<Config> cudnn_norm_configs(CudnnNormKind kind, const Problem& problem,
                                       const DeviceProperties& device);
Prepared prepare_cudnn_norm(CudnnNormKind kind, const Problem& problem, Device& device,
                            const Config& config);

}  // namespace rooftile::ops
