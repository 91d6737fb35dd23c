// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and movmatrix. Each 8 x 8 matrix is 8 rows of 16 bytes, which the memory
// serves as it serves a quarter warp. Source: PTX ISA, "ldmatrix", "stmatrix", "movmatrix".
#include <algorithm>
#include <array>
#include <cstring>

#include "rooftile/device/sim/checks.h"
#include "rooftile/device/sim/machine.h"
#include "rooftile/device/sim/register_watch.h"
#include "rooftile/device/sim/wgmma_operand.h"
#include "rooftile/tile/sim/matrix.h"

namespace rooftile::sim {
namespace {

enum : std::uint32_t { kLdmatrix = 0x2000, kStmatrix = 0x2100, kMovmatrix = 0x2200 };
constexpr int kSide = 8;
constexpr std::uint32_t kRowBytes = 16;

using Matrix = std::array<std::array<std::uint16_t, kSide>, kSide>;

/// What one lane gives: its registers, and the address of a row.
struct MatrixMove {
  std::uint32_t* registers;
  std::uint64_t row;
};

/// Element [row][column] of a matrix that half `half` of a register of `lane` holds.
std::uint16_t& element(Matrix& matrix, int lane, int half, bool transposed) {
  const auto row = static_cast<std::size_t>(lane / 4);
  const auto column = static_cast<std::size_t>(lane % 4 * 2 + half);
  return transposed ? matrix[column][row] : matrix[row][column];
}

std::uint32_t get_register(Matrix& matrix, int lane, bool transposed) {
  return element(matrix, lane, 0, transposed) |
         static_cast<std::uint32_t>(element(matrix, lane, 1, transposed)) << 16;
}

void set_register(Matrix& matrix, int lane, bool transposed, std::uint32_t value) {
  element(matrix, lane, 0, transposed) = static_cast<std::uint16_t>(value);
  element(matrix, lane, 1, transposed) = static_cast<std::uint16_t>(value >> 16);
}

/// Passes over the banks for 8 rows: a row takes one of 8 groups of 4 banks.
std::uint64_t wavefronts(const std::array<std::uint64_t, kSide>& rows) {
  std::array<std::uint64_t, kSide> wanted{};
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (std::find(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(i), rows[i]) ==
        rows.begin() + static_cast<std::ptrdiff_t>(i))
      ++wanted[rows[i] / kRowBytes % kSide];
  return *std::max_element(wanted.begin(), wanted.end());
}

/// A lane that gets elements of row `r` of matrix `m`, not the one that gives the row's address:
/// for what that one wrote itself, the lanes need __syncwarp() all the same.
int reader(int m, int r, bool transposed) {
  const int first = transposed ? r / 2 : 4 * r;
  const int second = first + (transposed ? 4 : 1);
  return first != kSide * m + r ? first : second;
}

/// The 16 bytes of a row that `thread` reads or writes; null after a finding.
std::uint8_t* check_row(Block& block, int thread, std::uint64_t row, bool is_write,
                        std::uint32_t pc) {
  const char* name = is_write ? "stmatrix" : "ldmatrix";
  if (row % kRowBytes != 0) {
    if (is_new_finding(FindingKind::misaligned, pc, 0))
      report(FindingKind::misaligned, pc, 0,
             describe_actor(block, thread) + ": a row of " + name +
                 " at an address that is no multiple of 16");
    return nullptr;
  }
  std::uint8_t* const bytes =
      is_shared(block, row) ? shared_bytes(block, window_address(block, row), kRowBytes) : nullptr;
  if (bytes == nullptr) {
    if (is_new_finding(FindingKind::out_of_bounds, pc, 0))
      report(FindingKind::out_of_bounds, pc, 0,
             describe_actor(block, thread) + ": a row of " + name +
                 " outside of the block's shared memory");
    return nullptr;
  }
  if (worker()->launch.options.check)
    check_access({.observer = &block,
                  .thread = thread,
                  .actor = thread,
                  .clock = block[thread].clock,
                  .is_write = is_write,
                  .pc = pc},
                 block, row, kRowBytes);
  return bytes;
}

void move(Warp& warp, int first_thread, int matrices, bool transposed, bool is_write,
          std::uint32_t pc) {
  Block& block = *worker()->block;
  SimCounters& counters = worker()->counters;
  counters[is_write ? SimCounter::stmatrix_requests : SimCounter::ldmatrix_requests] += 1;
  const auto move_of = [&](int lane) -> const MatrixMove& {
    return *reinterpret_cast<const MatrixMove*>(warp.value[static_cast<std::size_t>(lane)]);
  };
  for (int m = 0; m < matrices; ++m) {
    Matrix matrix{};
    std::array<std::uint64_t, kSide> rows{};
    if (is_write)
      for (int lane = 0; lane < kLanes; ++lane)
        set_register(matrix, lane, transposed, move_of(lane).registers[m]);
    for (int r = 0; r < kSide; ++r) {
      const int lane = kSide * m + r;
      const auto at = static_cast<std::size_t>(r);
      rows[at] = move_of(lane).row;
      const int thread = first_thread + (is_write ? lane : reader(m, r, transposed));
      std::uint8_t* const bytes = check_row(block, thread, rows[at], is_write, pc);
      if (bytes == nullptr) continue;
      if (is_write)
        std::memcpy(bytes, matrix[at].data(), kRowBytes);
      else
        std::memcpy(matrix[at].data(), bytes, kRowBytes);
    }
    const std::uint64_t taken = wavefronts(rows);
    counters[is_write ? SimCounter::stmatrix_wavefronts : SimCounter::ldmatrix_wavefronts] += taken;
    // As Nsight Compute does, to whom they are stores and loads of shared memory.
    counters[is_write ? SimCounter::shared_store_wavefronts : SimCounter::shared_load_wavefronts] +=
        taken;
    if (!is_write)
      for (int lane = 0; lane < kLanes; ++lane)
        move_of(lane).registers[m] = get_register(matrix, lane, transposed);
  }
}

void gather_move(std::uint32_t* registers, const void* row, int matrices, bool transposed,
                 bool is_write, std::uint32_t pc) {
  note_registers(registers, static_cast<std::uint32_t>(4 * matrices), !is_write, pc);
  const MatrixMove mine{registers, reinterpret_cast<std::uint64_t>(row)};
  const int first_thread = worker()->thread / kLanes * kLanes;
  const std::uint32_t kind = (is_write ? kStmatrix : kLdmatrix) +
                             static_cast<std::uint32_t>(matrices) * 2 +
                             static_cast<std::uint32_t>(transposed);
  gather_warp(kind, 0xffffffff, reinterpret_cast<std::uint64_t>(&mine), pc,
              [=](Warp& warp, std::uint32_t lanes) {
                if (lanes == 0xffffffff)
                  move(warp, first_thread, matrices, transposed, is_write, pc);
              });
}

}  // namespace

void ldmatrix(std::uint32_t* registers, const void* row, int matrices, bool transposed) {
  gather_move(registers, row, matrices, transposed, false, ROOFTILE_SIM_PC);
}

void stmatrix(void* row, const std::uint32_t* registers, int matrices, bool transposed) {
  gather_move(const_cast<std::uint32_t*>(registers), row, matrices, transposed, true,
              ROOFTILE_SIM_PC);
}

std::uint32_t movmatrix(std::uint32_t value) {
  return static_cast<std::uint32_t>(
      gather_warp(kMovmatrix, 0xffffffff, value, ROOFTILE_SIM_PC, [](Warp& warp, std::uint32_t) {
        Matrix matrix{};
        for (int lane = 0; lane < kLanes; ++lane)
          set_register(matrix, lane, false,
                       static_cast<std::uint32_t>(warp.value[static_cast<std::size_t>(lane)]));
        for (int lane = 0; lane < kLanes; ++lane)
          warp.result[static_cast<std::size_t>(lane)] = get_register(matrix, lane, true);
      }));
}

}  // namespace rooftile::sim
