// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/gemm/cuda/cublaslt_descriptors.h"

#if ROOFTILE_HAS_CUBLASLT
namespace rooftile::ops::gemm {
namespace {

constexpr std::uint64_t kMostWorkspaceBytes = std::uint64_t{32} << 20;

cudaDataType type_of(DType dtype) {
  return dtype == DType::bf16 ? CUDA_R_16BF : dtype == DType::fp16 ? CUDA_R_16F : CUDA_R_32F;
}

void describe(cublasLtMatrixLayoutOpaque_t& layout, const ColumnMajor& matrix) {
  cublaslt_library().check(
      cublaslt_library().layout_init(&layout, sizeof(layout), type_of(matrix.dtype),
                                     static_cast<std::uint64_t>(matrix.rows),
                                     static_cast<std::uint64_t>(matrix.cols), matrix.ld),
      "describing a matrix");
}

template <class T>
void set(cublasLtMatmulDescOpaque_t& matmul, cublasLtMatmulDescAttributes_t attribute, T value) {
  cublaslt_library().check(cublaslt_library().matmul_set(&matmul, attribute, &value, sizeof(value)),
                           "describing the product");
}

template <class T>
void set(cublasLtMatmulPreferenceOpaque_t& preference,
         cublasLtMatmulPreferenceAttributes_t attribute, T value) {
  cublaslt_library().check(
      cublaslt_library().preference_set(&preference, attribute, &value, sizeof(value)),
      "describing what algorithms will do");
}

void describe_preference(cublasLtMatmulPreferenceOpaque_t& preference, const CublasLtCall& call) {
  const auto alignment = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                             const ColumnMajor& matrix) {
    set(preference, attribute, static_cast<std::uint32_t>(matrix.alignment));
  };
  cublaslt_library().check(cublaslt_library().preference_init(&preference, sizeof(preference)),
                           "describing what algorithms will do");
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspaceBytes);
  // Why: the other two ways to add up parts of k round each part to the type of d.
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, call.b);
  alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, call.a);
  alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, call.residual);
  alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, call.d);
}

}  // namespace

// The sum is f32 whatever the operands; of f32 they are multiplied as they are, not as tf32.
void describe_cublaslt_product(cublasLtMatmulDescOpaque_t& matmul, const CublasLtCall& call,
                               const void* bias) {
  const auto operation = [](bool transposes) -> std::int32_t {
    return transposes ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  cublaslt_library().check(
      cublaslt_library().matmul_init(&matmul, sizeof(matmul), CUBLAS_COMPUTE_32F, CUDA_R_32F),
      "describing the product");
  set(matmul, CUBLASLT_MATMUL_DESC_TRANSA, operation(call.transposes_b));
  set(matmul, CUBLASLT_MATMUL_DESC_TRANSB, operation(call.transposes_a));
  const std::uint32_t epilogue =
      call.has_bias ? (call.has_relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                    : (call.has_relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
  set(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  if (call.has_bias) set(matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
}

CublasLtDescriptors cublaslt_descriptors(const CublasLtCall& call) {
  CublasLtDescriptors all;
  // The heuristic reads the alignment off the address of the bias.
  describe_cublaslt_product(all.matmul, call, reinterpret_cast<const void*>(call.bias_alignment));
  describe(all.b, call.b);
  describe(all.a, call.a);
  describe(all.residual, call.residual);
  describe(all.d, call.d);
  describe_preference(all.preference, call);
  return all;
}

}  // namespace rooftile::ops::gemm
#endif
