// SPDX-License-Identifier: Apache-2.0
// A matrix in shared memory as a wgmma descriptor lays it out: where its 16-byte chunks lie.
#pragma once

#include <cstdint>
#include <vector>

#include "rooftile/device/sim/machine.h"
#include "rooftile/device/sim/matrix_unit.h"
#include "rooftile/tile/ptx/wgmma_descriptor.h"

namespace rooftile::sim {

/// Lines of chunks: k-major a line is a row (m of A, n of B) of 2 chunks; mn-major it is one k of
/// rows / 8 chunks.
struct WgmmaOperand {
  std::uint64_t descriptor;
  Major major;
  MatrixDtype type;
  int rows;  // 64 of A, N of B
  int k;
  int scale;

  [[nodiscard]] int lines() const { return major == Major::k ? rows : k; }
  [[nodiscard]] int chunks() const { return major == Major::k ? 2 : rows / 8; }
  /// Address in the window of shared memory.
  [[nodiscard]] std::uint32_t address(int line, int chunk) const;
};

/// Addresses that follow each other.
struct SharedRun {
  std::uint32_t address;
  std::uint32_t bytes;
};

/// The chunks [first_line, end_line) x [first_chunk, end_chunk), joined where they are neighbours.
std::vector<SharedRun> runs_of(const WgmmaOperand& operand, int first_line, int end_line,
                               int first_chunk, int end_chunk);

/// Its elements: element (row, k) goes to values[row * row_stride + k * k_stride]. Chunks outside
/// of the block's shared memory read as 0.
void read_operand(MatrixValue* values, int row_stride, int k_stride, const WgmmaOperand& operand,
                  Block& block);

/// What is wrong with the descriptor, empty where nothing is; `kind` says which.
std::string problem_of(const WgmmaOperand& operand, FindingKind& kind);

/// The 16 or more bytes at an address of the window; null where they are not all of the block's.
std::uint8_t* shared_bytes(Block& block, std::uint32_t address, std::uint32_t bytes);

}  // namespace rooftile::sim
