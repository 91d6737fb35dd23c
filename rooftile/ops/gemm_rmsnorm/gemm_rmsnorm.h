// SPDX-License-Identifier: Apache-2.0
// A matrix product of normalised rows: the projection that follows a norm in a transformer's layer,
// and the last one to the vocabulary.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

struct GemmRmsnormOptions {
  double eps = 1e-6;      // inside the root
  int weight_offset = 0;  // added to w: 1 where the model stores w - 1
};

/// d = (a / sqrt(mean(a^2) + eps) * (w + weight_offset)) b, the mean over each row of a. d: [m, n],
/// a: [m, k], w: [k], b: [k, n]; f32, bf16 or fp16 each, accumulated in f32 and rounded once; a
/// kernel may round the normalised rows to a's type, as rmsnorm and gemm one after the other do. A
/// weight stored as [n, k] is passed as transposed(weight). More rows than two need a workspace,
/// which cannot be allocated while a graph is captured: call it once on that stream before. Throws
/// Error(bad_input) for shapes that do not agree.
void gemm_rmsnorm(Stream& stream, const TensorView& d, const TensorView& a, const TensorView& w,
                  const TensorView& b, const GemmRmsnormOptions& options = {});

}  // namespace rooftile
