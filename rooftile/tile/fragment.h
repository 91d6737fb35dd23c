// SPDX-License-Identifier: Apache-2.0
// Which element of a matrix each register of each thread holds, for the matrix instructions.
// Source: PTX ISA, "Matrix Fragments for mma.m16n8k16" and its neighbours, "Register Fragments" of
// wgmma. One rule serves all types: a register of 32 bits holds E = 32 / bits elements along k.
#pragma once

#include "rooftile/formats/host_device.h"

namespace rooftile {

struct FragmentElement {
  int row, column;
};

/// The accumulator of mma.sync m16n8 (C and D): element i = 0..3 of `lane`. fp16 elements are
/// packed in pairs: element i is half i % 2 of register i / 2.
///
///   lane / 4 = g, lane % 4 = t        column 2t  2t+1
///                            row g         0     1
///                            row g + 8     2     3
ROOFTILE_HD constexpr FragmentElement mma_accumulator(int lane, int i) {
  return {lane / 4 + 8 * (i / 2 % 2), 2 * (lane % 4) + i % 2};
}

/// Operand A of mma.sync m16n8k*: element i of `lane`, in registers of E elements.
///
///                     columns  Et .. Et+E-1    4E + Et .. 4E + Et+E-1
///   row g             register 0               2
///   row g + 8         register 1               3
template <int kBits>
ROOFTILE_HD constexpr FragmentElement mma_operand_a(int lane, int i) {
  constexpr int kElements = 32 / kBits;
  const int r = i / kElements;
  return {lane / 4 + 8 * (r % 2), kElements * (lane % 4 + 4 * (r / 2)) + i % kElements};
}

/// Operand B of mma.sync m16n8k*, as row = n and column = k: element i of `lane`.
///
///                     k        Et .. Et+E-1    4E + Et .. 4E + Et+E-1
///   n = g             register 0               1
template <int kBits>
ROOFTILE_HD constexpr FragmentElement mma_operand_b(int lane, int i) {
  constexpr int kElements = 32 / kBits;
  return {lane / 4, kElements * (lane % 4 + 4 * (i / kElements)) + i % kElements};
}

/// The accumulator of wgmma m64nN: element i = 0 .. N/2 - 1 of `thread` 0..127 of the warpgroup.
/// Warp w has rows 16w .. 16w + 15; each 8 columns are as those of mma_accumulator().
ROOFTILE_HD constexpr FragmentElement wgmma_accumulator(int thread, int i) {
  const FragmentElement in_tile = mma_accumulator(thread % 32, i % 4);
  return {16 * (thread / 32) + in_tile.row, 8 * (i / 4) + in_tile.column};
}

/// Operand A of wgmma in registers: 4 registers a thread, as mma_operand_a() of its warp's 16 rows.
template <int kBits>
ROOFTILE_HD constexpr FragmentElement wgmma_operand_a(int thread, int i) {
  const FragmentElement in_warp = mma_operand_a<kBits>(thread % 32, i);
  return {16 * (thread / 32) + in_warp.row, in_warp.column};
}

}  // namespace rooftile
