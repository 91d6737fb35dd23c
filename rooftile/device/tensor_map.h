// SPDX-License-Identifier: Apache-2.0
// What the host says about a tensor that TMA copies boxes of. Source of the rules: CUDA Driver API,
// cuTensorMapEncodeTiled.
#pragma once

#include <array>
#include <cstdint>

#include "rooftile/base/api.h"
#include "rooftile/core/dtype.h"
#include "rooftile/device/device.h"
#include "rooftile/hardware/swizzle.h"
#include "rooftile/tile/tensor_map.h"

namespace ROOFTILE_API rooftile {

constexpr int kTensorMapRanks = 5;

/// What is read outside of the tensor.
enum class OutOfBounds : std::uint8_t { zeros, nan };

struct TensorMapSpec {
  void* data = nullptr;  // global memory, aligned to 16 bytes
  DType dtype = DType::bf16;
  int rank = 2;
  /// Innermost first, as TMA's coordinates are. The innermost elements are adjacent.
  std::array<std::int64_t, kTensorMapRanks> extent{};
  std::array<std::int64_t, kTensorMapRanks> stride_bytes{};  // [0] is not used; multiples of 16
  std::array<std::int32_t, kTensorMapRanks> box{};           // at most 256 elements each
  std::array<std::int32_t, kTensorMapRanks> element_stride{1, 1, 1, 1, 1};
  Swizzle swizzle = Swizzle::none;
  OutOfBounds outside = OutOfBounds::zeros;
};

/// Throws Error(bad_input) that names the rule, for what cuTensorMapEncodeTiled would refuse.
void check_tensor_map(const TensorMapSpec& spec);

/// The descriptor for kernels of `device`; checks the spec first. Throws Error(unsupported) on
/// devices without TMA.
TensorMap make_tensor_map(Device& device, const TensorMapSpec& spec);

}  // namespace rooftile
