// SPDX-License-Identifier: Apache-2.0
// mma.sync: the last lane of the warp to come multiplies for all. Source: PTX ISA, "Warp Level
// Matrix Instructions: mma".
#include <array>

#include "rooftile/device/sim/machine.h"
#include "rooftile/device/sim/matrix_unit.h"
#include "rooftile/device/sim/register_watch.h"
#include "rooftile/tile/fragment.h"
#include "rooftile/tile/sim/matrix.h"

namespace rooftile::sim {
namespace {

constexpr std::uint32_t kMma = 0x1000;  // kinds of gatherings from here on
constexpr int kRows = 16, kColumns = 8, kLargestK = 32;
constexpr int kAccumulators = 4;  // of a lane

/// The registers of one lane.
struct MmaRegisters {
  void* d;
  const std::uint32_t* a;
  const std::uint32_t* b;
  const void* c;
};

struct MmaOperands {
  std::array<MatrixValue, kRows * kLargestK> a;
  std::array<MatrixValue, kColumns * kLargestK> b;  // k x n
  std::array<MatrixValue, kRows * kColumns> d;
};

template <int kBits>
void read_lane(MmaOperands& to, const MmaForm& form, const MmaRegisters& from, int lane) {
  std::array<MatrixValue, 16> elements;
  const int count_a = kRows * form.k / kLanes;
  unpack(elements.data(), 1, from.a, count_a, form.a);
  for (int i = 0; i < count_a; ++i) {
    const FragmentElement at = mma_operand_a<kBits>(lane, i);
    to.a[static_cast<std::size_t>(at.row * form.k + at.column)] =
        elements[static_cast<std::size_t>(i)];
  }
  const int count_b = kColumns * form.k / kLanes;
  unpack(elements.data(), 1, from.b, count_b, form.b);
  for (int i = 0; i < count_b; ++i) {
    const FragmentElement at = mma_operand_b<kBits>(lane, i);
    to.b[static_cast<std::size_t>(at.column * kColumns + at.row)] =
        elements[static_cast<std::size_t>(i)];
  }
  unpack_accumulators(elements.data(), from.c, kAccumulators, form.d);
  for (int i = 0; i < kAccumulators; ++i) {
    const FragmentElement at = mma_accumulator(lane, i);
    to.d[static_cast<std::size_t>(at.row * kColumns + at.column)] =
        elements[static_cast<std::size_t>(i)];
  }
}

void read_lane(MmaOperands& to, const MmaForm& form, const MmaRegisters& from, int lane) {
  if (form.a == MatrixDtype::tf32) return read_lane<32>(to, form, from, lane);
  if (is_16_bit(form.a)) return read_lane<16>(to, form, from, lane);
  read_lane<8>(to, form, from, lane);
}

void multiply_warp(const MmaForm& form, const Warp& warp) {
  static thread_local MmaOperands operands;
  const auto lane_registers = [&](int lane) -> const MmaRegisters& {
    return *reinterpret_cast<const MmaRegisters*>(warp.value[static_cast<std::size_t>(lane)]);
  };
  for (int lane = 0; lane < kLanes; ++lane) read_lane(operands, form, lane_registers(lane), lane);
  multiply_add(MatrixUnit::mma, {form.a, form.b, form.d}, kRows, kColumns, form.k,
               operands.a.data(), operands.b.data(), operands.d.data());
  for (int lane = 0; lane < kLanes; ++lane) {
    std::array<MatrixValue, kAccumulators> elements;
    for (int i = 0; i < kAccumulators; ++i) {
      const FragmentElement at = mma_accumulator(lane, i);
      elements[static_cast<std::size_t>(i)] =
          operands.d[static_cast<std::size_t>(at.row * kColumns + at.column)];
    }
    pack_accumulators(lane_registers(lane).d, elements.data(), kAccumulators, form.d);
  }
  SimCounters& counters = worker()->counters;
  counters[SimCounter::mma_instructions] += 1;
  counters[SimCounter::mma_multiply_adds] += static_cast<std::uint64_t>(kRows * kColumns * form.k);
}

}  // namespace

void mma(const MmaForm& form, void* d, const std::uint32_t* a, const std::uint32_t* b,
         const void* c) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const auto bytes_a = static_cast<std::uint32_t>(kRows * form.k *
                                                  (form.a == MatrixDtype::tf32 ? 4
                                                   : is_16_bit(form.a)         ? 2
                                                                               : 1) /
                                                  kLanes);
  const std::uint32_t bytes_d = form.d == MatrixDtype::fp16 ? 8 : 16;
  note_registers(a, bytes_a, false, pc);
  note_registers(b, bytes_a / 2, false, pc);
  note_registers(c, bytes_d, false, pc);
  note_registers(d, bytes_d, true, pc);
  const MmaRegisters mine{d, a, b, c};
  const std::uint32_t kind =
      kMma + static_cast<std::uint32_t>(form.a) * 16 + static_cast<std::uint32_t>(form.b) * 256 +
      static_cast<std::uint32_t>(form.d) + static_cast<std::uint32_t>(form.k) * 65536;
  gather_warp(kind, 0xffffffff, reinterpret_cast<std::uint64_t>(&mine), pc,
              [&form](Warp& warp, std::uint32_t lanes) {
                if (lanes == 0xffffffff) multiply_warp(form, warp);
              });
}

}  // namespace rooftile::sim
