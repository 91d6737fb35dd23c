// SPDX-License-Identifier: Apache-2.0
#include "rooftile/core/dlpack.h"

#include <algorithm>
#include <array>
#include <string>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

struct Pair {
  DType dtype;
  std::uint8_t code;
  std::uint8_t bits;
};
constexpr std::array kPairs{
    Pair{DType::f64, kDLFloat, 64},
    Pair{DType::f32, kDLFloat, 32},
    Pair{DType::fp16, kDLFloat, 16},
    Pair{DType::bf16, kDLBfloat, 16},
    Pair{DType::e4m3, kDLFloat8_e4m3fn, 8},
    Pair{DType::e5m2, kDLFloat8_e5m2, 8},
    Pair{DType::e4m3fnuz, kDLFloat8_e4m3fnuz, 8},
    Pair{DType::e5m2fnuz, kDLFloat8_e5m2fnuz, 8},
    Pair{DType::e3m2, kDLFloat6_e3m2fn, 6},
    Pair{DType::e2m3, kDLFloat6_e2m3fn, 6},
    Pair{DType::e2m1, kDLFloat4_e2m1fn, 4},
    Pair{DType::e8m0, kDLFloat8_e8m0fnu, 8},
    Pair{DType::i64, kDLInt, 64},
    Pair{DType::i32, kDLInt, 32},
    Pair{DType::i16, kDLInt, 16},
    Pair{DType::i8, kDLInt, 8},
    Pair{DType::u8, kDLUInt, 8},
    Pair{DType::i4, kDLInt, 4},
    Pair{DType::u4, kDLUInt, 4},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kPairs.size(); ++i)
    if (kPairs[i].dtype != static_cast<DType>(i)) return false;
  return kPairs.size() == static_cast<std::size_t>(DType::u4) + 1;
}
static_assert(is_in_order(), "one line a DType that is no block, in the order of the enum");

constexpr std::array kCodeNames{
    "int",
    "uint",
    "float",
    "opaque handle",
    "bfloat",
    "complex",
    "bool",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
};

[[noreturn]] void fail_unsupported(const std::string& message) {
  throw Error(ErrorCode::unsupported, "DLPack: " + message);
}

[[noreturn]] void fail_tensor(const std::string& message) { fail_input("DLPack: " + message); }

std::string type_text(DLDataType type) {
  const std::string code = type.code < kCodeNames.size() ? kCodeNames.at(type.code)
                                                         : "code " + std::to_string(type.code);
  return code + " of " + std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
         (type.lanes == 1 ? " lane" : " lanes");
}

DType dtype_of(DLDataType type) {
  for (const Pair& pair : kPairs) {
    if (pair.code != type.code || pair.bits != type.bits) continue;
    const int lanes = info(pair.dtype).unit_elements;
    if (type.lanes == 1 || (lanes > 1 && type.lanes == lanes)) return pair.dtype;
    fail_unsupported("type " + type_text(type) + ": " + std::string(name(pair.dtype)) +
                     " is taken with 1 lane" + (lanes > 1 ? " or " + std::to_string(lanes) : ""));
  }
  fail_unsupported("type " + type_text(type) + " has no equivalent here");
}

DeviceId device_of(DLDevice device) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      return {DeviceKind::cpu, 0};
    case kDLCUDA:
    case kDLCUDAManaged:
      if (device.device_id < 0) fail_tensor("CUDA device " + std::to_string(device.device_id));
      return {DeviceKind::cuda, device.device_id};
    default:
      fail_unsupported("device type " + std::to_string(device.device_type) +
                       ": memory of the cpu (1, 3) or of CUDA (2, 13) is taken");
  }
}

std::int64_t scaled(std::int64_t value, std::int64_t lanes) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(value, lanes, &product))
    fail_tensor("a shape or stride of " + std::to_string(value) + " does not fit in 63 bits");
  return product;
}

void read_shape(const DLTensor& tensor, TensorView& view) {
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank)
    fail_tensor(std::to_string(tensor.ndim) + " dimensions: 0 to 8 are taken");
  if (tensor.ndim > 0 && tensor.shape == nullptr) fail_tensor("the shape is null");
  for (int i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] < 0)
      fail_tensor("extent " + std::to_string(tensor.shape[i]) + " of dimension " +
                  std::to_string(i) + " is negative");
    view.shape.push_back(tensor.shape[i]);
  }
  if (tensor.strides == nullptr) {
    view.strides = row_major(view.shape);
  } else {
    for (int i = 0; i < tensor.ndim; ++i) view.strides.push_back(tensor.strides[i]);
  }
}

// Units of a packed type become its elements, along the last dimension.
void unpack_lanes(std::int64_t lanes, TensorView& view) {
  if (lanes == 1) return;
  const int last = view.shape.rank() - 1;
  if (last < 0) fail_tensor("a type of several lanes needs a dimension");
  if (view.strides[last] != 1 && view.shape[last] > 1)
    fail_tensor("a type of several lanes needs stride 1 in the last dimension; it has " +
                std::to_string(view.strides[last]));
  view.shape[last] = scaled(view.shape[last], lanes);
  view.strides[last] = 1;
  for (int i = 0; i < last; ++i) view.strides[i] = scaled(view.strides[i], lanes);
}

void read_data(const DLTensor& tensor, TensorView& view) {
  // Why: an empty tensor's data is null in DLPack, and null means "absent" here.
  alignas(256) static std::array<std::byte, 256> nothing;
  if (num_elements(view.shape) == 0) {
    view.data = tensor.data == nullptr ? nothing.data() : tensor.data;
    return;
  }
  if (tensor.data == nullptr) fail_tensor("data is null, but the tensor is not empty");
  const auto start = reinterpret_cast<std::uintptr_t>(tensor.data);
  std::uintptr_t address = 0;
  if (__builtin_add_overflow(start, tensor.byte_offset, &address))
    fail_tensor("byte_offset " + std::to_string(tensor.byte_offset) + " leaves the address space");
  const DTypeInfo& type = info(view.dtype);
  if (!type.is_packed() && address % static_cast<std::uintptr_t>(type.unit_bytes) != 0)
    fail_tensor("byte_offset " + std::to_string(tensor.byte_offset) + " puts " +
                std::string(type.name) + " at an address that is no multiple of its " +
                std::to_string(type.unit_bytes) + " bytes");
  view.data = reinterpret_cast<void*>(address);
}

// Elements as units, for consumers that know packed types by their lanes.
void pack_lanes(std::int64_t lanes, DLPackStorage& storage, DLTensor& tensor) {
  const auto last = static_cast<std::size_t>(tensor.ndim) - 1;
  const auto must_divide = [&](std::int64_t value, const char* what) {
    if (value % lanes != 0)
      fail_tensor(std::string(what) + " " + std::to_string(value) + " is no multiple of " +
                  std::to_string(lanes) + ", the elements of a unit");
    return value / lanes;
  };
  if (tensor.ndim == 0) fail_tensor("a tensor without dimensions cannot be counted in units");
  if (storage.strides.at(last) != 1 && storage.shape.at(last) > 1)
    fail_tensor("elements can be counted in units only where the last stride is 1");
  storage.shape.at(last) = must_divide(storage.shape.at(last), "extent");
  storage.strides.at(last) = 1;
  for (std::size_t i = 0; i < last; ++i)
    storage.strides.at(i) = must_divide(storage.strides.at(i), "stride");
  tensor.dtype.lanes = static_cast<std::uint16_t>(lanes);
}

DLDevice dl_device(DeviceId device) {
  if (device.kind == DeviceKind::sim)
    fail_unsupported("memory of a simulated device has no equivalent");
  return {device.kind == DeviceKind::cuda ? kDLCUDA : kDLCPU, device.index};
}

}  // namespace

TensorView from_dlpack(const DLTensor& tensor) {
  TensorView view;
  view.dtype = dtype_of(tensor.dtype);
  view.device = device_of(tensor.device);
  read_shape(tensor, view);
  unpack_lanes(tensor.dtype.lanes, view);
  (void)bytes_of(view.dtype, num_elements(view.shape));  // refuses what does not fit
  (void)offset_range(view.shape, view.strides);
  read_data(tensor, view);
  return view;
}

TensorView from_dlpack(const DLManagedTensorVersioned& tensor) {
  if (tensor.version.major != 1)
    fail_unsupported("version " + std::to_string(tensor.version.major) + "." +
                     std::to_string(tensor.version.minor) + ": 1.x is taken");
  if ((tensor.flags & kDLSubbytePadded) != 0 && tensor.dl_tensor.dtype.bits < 8)
    fail_unsupported(type_text(tensor.dl_tensor.dtype) + " padded to bytes: packed is taken");
  return from_dlpack(tensor.dl_tensor);
}

DLTensor to_dlpack(const TensorView& view, DLPackStorage& storage, PackedAs packed) {
  if (!view.is_present()) fail_tensor("the view is absent");
  if (view.scaling != nullptr)
    fail_unsupported("block scales have no equivalent: hand over data and scales as two tensors");
  if (view.shape.rank() != view.strides.rank())
    fail_tensor("the view has shape " + to_string(view.shape) + " and strides " +
                to_string(view.strides));
  if (info(view.dtype).is_block())
    fail_unsupported(std::string(name(view.dtype)) + " blocks have no equivalent");
  const Pair& pair = kPairs.at(static_cast<std::size_t>(view.dtype));
  DLTensor tensor{.data = num_elements(view.shape) == 0 ? nullptr : view.data,
                  .device = dl_device(view.device),
                  .ndim = view.shape.rank(),
                  .dtype = {.code = pair.code, .bits = pair.bits, .lanes = 1},
                  .shape = storage.shape.data(),
                  .strides = storage.strides.data(),
                  .byte_offset = 0};
  std::copy(view.shape.begin(), view.shape.end(), storage.shape.begin());
  std::copy(view.strides.begin(), view.strides.end(), storage.strides.begin());
  const DTypeInfo& type = info(view.dtype);
  if (packed == PackedAs::units && type.is_packed())
    pack_lanes(type.unit_elements, storage, tensor);
  return tensor;
}

}  // namespace rooftile
