// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/tensor_map.h"

#include <cuda.h>

#include <cstring>
#include <optional>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) &&
              alignof(TensorMap) >= alignof(CUtensorMap));

constexpr unsigned kTmaVersion = 12000;  // the CUDA that brought cuTensorMapEncodeTiled

std::optional<CUtensorMapDataType> element_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case DType::f32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::fp16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::i64:
      return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case DType::i32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case DType::i16:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;  // copied, never computed with
    default:
      break;
  }
  if (info(dtype).unit_elements == 1 && info(dtype).unit_bytes == 1)
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  return std::nullopt;
}

CUtensorMapSwizzle native(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
    case Swizzle::bytes32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case Swizzle::bytes64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case Swizzle::bytes128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

// Through the runtime: linking libcuda would keep the program from starting without a driver.
decltype(&cuTensorMapEncodeTiled) encoder(CudaContext& context) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  context.check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, kTmaVersion,
                                                 cudaEnableDefault, &found),
                "looking for cuTensorMapEncodeTiled");
  if (found != cudaDriverEntryPointSuccess || function == nullptr)
    throw Error(ErrorCode::unsupported,
                context.id() + ": the driver has no cuTensorMapEncodeTiled");
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

}  // namespace

TensorMap encode_cuda_tensor_map(CudaContext& context, const TensorMapSpec& spec) {
  const std::optional<CUtensorMapDataType> type = element_type(spec.dtype);
  if (!type)
    throw Error(ErrorCode::unsupported,
                "tensor map: TMA has no elements of " + std::string(name(spec.dtype)));
  if (spec.outside == OutOfBounds::nan && info(spec.dtype).kind != DTypeKind::floating)
    fail_input("tensor map: " + std::string(name(spec.dtype)) + " has no NaN to fill with");
  const auto rank = static_cast<std::size_t>(spec.rank);
  cuuint64_t extent[kTensorMapRanks] = {};
  cuuint64_t stride_bytes[kTensorMapRanks] = {};
  cuuint32_t box[kTensorMapRanks] = {};
  cuuint32_t element_stride[kTensorMapRanks] = {};
  for (std::size_t d = 0; d < rank; ++d) {
    extent[d] = static_cast<cuuint64_t>(spec.extent[d]);
    if (d > 0) stride_bytes[d - 1] = static_cast<cuuint64_t>(spec.stride_bytes[d]);
    box[d] = static_cast<cuuint32_t>(spec.box[d]);
    element_stride[d] = static_cast<cuuint32_t>(spec.element_stride[d]);
  }
  CUtensorMap native_map;
  const CUresult status = encoder(context)(
      &native_map, *type, static_cast<cuuint32_t>(rank), spec.data, extent, stride_bytes, box,
      element_stride, CU_TENSOR_MAP_INTERLEAVE_NONE, native(spec.swizzle),
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      spec.outside == OutOfBounds::nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                       : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  // The driver gives CUDA_ERROR_INVALID_VALUE and no reason; check_tensor_map() should have.
  if (status != CUDA_SUCCESS)
    throw Error(ErrorCode::device, context.id() +
                                       ": cuTensorMapEncodeTiled refused the tensor, error " +
                                       std::to_string(static_cast<int>(status)));
  TensorMap map;
  std::memcpy(&map, &native_map, sizeof(map));
  return map;
}

}  // namespace rooftile
