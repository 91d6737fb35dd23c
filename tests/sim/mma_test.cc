// SPDX-License-Identifier: Apache-2.0
// mma.sync, ldmatrix, stmatrix and their neighbours in the simulator.
#include "rooftile/device/gpu_kernel.h"
#include "tests/sim/matrix_test.h"

extern const rooftile::KernelTable mma_kernels;

namespace rooftile::sim_test {
namespace {

constexpr int kLanes = 32;

LaunchShape one_block(std::uint32_t threads, std::int64_t shared_bytes) {
  return {.grid = {1}, .block = {threads}, .dynamic_shared_bytes = shared_bytes};
}

struct Form {
  std::string kernel;
  MatrixDtype a, b, d;
  int k;
};
void PrintTo(const Form& form, std::ostream* out) { *out << form.kernel; }

/// Registers of all lanes of an operand whose 8-row groups and halves of k come in this order: PTX
/// ISA, "Matrix Fragments for mma".
std::vector<std::uint32_t> operand_registers(const CodeMatrix& matrix) {
  const int per_register = 32 / matrix.of.bits;
  const int groups = matrix.rows / 8;
  const int halves = matrix.columns / (4 * per_register);
  std::vector<std::uint32_t> registers;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int half = 0; half < halves; ++half)
      for (int group = 0; group < groups; ++group) {
        std::uint32_t value = 0;
        for (int e = 0; e < per_register; ++e)
          value |= matrix.code(8 * group + lane / 4, per_register * (4 * half + lane % 4) + e)
                   << e * matrix.of.bits;
        registers.push_back(value);
      }
  return registers;
}

double accumulator(const std::vector<std::uint32_t>& registers, MatrixDtype d, int row,
                   int column) {
  const int lane = row % 8 * 4 + column / 2, i = row / 8 * 2 + column % 2;
  if (d == MatrixDtype::fp16) {
    const std::uint32_t pair = registers[static_cast<std::size_t>(lane * 2 + i / 2)];
    return static_cast<float>(fp16{static_cast<std::uint16_t>(i % 2 != 0 ? pair >> 16 : pair)});
  }
  const std::uint32_t value = registers[static_cast<std::size_t>(lane * 4 + i)];
  if (d == MatrixDtype::s32) return static_cast<std::int32_t>(value);
  return std::bit_cast<float>(value);
}

class MmaForms : public testing::TestWithParam<Form> {};

TEST_P(MmaForms, EveryElementIsTheDotProduct) {
  const Form& form = GetParam();
  Random random(11);
  const CodeMatrix a(16, form.k, codec(form.a), random), b(8, form.k, codec(form.b), random);
  std::vector<std::uint32_t> c(form.d == MatrixDtype::fp16 ? 64 : 128);
  for (std::uint32_t& value : c)
    value = form.d == MatrixDtype::s32   ? random.next()
            : form.d == MatrixDtype::f32 ? std::bit_cast<std::uint32_t>(random.number())
                                         : 0x3c003800u + random.next() % 1024;
  Simulated gpu;
  std::uint32_t* const out = gpu.memory(c);
  const SimLaunch launch =
      gpu.run(mma_kernels, form.kernel, one_block(kLanes, 0), out, gpu.memory(c),
              gpu.memory(operand_registers(a)), gpu.memory(operand_registers(b)));
  ASSERT_TRUE(launch.findings.empty()) << findings(launch);
  EXPECT_EQ(launch.counters[SimCounter::mma_instructions], 1u);
  EXPECT_EQ(launch.counters[SimCounter::mma_multiply_adds],
            static_cast<std::uint64_t>(128 * form.k));
  const std::vector<std::uint32_t> result = gpu.values(out, static_cast<std::int64_t>(c.size()));
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column)
      ASSERT_EQ(accumulator(result, form.d, row, column),
                one_result(MatrixUnit::mma, a, b, form.d, row, column, 0, form.k,
                           accumulator(c, form.d, row, column)))
          << row << " " << column;
}

INSTANTIATE_TEST_SUITE_P(
    All, MmaForms,
    testing::Values(Form{"registers_only<bf16, bf16, float, 16>", MatrixDtype::bf16,
                         MatrixDtype::bf16, MatrixDtype::f32, 16},
                    Form{"registers_only<bf16, bf16, float, 8>", MatrixDtype::bf16,
                         MatrixDtype::bf16, MatrixDtype::f32, 8},
                    Form{"registers_only<fp16, fp16, float, 16>", MatrixDtype::fp16,
                         MatrixDtype::fp16, MatrixDtype::f32, 16},
                    Form{"registers_only<fp16, fp16, fp16, 16>", MatrixDtype::fp16,
                         MatrixDtype::fp16, MatrixDtype::fp16, 16},
                    Form{"registers_only<fp16, fp16, fp16, 8>", MatrixDtype::fp16,
                         MatrixDtype::fp16, MatrixDtype::fp16, 8},
                    Form{"registers_only<tf32, tf32, float, 8>", MatrixDtype::tf32,
                         MatrixDtype::tf32, MatrixDtype::f32, 8},
                    Form{"registers_only<tf32, tf32, float, 4>", MatrixDtype::tf32,
                         MatrixDtype::tf32, MatrixDtype::f32, 4},
                    Form{"registers_only<e4m3, e5m2, float, 32>", MatrixDtype::e4m3,
                         MatrixDtype::e5m2, MatrixDtype::f32, 32},
                    Form{"registers_only<int8_t, uint8_t, int32_t, 32>", MatrixDtype::s8,
                         MatrixDtype::u8, MatrixDtype::s32, 32},
                    Form{"registers_only<uint8_t, int8_t, int32_t, 16>", MatrixDtype::u8,
                         MatrixDtype::s8, MatrixDtype::s32, 16}));

/// Element [row][column] of 8 x 8 matrix `m`, in rows of 16 bytes.
std::uint16_t element(const std::vector<std::uint32_t>& words, int m, int row, int column) {
  const std::uint32_t word = words[static_cast<std::size_t>((m * 8 + row) * 4 + column / 2)];
  return static_cast<std::uint16_t>(column % 2 != 0 ? word >> 16 : word);
}

void expect_move(int count, bool transpose_load, bool transpose_store, int pitch,
                 std::uint64_t passes) {
  std::vector<std::uint32_t> values(static_cast<std::size_t>(count * 32));
  Random random(5);
  for (std::uint32_t& value : values) value = random.next() * 3;
  Simulated gpu;
  std::uint32_t* const out = gpu.memory(values);
  std::uint32_t* const registers = gpu.memory(values);
  const std::string kernel = "move_matrices<" + std::to_string(count) + ", " +
                             std::to_string(int(transpose_load)) + ", " +
                             std::to_string(int(transpose_store)) + ">";
  const SimLaunch launch = gpu.run(mma_kernels, kernel, one_block(kLanes, 8 * count * (pitch + 16)),
                                   out, gpu.memory(values), pitch, registers);
  ASSERT_TRUE(launch.findings.empty()) << findings(launch);
  EXPECT_EQ(launch.counters[SimCounter::ldmatrix_requests], 1u);
  EXPECT_EQ(launch.counters[SimCounter::ldmatrix_wavefronts], passes);
  EXPECT_GE(launch.counters[SimCounter::shared_load_wavefronts], passes);
  EXPECT_EQ(launch.counters[SimCounter::stmatrix_wavefronts], static_cast<std::uint64_t>(count));
  const std::vector<std::uint32_t> loaded = gpu.values(registers, count * 32),
                                   stored = gpu.values(out, count * 32);
  for (int m = 0; m < count; ++m)
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 8; ++c) {
        const std::uint16_t expected = element(values, m, r, c);
        const int row = transpose_load ? c : r, column = transpose_load ? r : c;
        const std::uint32_t pair =
            loaded[static_cast<std::size_t>((row * 4 + column / 2) * count + m)];
        ASSERT_EQ(column % 2 != 0 ? pair >> 16 : pair & 0xffff, expected);
        const bool is_turned = transpose_load != transpose_store;
        ASSERT_EQ(element(stored, m, is_turned ? c : r, is_turned ? r : c), expected);
      }
}

TEST(MatrixMoves, HoldTheElementsAndCountPasses) {
  expect_move(1, false, false, 16, 1);   // 8 rows side by side: every bank once
  expect_move(2, true, false, 128, 16);  // every row in the same 4 banks
  expect_move(4, false, true, 144, 4);   // padded rows
  expect_move(4, true, true, 32, 8);     // every second group of banks
}

SimLaunch run_move(const std::string& fault) {
  Simulated gpu;
  return gpu.run(mma_kernels, "faulty_move<" + fault + ">", one_block(kLanes, 512),
                 gpu.memory<std::uint32_t>(32), gpu.memory(std::vector<std::uint32_t>(128, 1)));
}

TEST(MatrixMoves, FaultsAreFoundWithTheirPlace) {
  const SimLaunch none = run_move("kNone");
  EXPECT_TRUE(none.findings.empty()) << findings(none);
  const auto expect = [](const std::string& fault, FindingKind kind, const std::string& part) {
    const SimLaunch launch = run_move(fault);
    EXPECT_TRUE(has(launch, kind, part)) << fault << "\n" << findings(launch);
  };
  expect("kNotAligned", FindingKind::misaligned, "mma_kernels.cu:");
  expect("kOutside", FindingKind::out_of_bounds, "outside of the block's shared memory");
  expect("kGlobalRow", FindingKind::out_of_bounds, "outside of the block's shared memory");
  expect("kNotSynchronised", FindingKind::race, "mma_kernels.cu:");
  expect("kHalfWarp", FindingKind::divergence, "have returned");
}

TEST(LaneFunctions, MovmatrixDp4aAndElect) {
  std::vector<std::uint32_t> values(32);
  Random random(9);
  for (std::uint32_t& value : values) value = random.next() * 2654435761u;
  Simulated gpu;
  std::uint32_t* const out = gpu.memory(std::vector<std::uint32_t>(160, 7));
  const SimLaunch launch =
      gpu.run(mma_kernels, "lane_functions", one_block(kLanes, 0), out, gpu.memory(values));
  ASSERT_TRUE(launch.findings.empty()) << findings(launch);
  const std::vector<std::uint32_t> result = gpu.values(out, 160);
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto at = static_cast<std::size_t>(lane);
    for (int half = 0; half < 2; ++half)
      EXPECT_EQ(result[at] >> 16 * half & 0xffff,
                element(values, 0, lane % 4 * 2 + half, lane / 4));
    std::uint32_t is_signed = values[at ^ 9], is_unsigned = values[at ^ 9];
    for (int byte = 0; byte < 4; ++byte) {
      const std::uint32_t x = values[at] >> 8 * byte & 255, y = values[at ^ 5] >> 8 * byte & 255;
      is_unsigned += x * y;
      is_signed +=
          static_cast<std::uint32_t>(static_cast<std::int8_t>(x) * static_cast<std::int8_t>(y));
    }
    EXPECT_EQ(result[32 + at], is_signed);
    EXPECT_EQ(result[64 + at], is_unsigned);
    EXPECT_EQ(result[96 + at], lane == 0 ? 1u : 0u);
    EXPECT_EQ(result[128 + at], lane < 16 ? 7u : lane == 16 ? 1u : 0u);
  }
}

TEST(MovingRegisters, FitAreUniformAndGrow) {
  const auto run_it = [](const std::string& fault) {
    Simulated gpu;
    return gpu.run(mma_kernels, "move_registers<" + fault + ">", one_block(384, 0),
                   gpu.memory<int>(384));
  };
  const SimLaunch fits = run_it("kRegistersFit");
  EXPECT_TRUE(fits.findings.empty()) << findings(fits);
  EXPECT_TRUE(has(run_it("kTooMany"), FindingKind::bad_operand, "would wait for ever"));
  EXPECT_TRUE(has(run_it("kNotUniform"), FindingKind::bad_operand, "differs between the warps"));
  EXPECT_TRUE(has(run_it("kIncreaseToLess"), FindingKind::bad_operand, "in a warp that has 232"));
}

}  // namespace
}  // namespace rooftile::sim_test
