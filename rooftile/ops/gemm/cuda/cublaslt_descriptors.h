// SPDX-License-Identifier: Apache-2.0
// A call of gemm in cuBLASLt's own descriptors, which the library fills in place: nothing is
// allocated, and no GPU is needed.
#pragma once

#include "rooftile/device/cuda/cublaslt.h"
#include "rooftile/ops/gemm/cublaslt_call.h"

#if ROOFTILE_HAS_CUBLASLT
namespace rooftile::ops::gemm {

struct CublasLtDescriptors {
  cublasLtMatmulDescOpaque_t matmul{};
  cublasLtMatrixLayoutOpaque_t b{}, a{}, residual{}, d{};
  cublasLtMatmulPreferenceOpaque_t preference{};
};

/// Throws Error(device) for what the library refuses. Only where cublaslt_library().reason is
/// empty.
CublasLtDescriptors cublaslt_descriptors(const CublasLtCall& call);

/// The product alone, with the address of this run's bias.
void describe_cublaslt_product(cublasLtMatmulDescOpaque_t& matmul, const CublasLtCall& call,
                               const void* bias);

}  // namespace rooftile::ops::gemm
#endif
