// SPDX-License-Identifier: Apache-2.0
// TMA in the simulator: where each element of a box comes to lie, against the definition element by
// element, and against what an H200 gave; and the faults of kernels around it.
#include <cstring>
#include <numeric>

#include "fault_test_support.h"
#include "rooftile/formats/bf16.h"

extern const rooftile::KernelTable tma_kernels;

namespace rooftile {
namespace {

using namespace fault_test;

struct At {
  std::int32_t at[5];
};

/// A box of a tensor of 16-bit numbers 1, 2, 3, …, one after another in memory.
struct BoxCase {
  std::vector<std::int64_t> extent;
  std::vector<std::int32_t> box;
  std::vector<std::int32_t> at;
  Swizzle swizzle = Swizzle::none;
  OutOfBounds outside = OutOfBounds::zeros;
  std::vector<std::int32_t> element_stride{1, 1, 1, 1, 1};
};

constexpr std::int64_t kRowElements = 72;  // in memory, of the innermost extent and what follows it

TensorMapSpec spec_of(const BoxCase& test, void* data) {
  TensorMapSpec spec{
      .data = data, .dtype = DType::bf16, .rank = static_cast<int>(test.extent.size())};
  std::int64_t stride = kRowElements * 2;
  for (std::size_t d = 0; d < test.extent.size(); ++d) {
    spec.extent[d] = test.extent[d];
    spec.box[d] = test.box[d];
    spec.element_stride[d] = test.element_stride[d];
    if (d == 0) continue;
    spec.stride_bytes[d] = stride;
    stride *= test.extent[d];
  }
  spec.swizzle = test.swizzle;
  spec.outside = test.outside;
  return spec;
}

/// The box in shared memory, element by element from the definition; dense boxes only.
std::vector<std::uint16_t> expected_box(const BoxCase& test,
                                        const std::vector<std::uint16_t>& data) {
  std::vector<std::uint32_t> count;
  std::uint32_t total = 1;
  for (std::size_t d = 0; d < test.box.size(); ++d) {
    const int step = d == 0 ? 1 : test.element_stride[d];
    count.push_back(static_cast<std::uint32_t>((test.box[d] + step - 1) / step));
    total *= count.back();
  }
  std::vector<std::uint16_t> out(total);
  for (std::uint32_t i = 0; i < total; ++i) {
    std::uint32_t rest = i;
    std::int64_t index = 0;
    std::int64_t stride = 1;
    bool is_inside = true;
    for (std::size_t d = 0; d < test.box.size(); ++d) {
      const int step = d == 0 ? 1 : test.element_stride[d];
      const std::int64_t coordinate =
          test.at[d] + static_cast<std::int64_t>(rest % count[d]) * step;
      rest /= count[d];
      is_inside &= coordinate >= 0 && coordinate < test.extent[d];
      index += coordinate * stride;
      stride = d == 0 ? kRowElements : stride * test.extent[d];
    }
    const std::uint16_t fill = test.outside == OutOfBounds::nan ? 0x7ff7 : 0;
    out[swizzled(test.swizzle, i * 2) / 2] =
        is_inside ? data[static_cast<std::size_t>(index)] : fill;
  }
  return out;
}

void check_box(const BoxCase& test) {
  std::size_t elements = kRowElements;
  for (std::size_t d = 1; d < test.extent.size(); ++d)
    elements *= static_cast<std::size_t>(test.extent[d]);
  const std::vector<std::uint16_t> data = counted<std::uint16_t>(elements, 1);
  const DeviceArray<std::uint16_t> in(data);
  const std::vector<std::uint16_t> expected = expected_box(test, data);
  const DeviceArray<std::uint32_t> out(std::vector<std::uint32_t>(expected.size() / 2));
  const TensorMap map = make_tensor_map(sim_device(), spec_of(test, in.data()));
  At at{};
  std::copy(test.at.begin(), test.at.end(), at.at);
  const std::string kernel =
      "rooftile::tma_test::load_box<" + std::to_string(test.extent.size()) + ">";
  const LaunchShape shape{.grid = {1}, .block = {64}, .dynamic_shared_bytes = 32768};
  expect_clean(tma_kernels, kernel, shape, map, at, out.data(),
               static_cast<int>(expected.size() / 2));
  std::vector<std::uint16_t> got(expected.size());
  std::memcpy(got.data(), out.values().data(), got.size() * 2);
  EXPECT_EQ(got, expected) << kernel;
}

TEST(TmaLoad, EveryRank) {
  check_box({{64}, {32}, {16}});
  check_box({{64, 9}, {16, 4}, {8, 3}});
  check_box({{64, 5, 4}, {16, 2, 3}, {8, 1, 1}});
  check_box({{64, 5, 4, 3}, {16, 2, 3, 2}, {8, 1, 1, 1}});
  check_box({{64, 3, 4, 3, 4}, {8, 2, 3, 2, 2}, {8, 1, 1, 0, 2}});
}

TEST(TmaLoad, EverySwizzle) {
  check_box({{64, 20}, {64, 16}, {0, 2}, Swizzle::bytes128});
  check_box({{64, 20}, {32, 16}, {32, 2}, Swizzle::bytes64});
  check_box({{64, 20}, {16, 16}, {32, 2}, Swizzle::bytes32});
  check_box({{64, 6, 4}, {64, 4, 3}, {0, 1, 2}, Swizzle::bytes128});
}

TEST(TmaLoad, OutsideOfTheTensor) {
  for (const OutOfBounds outside : {OutOfBounds::zeros, OutOfBounds::nan}) {
    check_box({{64, 9}, {16, 4}, {-8, -2}, Swizzle::none, outside});
    check_box({{60, 9}, {16, 4}, {48, 7}, Swizzle::none, outside});
    check_box({{60, 9}, {64, 4}, {8, 7}, Swizzle::bytes128, outside});
    check_box({{64, 9}, {16, 4}, {-64, 40}, Swizzle::none, outside});
    check_box({{64, 5, 4}, {16, 2, 3}, {56, 4, -1}, Swizzle::none, outside});
  }
}

TEST(TmaLoad, ElementStrides) {
  check_box({{64, 16}, {8, 8}, {0, 1}, Swizzle::none, OutOfBounds::zeros, {1, 2, 1, 1, 1}});
  check_box({{64, 16}, {8, 8}, {0, -2}, Swizzle::none, OutOfBounds::zeros, {1, 3, 1, 1, 1}});
  check_box({{64, 16}, {16, 2}, {0, 0}, Swizzle::none, OutOfBounds::zeros, {2, 1, 1, 1, 1}});
}

TEST(TmaLoad, RowsNarrowerThanTheSwizzleLieApart) {
  const DeviceArray<std::uint16_t> in(counted<std::uint16_t>(4 * kRowElements));
  const DeviceArray<std::uint32_t> out(std::vector<std::uint32_t>(128));
  const TensorMap map =
      make_tensor_map(sim_device(), spec_of({{64, 4}, {32, 4}, {}, Swizzle::bytes128}, in.data()));
  const LaunchShape shape{.grid = {1}, .block = {32}, .dynamic_shared_bytes = 1024};
  expect_clean(tma_kernels, "rooftile::tma_test::load_padded", shape, map, out.data());
  std::vector<std::uint16_t> got(256);
  std::memcpy(got.data(), out.values().data(), 512);
  // As on an H200: chunks 1, 0, 3, 2 of row 1, then 64 bytes that nobody wrote.
  EXPECT_EQ(got[64], kRowElements + 8);
  EXPECT_EQ(got[64 + 8], kRowElements);
  EXPECT_EQ(got[64 + 16], kRowElements + 24);
  EXPECT_EQ(got[64 + 24], kRowElements + 16);
  EXPECT_EQ(got[64 + 32], 1);
}

/// 128 rows of 32 numbers, in boxes of 64 rows.
TensorMapSpec rows_of(void* data, DType dtype = DType::i32) {
  TensorMapSpec spec{.data = data, .dtype = dtype, .rank = 2};
  spec.extent = {32, 128};
  spec.stride_bytes = {0, 128};
  spec.box = {32, 64};
  spec.swizzle = Swizzle::bytes128;
  return spec;
}

const LaunchShape kSum{.grid = {1}, .block = {128}, .dynamic_shared_bytes = 8192};

struct SumBoxes {
  DeviceArray<int> in{counted<int>(128 * 32)};
  DeviceArray<int> out{std::vector<int>(128)};
  TensorMap map = make_tensor_map(sim_device(), rows_of(in.data()));
  TensorMap garbage{};
  static std::string kernel(const std::string& fault) {
    return "rooftile::tma_test::sum_boxes<rooftile::tma_test::" + fault + ">";
  }
  void expect(const std::string& fault, FindingKind kind, const std::vector<std::string>& words) {
    expect_finding(kind, words, tma_kernels, kernel(fault), kSum, map, garbage, out.data());
  }
};

TEST(TmaLoad, CleanAndCounted) {
  SumBoxes test;
  expect_clean(tma_kernels, SumBoxes::kernel("none"), kSum, test.map, test.garbage,
               test.out.data());
  std::int64_t sum = 0;
  for (const int value : test.out.values()) sum += value;
  EXPECT_EQ(sum, std::int64_t{4096} * 4095 / 2);
  const SimLaunch done = run_once(tma_kernels, SumBoxes::kernel("none"), kSum, SimOptions{},
                                  test.map, test.garbage, test.out.data());
  EXPECT_EQ(done.counters[SimCounter::tma_load_bytes], 16384u);
  EXPECT_EQ(done.counters[SimCounter::tma_instructions], 2u);
  EXPECT_EQ(done.counters[SimCounter::l2_read_sectors], 512u);
  EXPECT_EQ(done.counters[SimCounter::global_read_sectors_unique], 512u);
}

TEST(TmaLoad, WithoutAWait) {
  SumBoxes().expect("no_wait", FindingKind::missing_wait, {"tma_kernels.cu:", "asynchronous copy"});
  SumBoxes test;
  expect_some_finding(tma_kernels, SumBoxes::kernel("wrong_parity"), kSum, test.map, test.garbage,
                      test.out.data());
  SumBoxes().expect("nobody_waits", FindingKind::missing_wait, {"phase 0", "full + 0"});
}
TEST(TmaLoad, TooFewBytesExpected) {
  SumBoxes test;
  expect_some_finding(tma_kernels, SumBoxes::kernel("too_few_bytes"), kSum, test.map, test.garbage,
                      test.out.data());
  test.expect("too_few_bytes", FindingKind::barrier_misuse,
              {"thread 0: the mbarrier", "4096 bytes more than expected"});
}
TEST(TmaLoad, TooManyBytesExpected) {
  SumBoxes().expect("too_many_bytes", FindingKind::deadlock,
                    {"phase 0, 0 of 1 arrivals missing, 64 bytes expected"});
}
TEST(TmaLoad, InitNotFenced) {
  SumBoxes().expect("no_init_fence", FindingKind::missing_fence, {"fence.mbarrier_init"});
}
TEST(TmaLoad, Operands) {
  SumBoxes().expect("misaligned_box", FindingKind::misaligned, {"64 behind a multiple of 128"});
  SumBoxes().expect("beyond_shared", FindingKind::out_of_bounds, {"8192 bytes at 1024 of 8192"});
  SumBoxes().expect("odd_coordinate", FindingKind::bad_operand, {"coordinate 1", "multiple of 16"});
  SumBoxes().expect("no_map", FindingKind::bad_operand, {"tensor map"});
  SumBoxes().expect("other_rank", FindingKind::bad_operand, {"3 coordinates", "rank 2"});
}
TEST(TmaLoad, OverWhatIsStillRead) {
  SumBoxes test;
  expect_some_finding(tma_kernels, SumBoxes::kernel("loads_over_readers"), kSum, test.map,
                      test.garbage, test.out.data());
}
TEST(TmaLoad, TensorOutsideOfItsAllocation) {
  SumBoxes test;
  TensorMapSpec spec = rows_of(test.in.data());
  spec.extent[1] = 129;
  const TensorMap map = make_tensor_map(sim_device(), spec);
  expect_finding(FindingKind::out_of_bounds, {"16512 bytes", "0 bytes past the end"}, tma_kernels,
                 SumBoxes::kernel("none"), kSum, map, test.garbage, test.out.data());
}

TEST(TmaLoad, OfWhatTheKernelWrote) {
  const DeviceArray<int> global(std::vector<int>(64));
  const DeviceArray<int> out(std::vector<int>(64));
  TensorMapSpec spec{.data = global.data(), .dtype = DType::i32, .rank = 1};
  spec.extent[0] = 64;
  spec.box[0] = 64;
  const TensorMap map = make_tensor_map(sim_device(), spec);
  const LaunchShape shape{.grid = {1}, .block = {64}, .dynamic_shared_bytes = 256};
  expect_clean(tma_kernels, "rooftile::tma_test::load_what_was_stored<rooftile::tma_test::none>",
               shape, map, global.data(), out.data());
  EXPECT_EQ(out.values()[63], 189);
  expect_finding(FindingKind::missing_fence, {"tma_kernels.cu:", "fence.proxy.async"}, tma_kernels,
                 "rooftile::tma_test::load_what_was_stored<rooftile::tma_test::no_proxy_fence>",
                 shape, map, global.data(), out.data());
}

TEST(TmaLoad, Multicast) {
  const DeviceArray<int> in(counted<int>(128 * 32));
  const DeviceArray<int> out(std::vector<int>(128));
  TensorMapSpec spec = rows_of(in.data());
  spec.box = {32, 32};
  const TensorMap map = make_tensor_map(sim_device(), spec);
  const LaunchShape shape{.grid = {2}, .block = {64}, .dynamic_shared_bytes = 8192, .cluster = {2}};
  expect_clean(tma_kernels, "rooftile::tma_test::multicast<rooftile::tma_test::none>", shape, map,
               out.data());
  EXPECT_EQ(out.values()[0], out.values()[64]);
  const SimLaunch done =
      run_once(tma_kernels, "rooftile::tma_test::multicast<rooftile::tma_test::none>", shape,
               SimOptions{}, map, out.data());
  EXPECT_EQ(done.counters[SimCounter::tma_load_bytes], 16384u);
  EXPECT_EQ(done.counters[SimCounter::l2_read_sectors], 256u);
  expect_finding(FindingKind::missing_wait, {"tma_kernels.cu:"}, tma_kernels,
                 "rooftile::tma_test::multicast<rooftile::tma_test::no_wait>", shape, map,
                 out.data());
  expect_some_finding(tma_kernels,
                      "rooftile::tma_test::multicast<rooftile::tma_test::too_few_bytes>", shape,
                      map, out.data());
}

struct StoreBoxes {
  DeviceArray<int> out{std::vector<int>(64 * 32 * 2 + 1)};
  TensorMap map = make_tensor_map(sim_device(), spec(out.data()));
  LaunchShape shape{.grid = {1}, .block = {64}, .dynamic_shared_bytes = 8192};
  static TensorMapSpec spec(int* data) {
    TensorMapSpec spec = rows_of(data);
    spec.swizzle = Swizzle::none;
    return spec;
  }
  static std::string kernel(const std::string& fault) {
    return "rooftile::tma_test::store_boxes<rooftile::tma_test::" + fault + ">";
  }
  void expect(const std::string& fault, FindingKind kind, const std::vector<std::string>& words) {
    expect_finding(kind, words, tma_kernels, kernel(fault), shape, map, out.data());
  }
};

TEST(TmaStore, CleanAndCounted) {
  StoreBoxes test;
  expect_clean(tma_kernels, StoreBoxes::kernel("none"), test.shape, test.map, test.out.data());
  const std::vector<int> out = test.out.values();
  EXPECT_EQ(out[5 * 32 + 7], 507);
  EXPECT_EQ(out[(64 + 63) * 32 + 31], 6331 + 10000);
  EXPECT_EQ(out[64 * 32 * 2], 3);
  const SimLaunch done = run_once(tma_kernels, StoreBoxes::kernel("none"), test.shape, SimOptions{},
                                  test.map, test.out.data());
  EXPECT_EQ(done.counters[SimCounter::tma_store_bytes], 16384u);
}
TEST(TmaStore, WithoutAProxyFence) {
  StoreBoxes().expect("no_proxy_fence", FindingKind::missing_fence,
                      {"tma_kernels.cu:", "dynamic shared memory"});
}
TEST(TmaStore, BeforeOthersHaveWritten) {
  StoreBoxes().expect("no_sync", FindingKind::race, {"tma_kernels.cu:"});
}
TEST(TmaStore, SourceOverwritten) {
  StoreBoxes().expect("no_read_wait", FindingKind::missing_wait, {"asynchronous store"});
}
TEST(TmaStore, NegativeCoordinatesStopTheKernel) {
  StoreBoxes().expect("negative", FindingKind::bad_operand, {"coordinate 1 is -1"});
}
TEST(TmaStore, NeverCommitted) {
  StoreBoxes().expect("no_commit", FindingKind::missing_wait, {"tma_kernels.cu:"});
}
TEST(TmaStore, ResultReadBeforeItIsWritten) {
  StoreBoxes().expect("result_before_wait", FindingKind::missing_wait,
                      {"byte 12 of an allocation"});
}

/// Of 64 words that the tensor and the box begin with.
std::vector<std::uint32_t> reduced(int op, DType dtype, std::vector<std::uint32_t> to,
                                   const std::vector<std::uint32_t>& from) {
  const DeviceArray<std::uint32_t> data(to);
  const DeviceArray<std::uint32_t> in(from);
  TensorMapSpec spec{.data = data.data(), .dtype = dtype, .rank = 2};
  const int per_word = 4 / info(dtype).unit_bytes;
  spec.extent = {32 * per_word, 2};
  spec.stride_bytes = {0, 128};
  spec.box = {32 * per_word, 2};
  const TensorMap map = make_tensor_map(sim_device(), spec);
  const LaunchShape shape{.grid = {1}, .block = {64}, .dynamic_shared_bytes = 256};
  const SimLaunch done =
      run_once(tma_kernels, "rooftile::tma_test::reduce_box<" + std::to_string(op) + ">", shape,
               SimOptions{}, map, in.data());
  EXPECT_TRUE(done.findings.empty()) << all_findings(done);
  return data.values();
}

/// 4 rows of 16-bit numbers of which the box, all ones, covers 32 columns from `column` on; the row
/// of memory is 64. How many numbers of each row were written.
std::vector<int> written(std::int64_t columns, std::int64_t rows, int column) {
  const DeviceArray<std::uint32_t> in(std::vector<std::uint32_t>(64, 0x00010001));
  const DeviceArray<std::uint16_t> out(std::vector<std::uint16_t>(4 * 64));
  TensorMapSpec spec{.data = out.data() + column, .dtype = DType::i16, .rank = 2};
  spec.extent = {columns - column, rows};
  spec.stride_bytes = {0, 128};
  spec.box = {32, 4};
  const TensorMap map = make_tensor_map(sim_device(), spec);
  const LaunchShape shape{.grid = {1}, .block = {64}, .dynamic_shared_bytes = 256};
  expect_clean(tma_kernels, "rooftile::tma_test::store_box<2>", shape, map, in.data());
  std::vector<int> counts;
  const std::vector<std::uint16_t> values = out.values();
  for (std::size_t r = 0; r < 4; ++r)
    counts.push_back(std::accumulate(&values[r * 64], &values[r * 64] + 64, 0));
  return counts;
}

// As an H200 does: rows are cut exactly, columns at multiples of 16 bytes.
TEST(TmaStore, CutsAtMultiplesOf16Bytes) {
  EXPECT_EQ(written(24, 3, 0), (std::vector{24, 24, 24, 0}));
  EXPECT_EQ(written(25, 2, 0), (std::vector{32, 32, 0, 0}));
  EXPECT_EQ(written(17, 4, 16), (std::vector{8, 8, 8, 8}));
  EXPECT_EQ(written(1, 4, 0), (std::vector{8, 8, 8, 8}));
}

// The 16 bytes of the last row reach behind the memory that there is.
TEST(TmaStore, WritesBehindTheLastRow) {
  const DeviceArray<std::uint32_t> in(std::vector<std::uint32_t>(64, 1));
  const DeviceArray<std::uint16_t> out(std::vector<std::uint16_t>(20));
  TensorMapSpec spec{.data = out.data(), .dtype = DType::i16, .rank = 1};
  spec.extent = {20};
  spec.box = {128};
  const TensorMap map = make_tensor_map(sim_device(), spec);
  expect_finding(FindingKind::out_of_bounds, {"TMA store: writes 48 bytes", "past the end"},
                 tma_kernels, "rooftile::tma_test::store_box<1>",
                 LaunchShape{.grid = {1}, .block = {64}, .dynamic_shared_bytes = 256}, map,
                 in.data());
}

std::uint32_t bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  return bits;
}

TEST(TmaReduce, EveryOperation) {
  const std::vector<std::uint32_t> same(64, 5);
  EXPECT_EQ(reduced(0, DType::i32, std::vector<std::uint32_t>(64, 7), same)[63], 12u);
  EXPECT_EQ(reduced(1, DType::i32, std::vector<std::uint32_t>(64, 0xfffffff0), same)[0],
            0xfffffff0);
  EXPECT_EQ(reduced(2, DType::i32, std::vector<std::uint32_t>(64, 0xfffffff0), same)[0], 5u);
  EXPECT_EQ(reduced(3, DType::i32, std::vector<std::uint32_t>(64, 7), same)[9], 2u);
  const std::vector<std::uint32_t> half(64, bits(0.5f));
  EXPECT_EQ(reduced(0, DType::f32, std::vector<std::uint32_t>(64, bits(2)), half)[1], bits(2.5f));
  // Two bf16 a word: 1 and 2; 256 + 1 is a tie that goes to even.
  const std::vector<std::uint32_t> ones(64, 0x3f803f80);
  EXPECT_EQ(reduced(0, DType::bf16, std::vector<std::uint32_t>(64, 0x40004380), ones)[1],
            0x40404380u);
  EXPECT_EQ(reduced(2, DType::bf16, std::vector<std::uint32_t>(64, 0x40000000), ones)[1],
            0x40003f80u);
  EXPECT_EQ(reduced(1, DType::bf16, std::vector<std::uint32_t>(64, 0x7fc0bf80), ones)[1],
            0x3f80bf80u);
}

TEST(SimTensorMap, ChecksItsRules) {
  const DeviceArray<int> in(counted<int>(64));
  TensorMapSpec spec = rows_of(in.data());
  spec.outside = OutOfBounds::nan;
  EXPECT_THROW(make_tensor_map(sim_device(), spec), std::exception);
}

}  // namespace
}  // namespace rooftile
