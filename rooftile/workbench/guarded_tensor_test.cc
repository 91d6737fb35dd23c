// SPDX-License-Identifier: Apache-2.0
// A tensor between guards, small and large enough for several threads: what a kernel changes is
// found wherever it is, by any number of threads.
#include "rooftile/workbench/guarded_tensor.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/test_threads.h"
#include "rooftile/device/cpu/cpu_device.h"

namespace rooftile {
namespace {

ArgChoice argument(DType dtype, const Dims& shape, const Dims& strides) {
  return {.name = "y", .dtype = dtype, .shape = shape, .strides = strides};
}

// Rows with gaps, a transposed matrix, all in one piece.
std::vector<ArgChoice> arguments() {
  return {argument(DType::bf16, {3, 5}, {7, 1}), argument(DType::bf16, {300, 5000}, {5010, 1}),
          argument(DType::f32, {700, 900}, {1, 701}),
          argument(DType::e4m3, {4, 1 << 20}, {1 << 20, 1})};
}

std::vector<double> counted(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 13) - 6;
  return values;
}

class GuardedTensors : public testing::TestWithParam<int> {
 protected:
  TestThreads threads_{GetParam()};
  std::unique_ptr<Device> device_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
};

TEST_P(GuardedTensors, HoldWhatWasStored) {
  for (const ArgChoice& arg : arguments()) {
    GuardedTensor tensor(arg, *device_, *stream_);
    const std::vector<double> values = counted(tensor.count());
    tensor.store(values);
    EXPECT_EQ(tensor.load(), values);
    EXPECT_TRUE(tensor.is_untouched(false));
    std::vector<double> stored;
    tensor.load_stored(stored);
    EXPECT_EQ(stored, values);
    const std::vector<std::int64_t> rows{0, arg.shape[0] - 1};
    const auto loaded = tensor.load_rows(rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(
          loaded[i], std::span(values).subspan(static_cast<std::size_t>(rows[i] * arg.shape[1]),
                                               static_cast<std::size_t>(arg.shape[1]))));
    GuardedTensor twin(arg, *device_, *stream_);
    twin.store_as(tensor);
    EXPECT_EQ(twin.load(), values);
    EXPECT_EQ(twin.element_bits(), tensor.element_bits());
    GuardedTensor other(arg, *device_, *stream_);
    other.poison();
    EXPECT_NE(other.element_bits(), tensor.element_bits());
    other.store_bits(tensor.element_bits());
    EXPECT_EQ(other.load(), values);
  }
}

TEST_P(GuardedTensors, FindEveryChangedElementAndNoOther) {
  for (const ArgChoice& arg : arguments()) {
    GuardedTensor tensor(arg, *device_, *stream_);
    tensor.store(counted(tensor.count()));
    const std::string before = tensor.element_bits();
    for (const std::int64_t row : {std::int64_t{0}, arg.shape[0] / 3, arg.shape[0] - 1})
      for (const std::int64_t col : {std::int64_t{0}, arg.shape[1] / 2, arg.shape[1] - 1}) {
        char* const byte =
            tensor.view().as<char>() +
            (row * arg.strides[0] + col * arg.strides[1]) * info(arg.dtype).unit_bytes;
        *byte ^= 1;
        EXPECT_FALSE(tensor.is_untouched(false)) << row << " " << col;
        EXPECT_TRUE(tensor.is_untouched(true)) << row << " " << col;
        EXPECT_NE(tensor.element_bits(), before);
        *byte ^= 1;
        EXPECT_TRUE(tensor.is_untouched(false)) << row << " " << col;
      }
    EXPECT_EQ(tensor.element_bits(), before);
  }
}

TEST_P(GuardedTensors, FindEveryByteWrittenBesideElements) {
  for (const ArgChoice& arg : arguments()) {
    GuardedTensor tensor(arg, *device_, *stream_);
    tensor.poison();
    const OffsetRange range = offset_range(arg.shape, arg.strides);
    const std::int64_t unit = info(arg.dtype).unit_bytes;
    std::vector<std::int64_t> outside{-1, -4096, (range.greatest + 1) * unit,
                                      (range.greatest + 1) * unit + 4095};
    if (arg.strides[0] > arg.shape[1]) {  // gaps behind rows
      outside.push_back(arg.shape[1] * unit);
      outside.push_back(((arg.shape[0] - 1) * arg.strides[0] - 1) * unit);
    }
    for (const std::int64_t place : outside) {
      char* const byte = tensor.view().as<char>() + place;
      *byte ^= 1;
      EXPECT_FALSE(tensor.is_untouched(true)) << place;
      *byte ^= 1;
      EXPECT_TRUE(tensor.is_untouched(true)) << place;
    }
  }
}

TEST_P(GuardedTensors, RestoreWhatWasThere) {
  for (const ArgChoice& arg : arguments()) {
    GuardedTensor tensor(arg, *device_, *stream_);
    tensor.poison();
    const std::string poison = tensor.element_bits();
    *tensor.view().as<char>() = 0;
    tensor.restore();
    EXPECT_EQ(tensor.element_bits(), poison);
    tensor.store(counted(tensor.count()));
    const std::string stored = tensor.element_bits();
    tensor.view().as<char>()[1] ^= 0x11;
    tensor.restore();
    EXPECT_EQ(tensor.element_bits(), stored);
    tensor.poison();
    EXPECT_EQ(tensor.element_bits(), poison);
    EXPECT_TRUE(tensor.is_untouched(false));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, GuardedTensors, testing::Values(1, 2, 7));

}  // namespace
}  // namespace rooftile
