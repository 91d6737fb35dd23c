// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: what a stream launches, captured and instantiated.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "rooftile/device/cuda/context.h"
#include "rooftile/device/device.h"

namespace rooftile {

/// As Stream::capture(). Launches that may overlap (LaunchShape::programmatic_overlap) keep doing
/// so.
std::unique_ptr<Graph> capture_cuda_graph(const Device& device, CudaContext& context,
                                          cudaStream_t stream,
                                          const std::function<void()>& launches);

}  // namespace rooftile
