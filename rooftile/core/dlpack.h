// SPDX-License-Identifier: Apache-2.0
// DLPack: how frameworks hand each other tensors in memory. The structs below have the layout of
// DLPack 1.x (dmlc/dlpack, include/dlpack/dlpack.h, codes up to version 1.1) and stand in our
// namespace, so that a program may include that header as well: its structs are taken too.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"

namespace ROOFTILE_API rooftile {

enum DLDeviceType : std::int32_t {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,      // pinned host memory
  kDLCUDAManaged = 13,  // unified memory
};

struct DLDevice {
  std::int32_t device_type;  // DLDeviceType, or a number that is not among ours
  std::int32_t device_id;
};

enum DLDataTypeCode : std::uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6,
  kDLFloat8_e3m4 = 7,
  kDLFloat8_e4m3 = 8,
  kDLFloat8_e4m3b11fnuz = 9,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e4m3fnuz = 11,
  kDLFloat8_e5m2 = 12,
  kDLFloat8_e5m2fnuz = 13,
  kDLFloat8_e8m0fnu = 14,
  kDLFloat6_e2m3fn = 15,
  kDLFloat6_e3m2fn = 16,
  kDLFloat4_e2m1fn = 17,
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

inline constexpr std::uint64_t kDLReadOnly = 1;
inline constexpr std::uint64_t kDLIsCopied = 2;
inline constexpr std::uint64_t kDLSubbytePadded =
    4;  // an element of 4 or 6 bits takes a whole byte

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, byte_offset) == 40);
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

/// A view of the same memory. Types of several lanes are taken where the lanes are those of one
/// unit of a packed type (float4_e2m1fn with 2 lanes, as PyTorch has it): the last dimension, which
/// must have stride 1, then counts elements, not units. An empty tensor may have null data; its
/// view has a pointer that is never read, since null means "absent" here. Throws Error(bad_input)
/// for a tensor that contradicts itself, Error(unsupported) that names the type or device without
/// equivalent.
TensorView from_dlpack(const DLTensor& tensor);

/// The same, after a look at version and flags. The caller still owns `tensor` and calls its
/// deleter when the view is no longer used. An output must not be read-only: that is the caller's
/// to check.
TensorView from_dlpack(const DLManagedTensorVersioned& tensor);

/// The same for the structs of dlpack/dlpack.h.
template <class Foreign>
  requires(!std::is_same_v<Foreign, DLTensor> && sizeof(Foreign) == sizeof(DLTensor) &&
           requires(const Foreign& tensor) { tensor.dtype.lanes, tensor.byte_offset; })
TensorView from_dlpack(const Foreign& tensor) {
  return from_dlpack(std::bit_cast<DLTensor>(tensor));
}

/// What a DLTensor points to beside the data; must outlive it.
struct DLPackStorage {
  std::array<std::int64_t, kMaxRank> shape{};
  std::array<std::int64_t, kMaxRank> strides{};
};

/// How elements smaller than a byte are counted.
enum class PackedAs : std::uint8_t {
  elements,  // one lane, as DLPack says
  units,     // float4_e2m1fn with 2 lanes, the last dimension halved, as PyTorch has it
};

/// A DLTensor of the same memory, which `storage` completes. Throws Error(unsupported) for block
/// scales and the memory of simulated devices, which DLPack cannot say, Error(bad_input) for an
/// absent view or one that cannot be counted in units.
DLTensor to_dlpack(const TensorView& view, DLPackStorage& storage,
                   PackedAs packed = PackedAs::elements);

}  // namespace rooftile
