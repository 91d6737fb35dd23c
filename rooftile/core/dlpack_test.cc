// SPDX-License-Identifier: Apache-2.0
// DLPack tensors to views and back: every dtype, offsets, strides, packed lanes, and what is
// refused.
#include "rooftile/core/dlpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

// A tensor whose shape and strides live here.
struct Given {
  std::vector<std::int64_t> shape{2, 3};
  std::vector<std::int64_t> strides{3, 1};
  alignas(256) std::array<std::byte, 1024> memory{};
  DLTensor tensor{memory.data(), {kDLCPU, 0},    2, {kDLFloat, 32, 1},
                  shape.data(),  strides.data(), 0};
};

template <class Tensor>
std::string refusal(const Tensor& tensor, ErrorCode code) {
  try {
    (void)from_dlpack(tensor);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "taken";
}

TEST(DLPack, EveryDtypeComesBack) {
  for (const DTypeInfo& type : dtypes()) {
    if (type.is_block()) continue;  // no equivalent
    alignas(256) std::array<std::byte, 1024> memory{};
    const TensorView view = TensorView::contiguous(memory.data(), type.dtype, {4, 8});
    DLPackStorage storage;
    const DLTensor tensor = to_dlpack(view, storage);
    EXPECT_EQ(tensor.dtype.bits, 8 * type.unit_bytes / type.unit_elements) << type.name;
    EXPECT_EQ(tensor.dtype.lanes, 1);
    const TensorView back = from_dlpack(tensor);
    EXPECT_EQ(back.dtype, view.dtype);
    EXPECT_EQ(back.data, view.data);
    EXPECT_EQ(back.shape, view.shape);
    EXPECT_EQ(back.strides, view.strides);
    EXPECT_EQ(back.device, view.device);
  }
}

TEST(DLPack, BlocksHaveNoEquivalent) {
  int memory = 0;
  DLPackStorage storage;
  EXPECT_THROW((void)to_dlpack(TensorView::contiguous(&memory, DType::q4_1, {4, 32}), storage),
               Error);
}

TEST(DLPack, CodesAreThoseOfTheSpecification) {
  DLPackStorage storage;
  int memory = 0;
  const auto code = [&](DType dtype) {
    return int{to_dlpack(TensorView::contiguous(&memory, dtype, {4}), storage).dtype.code};
  };
  EXPECT_EQ(code(DType::bf16), 4);
  EXPECT_EQ(code(DType::e4m3), 10);
  EXPECT_EQ(code(DType::e8m0), 14);
  EXPECT_EQ(code(DType::e2m3), 15);
  EXPECT_EQ(code(DType::e3m2), 16);
  EXPECT_EQ(code(DType::e2m1), 17);
}

TEST(DLPack, ByteOffsetMovesTheData) {
  Given given;
  given.tensor.byte_offset = 8;
  EXPECT_EQ(from_dlpack(given.tensor).data, given.memory.data() + 8);
  given.tensor.byte_offset = 6;
  EXPECT_THAT(refusal(given.tensor, ErrorCode::bad_input), HasSubstr("no multiple of its 4 bytes"));
  given.tensor.byte_offset = ~std::uint64_t{0};
  EXPECT_THAT(refusal(given.tensor, ErrorCode::bad_input), HasSubstr("leaves the address space"));
}

TEST(DLPack, NullStridesAreRowMajorAndOthersAreKept) {
  Given given;
  given.tensor.strides = nullptr;
  EXPECT_EQ(from_dlpack(given.tensor).strides, (Dims{3, 1}));
  given.strides = {0, -1};
  given.tensor.strides = given.strides.data();
  EXPECT_EQ(from_dlpack(given.tensor).strides, (Dims{0, -1}));
}

TEST(DLPack, RankZeroIsOneElement) {
  Given given;
  given.tensor.ndim = 0;
  given.tensor.shape = given.tensor.strides = nullptr;
  EXPECT_EQ(num_elements(from_dlpack(given.tensor).shape), 1);
}

TEST(DLPack, ExtentsOfZeroArePresentAndNegativeOnesRefused) {
  Given given;
  given.shape = {0, 3};
  given.tensor.shape = given.shape.data();
  given.tensor.data = nullptr;
  const TensorView empty = from_dlpack(given.tensor);
  EXPECT_TRUE(empty.is_present());
  DLPackStorage storage;
  EXPECT_EQ(to_dlpack(empty, storage).data, nullptr);
  given.shape[0] = -2;
  EXPECT_THAT(refusal(given.tensor, ErrorCode::bad_input), HasSubstr("extent -2 of dimension 0"));
}

TEST(DLPack, ContradictionsAreRefused) {
  Given given;
  given.tensor.data = nullptr;
  EXPECT_THAT(refusal(given.tensor, ErrorCode::bad_input), HasSubstr("data is null"));
  given.tensor.shape = nullptr;
  EXPECT_THAT(refusal(given.tensor, ErrorCode::bad_input), HasSubstr("the shape is null"));
  for (const int ndim : {-1, 9}) {
    given.tensor.ndim = ndim;
    EXPECT_THAT(refusal(given.tensor, ErrorCode::bad_input), HasSubstr("0 to 8"));
  }
  Given huge;
  huge.shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  huge.tensor.shape = huge.shape.data();
  EXPECT_THAT(refusal(huge.tensor, ErrorCode::bad_input), HasSubstr("63 bits"));
}

TEST(DLPack, TypesWithoutEquivalentAreNamed) {
  Given given;
  const auto reason = [&](DLDataType type) {
    given.tensor.dtype = type;
    return refusal(given.tensor, ErrorCode::unsupported);
  };
  EXPECT_THAT(reason({kDLComplex, 64, 1}), HasSubstr("complex of 64 bits"));
  EXPECT_THAT(reason({kDLFloat8_e4m3, 8, 1}), HasSubstr("float8_e4m3 of 8 bits"));
  EXPECT_THAT(reason({99, 8, 1}), HasSubstr("code 99"));
  EXPECT_THAT(reason({kDLFloat, 32, 4}), HasSubstr("f32 is taken with 1 lane"));
  EXPECT_THAT(reason({kDLFloat, 32, 0}), HasSubstr("0 lanes"));
  EXPECT_THAT(reason({kDLFloat4_e2m1fn, 4, 3}), HasSubstr("with 1 lane or 2"));
  EXPECT_THAT(reason({kDLFloat4_e2m1fn, 8, 1}), HasSubstr("no equivalent"));
}

TEST(DLPack, DevicesAreMappedOrNamed) {
  Given given;
  given.tensor.device = {kDLCUDA, 3};
  EXPECT_EQ(from_dlpack(given.tensor).device, (DeviceId{DeviceKind::cuda, 3}));
  given.tensor.device = {kDLCUDAHost, 0};
  EXPECT_EQ(from_dlpack(given.tensor).device, DeviceId{});
  given.tensor.device = {10, 0};
  EXPECT_THAT(refusal(given.tensor, ErrorCode::unsupported), HasSubstr("device type 10"));
}

TEST(DLPack, LanesOfPackedTypesAreElements) {
  Given given;  // two rows of 3 bytes, each with two numbers of 4 bits
  given.tensor.dtype = {kDLFloat4_e2m1fn, 4, 2};
  const TensorView view = from_dlpack(given.tensor);
  EXPECT_EQ(view.dtype, DType::e2m1);
  EXPECT_EQ(view.shape, (Dims{2, 6}));
  EXPECT_EQ(view.strides, (Dims{6, 1}));
  DLPackStorage storage;
  const DLTensor back = to_dlpack(view, storage, PackedAs::units);
  EXPECT_EQ(back.dtype.lanes, 2);
  EXPECT_EQ(storage.shape[1], 3);
  EXPECT_EQ(storage.strides[0], 3);
  given.strides = {1, 2};
  EXPECT_THAT(refusal(given.tensor, ErrorCode::bad_input), HasSubstr("stride 1"));
  const TensorView odd = TensorView::contiguous(given.memory.data(), DType::e2m1, {2, 5});
  EXPECT_THROW((void)to_dlpack(odd, storage, PackedAs::units), Error);
}

TEST(DLPack, ManagedTensorsAreLookedAtFirst) {
  Given given;
  DLManagedTensorVersioned managed{{1, 1}, nullptr, nullptr, kDLReadOnly, given.tensor};
  EXPECT_EQ(from_dlpack(managed).data, given.memory.data());
  managed.version.major = 2;
  EXPECT_THAT(refusal(managed, ErrorCode::unsupported), HasSubstr("version 2.1"));
  managed.version.major = 1;
  managed.flags = kDLSubbytePadded;
  managed.dl_tensor.dtype = {kDLFloat4_e2m1fn, 4, 1};
  EXPECT_THAT(refusal(managed, ErrorCode::unsupported), HasSubstr("padded"));
}

// The shape of dlpack/dlpack.h, whose names a program may have beside ours.
namespace foreign {
enum DeviceType : std::int32_t { cpu = 1 };
struct Tensor {
  void* data;
  struct {
    DeviceType device_type;
    std::int32_t device_id;
  } device;
  std::int32_t ndim;
  struct {
    std::uint8_t code, bits;
    std::uint16_t lanes;
  } dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
}  // namespace foreign

TEST(DLPack, TheOfficialStructIsTakenToo) {
  Given given;
  const foreign::Tensor tensor{given.memory.data(), {foreign::cpu, 0},    2, {kDLFloat, 32, 1},
                               given.shape.data(),  given.strides.data(), 4};
  EXPECT_EQ(from_dlpack(tensor).data, given.memory.data() + 4);
}

TEST(DLPack, WhatItCannotSayIsRefused) {
  DLPackStorage storage;
  float value = 0;
  TensorView view = TensorView::contiguous(&value, DType::f32, {1});
  const Scaling scaling{};
  view.scaling = &scaling;
  EXPECT_THROW((void)to_dlpack(view, storage), Error);
  view.scaling = nullptr;
  view.device.kind = DeviceKind::sim;
  EXPECT_THROW((void)to_dlpack(view, storage), Error);
  EXPECT_THROW((void)to_dlpack(TensorView{}, storage), Error);
}

}  // namespace
}  // namespace rooftile
