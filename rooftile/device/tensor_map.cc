// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/tensor_map.h"

#include <string>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr std::int64_t kMostExtent = std::int64_t{1} << 32;
constexpr std::int64_t kMostStride = std::int64_t{1} << 40;
constexpr std::int32_t kMostBox = 256;
constexpr std::int32_t kMostElementStride = 8;
constexpr std::int64_t kMostBoxBytes = 228 << 10;  // found on an H200: its shared memory
constexpr std::int64_t kAlignment = 16;

void check_dimension(const TensorMapSpec& spec, std::size_t d) {
  const std::string which = "tensor map: dimension " + std::to_string(d) + ": ";
  const auto fail = [&](const std::string& name, std::int64_t value, const std::string& rule) {
    fail_input(which + name + " " + std::to_string(value) + " " + rule);
  };
  if (spec.extent[d] < 1 || spec.extent[d] > kMostExtent)
    fail("extent", spec.extent[d], "is not in 1 to 2^32");
  if (spec.box[d] < 1 || spec.box[d] > kMostBox) fail("box", spec.box[d], "is not in 1 to 256");
  if (spec.element_stride[d] < 1 || spec.element_stride[d] > kMostElementStride)
    fail("element stride", spec.element_stride[d], "is not in 1 to 8");
  if (d == 0) return;
  if (spec.stride_bytes[d] % kAlignment != 0)
    fail("stride of", spec.stride_bytes[d], "bytes is no multiple of 16");
  if (spec.stride_bytes[d] < 0 || spec.stride_bytes[d] >= kMostStride)
    fail("stride of", spec.stride_bytes[d], "bytes is not in 0 to 2^40");
}

void check_inner_box(const TensorMapSpec& spec) {
  const std::int64_t bytes = std::int64_t{spec.box[0]} * info(spec.dtype).unit_bytes;
  if (bytes % kAlignment != 0)
    fail_input("tensor map: the box is " + std::to_string(bytes) +
               " bytes wide, no multiple of 16");
  const std::int64_t most = swizzle_row_bytes(spec.swizzle);
  if (spec.swizzle != Swizzle::none && bytes > most)
    fail_input("tensor map: the box is " + std::to_string(bytes) + " bytes wide; a swizzle of " +
               std::to_string(most) + " bytes allows at most that");
}

void check_box_bytes(const TensorMapSpec& spec) {
  std::int64_t bytes = info(spec.dtype).unit_bytes;
  for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) bytes *= spec.box[d];
  if (bytes > kMostBoxBytes)
    fail_input("tensor map: the box has " + std::to_string(bytes) + " bytes, at most " +
               std::to_string(kMostBoxBytes));
}

}  // namespace

void check_tensor_map(const TensorMapSpec& spec) {
  if (spec.rank < 1 || spec.rank > kTensorMapRanks)
    fail_input("tensor map: rank " + std::to_string(spec.rank) + " is not in 1 to 5");
  if (info(spec.dtype).is_packed())
    fail_input("tensor map: elements of " + std::string(name(spec.dtype)) + " are no whole bytes");
  if (spec.data == nullptr || reinterpret_cast<std::uintptr_t>(spec.data) % kAlignment != 0)
    fail_input("tensor map: the address must be a multiple of 16 and not null");
  if (spec.outside == OutOfBounds::nan &&
      (info(spec.dtype).kind != DTypeKind::floating || info(spec.dtype).unit_bytes < 2))
    fail_input("tensor map: elements of " + std::string(name(spec.dtype)) +
               " outside of the tensor cannot be NaN");
  for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) check_dimension(spec, d);
  check_inner_box(spec);
  check_box_bytes(spec);
}

TensorMap make_tensor_map(Device& device, const TensorMapSpec& spec) {
  check_tensor_map(spec);
  return device.encode_tensor_map(spec);
}

}  // namespace rooftile
