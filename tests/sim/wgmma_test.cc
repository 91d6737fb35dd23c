// SPDX-License-Identifier: Apache-2.0
// wgmma in the simulator: each type, layout and swizzle against single dot products, and faults
// that must be found.
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/tile/fragment.h"
#include "rooftile/tile/ptx/wgmma_descriptor.h"
#include "tests/sim/matrix_test.h"

extern const rooftile::KernelTable wgmma_kernels;

namespace rooftile::sim_test {
namespace {

constexpr int kThreads = 128;
constexpr int kChunk = 16;

LaunchShape one_block(std::size_t shared_bytes) {
  return {.grid = {1},
          .block = {kThreads},
          .dynamic_shared_bytes = static_cast<std::int64_t>(shared_bytes)};
}

/// One operand in shared memory: `rows` of m or n, all of k.
struct Tile {
  Major major;
  Swizzle swizzle;
  WgmmaLayout layout;
  std::uint32_t advance;  // of the descriptor for one instruction's k
  std::uint32_t bytes;
};

/// Where the element lies, from the start of the tile. `k` of 16 bytes by two in an instruction.
std::uint32_t place(const Tile& tile, int bits, int row, int k) {
  const int per_chunk = 128 / bits;
  const auto row_bytes = static_cast<int>(swizzle_row_bytes(tile.swizzle));
  const int line = tile.major == Major::k ? row : k;
  const int along = tile.major == Major::k ? k : row;
  const int chunk = along / per_chunk;
  const int byte = along % per_chunk * bits / 8;
  const int chunks_of_row = row_bytes / kChunk;
  const WgmmaLayout& l = tile.layout;
  int offset = line % 8 * row_bytes + chunk % chunks_of_row * kChunk + byte;
  if (tile.swizzle == Swizzle::none && tile.major == Major::mn)
    offset +=
        line / 8 * static_cast<int>(l.leading_bytes) + chunk * static_cast<int>(l.stride_bytes);
  else
    offset += line / 8 * static_cast<int>(l.stride_bytes) +
              chunk / chunks_of_row * static_cast<int>(l.leading_bytes);
  return swizzled(tile.swizzle, static_cast<std::uint32_t>(offset));
}

/// A tile that has room for `rows` and 2 instructions of `k`, in patterns one after the other.
Tile make_tile(Major major, Swizzle swizzle, int bits, int rows, int k) {
  const std::uint32_t row_bytes = swizzle_row_bytes(swizzle);
  const std::uint32_t pattern = 8 * row_bytes;
  const int lines = major == Major::k ? rows : 2 * k;
  const auto patterns_down = static_cast<std::uint32_t>((lines + 7) / 8);
  const int along_bytes = (major == Major::k ? 2 * k : rows) * bits / 8;
  const std::uint32_t patterns_across =
      (static_cast<std::uint32_t>(along_bytes) + row_bytes - 1) / row_bytes;
  const std::uint32_t across = pattern * patterns_down;
  Tile tile{major, swizzle, {swizzle, pattern, across, 0}, 0, across * patterns_across};
  if (swizzle == Swizzle::none && major == Major::mn) tile.layout = {swizzle, across, pattern, 0};
  if (major == Major::mn)
    tile.advance = static_cast<std::uint32_t>(k / 8) * pattern;
  else
    tile.advance = swizzle == Swizzle::none || row_bytes == 32
                       ? across * (swizzle == Swizzle::none ? 2 : 1)
                       : 32;
  return tile;
}

void put(std::vector<std::uint8_t>& image, std::uint32_t at, const Tile& tile,
         const CodeMatrix& matrix) {
  for (int r = 0; r < matrix.rows; ++r)
    for (int c = 0; c < matrix.columns; ++c) {
      const std::uint32_t code = matrix.code(r, c);
      std::memcpy(image.data() + at + place(tile, matrix.of.bits, r, c), &code,
                  static_cast<std::size_t>(matrix.of.bits / 8));
    }
}

struct Form {
  std::string kernel;
  MatrixDtype a, b, d;
  int n;
  Major major_a = Major::k, major_b = Major::k;
  int scale_a = 1;
};

void PrintTo(const Form& form, std::ostream* out) { *out << form.kernel; }

double register_value(const std::vector<std::uint32_t>& registers, MatrixDtype d, int thread, int i,
                      int count) {
  const auto at = static_cast<std::size_t>(thread * count + i);
  if (d == MatrixDtype::s32) return static_cast<std::int32_t>(registers[at]);
  if (d == MatrixDtype::f32) return std::bit_cast<float>(registers[at]);
  const std::uint32_t pair = registers[at / 2];
  return static_cast<float>(fp16{static_cast<std::uint16_t>(i % 2 != 0 ? pair >> 16 : pair)});
}

void expect_wgmma(const Form& form, Swizzle swizzle_a, Swizzle swizzle_b,
                  const SimOptions& options) {
  Random random(static_cast<std::uint64_t>(form.n));
  const int k = 256 / codec(form.a).bits;
  const CodeMatrix a(64, 2 * k, codec(form.a), random), b(form.n, 2 * k, codec(form.b), random);
  const Tile tile_a = make_tile(form.major_a, swizzle_a, a.of.bits, 64, k);
  const Tile tile_b = make_tile(form.major_b, swizzle_b, b.of.bits, form.n, k);
  const std::uint32_t b_at = (tile_a.bytes + 1023) / 1024 * 1024;
  std::vector<std::uint8_t> image(b_at + tile_b.bytes);
  put(image, 0, tile_a, a);
  put(image, b_at, tile_b, b);
  const int count = form.n / 2;  // accumulators of a thread
  const int registers = form.d == MatrixDtype::fp16 ? count / 2 : count;
  std::vector<std::uint32_t> c(static_cast<std::size_t>(kThreads * registers));
  for (std::uint32_t& value : c)
    value = form.d == MatrixDtype::s32   ? random.next()
            : form.d == MatrixDtype::f32 ? std::bit_cast<std::uint32_t>(random.number())
                                         : 0x3c00u | random.next() % 1024 << 16;
  Simulated gpu;
  gpu.device->set_options(options);
  std::uint32_t* const out = gpu.memory(c);
  const SimLaunch launch =
      gpu.run(wgmma_kernels, form.kernel, one_block(image.size()), out, gpu.memory(c),
              gpu.memory(image), static_cast<int>(image.size() / kChunk), tile_a.layout,
              tile_b.layout, b_at, tile_a.advance, tile_b.advance, 2);
  ASSERT_TRUE(launch.findings.empty()) << findings(launch);
  EXPECT_EQ(launch.counters[SimCounter::wgmma_instructions], 2u);
  EXPECT_EQ(launch.counters[SimCounter::wgmma_multiply_adds],
            static_cast<std::uint64_t>(2 * 64 * form.n * k));
  EXPECT_EQ(launch.counters[SimCounter::wgmma_shared_bytes],
            static_cast<std::uint64_t>(2 * 32 * (64 + form.n)));
  const std::vector<std::uint32_t> result = gpu.values(out, static_cast<std::int64_t>(c.size()));
  for (int thread = 0; thread < kThreads; ++thread)
    for (int i = 0; i < count; ++i) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
      const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      double expected = register_value(c, form.d, thread, i, count);
      for (int step = 0; step < 2; ++step)
        expected = one_result(MatrixUnit::wgmma, a, b, form.d, row, column, step * k, k, expected,
                              form.scale_a);
      ASSERT_EQ(register_value(result, form.d, thread, i, count), expected)
          << "row " << row << " column " << column;
    }
}

class WgmmaForms : public testing::TestWithParam<Form> {};

TEST_P(WgmmaForms, EveryElementIsTheDotProduct) {
  for (const Swizzle a : {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128})
    for (const Swizzle b : {a, Swizzle::bytes128}) {
      SCOPED_TRACE(testing::Message() << "swizzles " << int(a) << " " << int(b));
      expect_wgmma(GetParam(), a, b, {});
    }
}

TEST_P(WgmmaForms, EarlyAndRandomExecutionsGiveTheSame) {
  expect_wgmma(GetParam(), Swizzle::bytes128, Swizzle::bytes64,
               {.order = SimOrder::reversed, .completion = SimCompletion::early});
  for (std::uint64_t seed = 1; seed < 4; ++seed)
    expect_wgmma(GetParam(), Swizzle::bytes64, Swizzle::bytes32,
                 {.order = SimOrder::random, .completion = SimCompletion::random, .seed = seed});
}

INSTANTIATE_TEST_SUITE_P(
    All, WgmmaForms,
    testing::Values(Form{"shared_a<bf16, bf16, float, 128>", MatrixDtype::bf16, MatrixDtype::bf16,
                         MatrixDtype::f32, 128},
                    Form{"shared_a<bf16, bf16, float, 256>", MatrixDtype::bf16, MatrixDtype::bf16,
                         MatrixDtype::f32, 256},
                    Form{"shared_a<bf16, bf16, float, 64, 1, 1>", MatrixDtype::bf16,
                         MatrixDtype::bf16, MatrixDtype::f32, 64, Major::mn, Major::mn},
                    Form{"shared_a<fp16, fp16, float, 128, 0, 1, -1>", MatrixDtype::fp16,
                         MatrixDtype::fp16, MatrixDtype::f32, 128, Major::k, Major::mn, -1},
                    Form{"shared_a<fp16, fp16, fp16, 24, 1, 0>", MatrixDtype::fp16,
                         MatrixDtype::fp16, MatrixDtype::fp16, 24, Major::mn, Major::k},
                    Form{"shared_a<tf32, tf32, float, 40>", MatrixDtype::tf32, MatrixDtype::tf32,
                         MatrixDtype::f32, 40},
                    Form{"shared_a<e4m3, e5m2, float, 32>", MatrixDtype::e4m3, MatrixDtype::e5m2,
                         MatrixDtype::f32, 32},
                    Form{"shared_a<e5m2, e4m3, fp16, 16>", MatrixDtype::e5m2, MatrixDtype::e4m3,
                         MatrixDtype::fp16, 16},
                    Form{"shared_a<int8_t, uint8_t, int32_t, 96>", MatrixDtype::s8, MatrixDtype::u8,
                         MatrixDtype::s32, 96}));

template <int kBits>
void expect_register_a(const std::string& kernel, MatrixDtype type_a, MatrixDtype type_b,
                       MatrixDtype type_d, int n) {
  Random random(7);
  const int k = 256 / kBits;
  const CodeMatrix a(64, k, codec(type_a), random), b(n, 2 * k, codec(type_b), random);
  const Tile tile = make_tile(Major::k, Swizzle::bytes64, kBits, n, k);
  std::vector<std::uint8_t> image(tile.bytes);
  put(image, 0, tile, b);
  std::vector<std::uint32_t> registers(kThreads * 4);
  for (int thread = 0; thread < kThreads; ++thread)
    for (int i = 0; i < 128 / kBits; ++i) {
      const FragmentElement at = wgmma_operand_a<kBits>(thread, i);
      const int per_register = 32 / kBits;
      registers[static_cast<std::size_t>(thread * 4 + i / per_register)] |=
          a.code(at.row, at.column) << i % per_register * kBits;
    }
  Simulated gpu;
  const int count = n / 2;
  auto* const out = gpu.memory<std::uint32_t>(kThreads * count);
  const SimLaunch launch =
      gpu.run(wgmma_kernels, kernel, one_block(image.size()), out, gpu.memory(registers),
              gpu.memory(image), static_cast<int>(image.size() / kChunk), tile.layout);
  ASSERT_TRUE(launch.findings.empty()) << findings(launch);
  EXPECT_EQ(launch.counters[SimCounter::wgmma_shared_bytes], static_cast<std::uint64_t>(32 * n));
  const std::vector<std::uint32_t> result = gpu.values(out, kThreads * count);
  for (int thread = 0; thread < kThreads; ++thread)
    for (int i = 0; i < n / 2; ++i) {
      const FragmentElement at = wgmma_accumulator(thread, i);
      ASSERT_EQ(register_value(result, type_d, thread, i, n / 2),
                one_result(MatrixUnit::wgmma, a, b, type_d, at.row, at.column, 0, k, 0));
    }
}

TEST(WgmmaRegisterA, EveryElementIsTheDotProduct) {
  expect_register_a<16>("register_a<bf16, bf16, float, 8>", MatrixDtype::bf16, MatrixDtype::bf16,
                        MatrixDtype::f32, 8);
  expect_register_a<32>("register_a<tf32, tf32, float, 16>", MatrixDtype::tf32, MatrixDtype::tf32,
                        MatrixDtype::f32, 16);
  expect_register_a<8>("register_a<e4m3, e4m3, float, 24>", MatrixDtype::e4m3, MatrixDtype::e4m3,
                       MatrixDtype::f32, 24);
  expect_register_a<8>("register_a<uint8_t, int8_t, int32_t, 8>", MatrixDtype::u8, MatrixDtype::s8,
                       MatrixDtype::s32, 8);
}

SimLaunch run_faulty(const std::string& fault, const SimOptions& options = {}) {
  Random random(3);
  std::vector<std::uint32_t> image(4096);
  for (std::uint32_t& value : image) value = random.code(codec(MatrixDtype::bf16)) * 65537u;
  Simulated gpu;
  gpu.device->set_options(options);
  return gpu.run(wgmma_kernels, "faulty<" + fault + ">", one_block(16384),
                 gpu.memory<float>(kThreads * 32), gpu.memory(image));
}

TEST(WgmmaFaults, NoneIsFoundInTheKernelWithoutOne) {
  for (const SimCompletion completion :
       {SimCompletion::early, SimCompletion::late, SimCompletion::random})
    for (const SimOrder order : {SimOrder::in_order, SimOrder::reversed, SimOrder::random}) {
      const SimLaunch launch = run_faulty("kNone", {.order = order, .completion = completion});
      EXPECT_TRUE(launch.findings.empty()) << findings(launch);
    }
}

struct Fault {
  std::string name;
  FindingKind kind;
  std::string part;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class WgmmaFault : public testing::TestWithParam<Fault> {};

TEST_P(WgmmaFault, IsFoundInEverySchedule) {
  for (const SimCompletion completion :
       {SimCompletion::early, SimCompletion::late, SimCompletion::random})
    for (const SimOrder order : {SimOrder::in_order, SimOrder::reversed, SimOrder::random}) {
      const SimLaunch launch =
          run_faulty(GetParam().name, {.order = order, .completion = completion});
      EXPECT_TRUE(has(launch, GetParam().kind, GetParam().part)) << findings(launch);
      EXPECT_TRUE(has(launch, GetParam().kind, "wgmma_kernels.cu:")) << findings(launch);
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, WgmmaFault,
    testing::Values(
        Fault{"kNoProxyFence", FindingKind::missing_fence, "fence.proxy.async"},
        Fault{"kNoWait", FindingKind::registers, "in flight"},
        Fault{"kWaitTooEarly", FindingKind::registers, "in flight"},
        Fault{"kNoCommit", FindingKind::registers, "in flight"},
        Fault{"kNoFence", FindingKind::registers, "no wgmma.fence"},
        Fault{"kWriteAfterFence", FindingKind::registers, "since the last wgmma.fence"},
        Fault{"kNotUniform", FindingKind::bad_operand, "descriptor B is"},
        Fault{"kThreeWarps", FindingKind::divergence, "executed by 96 of its 128 threads"},
        Fault{"kOtherInstruction", FindingKind::divergence, "another wgmma"},
        Fault{"kInsidePattern", FindingKind::bad_operand, "pattern of 1024 bytes"},
        Fault{"kOutOfRange", FindingKind::out_of_bounds, "outside of the block's shared memory"},
        Fault{"kChangedA", FindingKind::registers, "writes registers of the operand A"},
        Fault{"kNeverWaited", FindingKind::missing_wait, "without wgmma.wait_group"},
        Fault{"kBaseOffset", FindingKind::unsupported, "base offset of 1"}));

// Which of the two comes first depends on the schedule, and so does the kind.
TEST(WgmmaFaults, SharedMemoryWrittenBeforeTheWaitIsFoundInEverySchedule) {
  for (const SimOrder order : {SimOrder::in_order, SimOrder::reversed, SimOrder::random}) {
    const SimLaunch launch = run_faulty("kChangedShared", {.order = order});
    EXPECT_TRUE(has(launch, FindingKind::missing_wait, "wgmma of warpgroup 0") ||
                has(launch, FindingKind::race, "wgmma of warpgroup 0"))
        << findings(launch);
  }
}

TEST(WgmmaFaults, ReadsThatNoBarrierOrdersAreARace) {
  const SimLaunch launch = run_faulty("kNoBarrier");
  EXPECT_TRUE(has(launch, FindingKind::race, "wgmma of warpgroup 0") ||
              has(launch, FindingKind::uninitialised, "wgmma of warpgroup 0"))
      << findings(launch);
}

}  // namespace
}  // namespace rooftile::sim_test
