// SPDX-License-Identifier: Apache-2.0
// A matrix in pieces for the cpu's threads, for work whose elements do not depend on each other: so
// cutting a row changes no bits, and one long row is shared as many short ones are.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rooftile/device/device.h"

namespace rooftile {

/// Elements that are worth handing to another thread: some microseconds of work.
inline constexpr std::int64_t kPieceElements = 16384;

/// Calls body(row, begin, end) on the stream's threads so that the columns [begin, end) of all
/// calls cover [rows, cols] once. A single piece runs on the caller's thread.
template <class Body>
void for_each_piece(Stream& stream, std::int64_t rows, std::int64_t cols, const Body& body) {
  if (rows == 0 || cols == 0) return;
  const std::int64_t pieces_of_row = (cols + kPieceElements - 1) / kPieceElements;
  if (pieces_of_row > 1) {
    stream.launch(rows * pieces_of_row, [&](std::int64_t task) {
      const std::int64_t begin = task % pieces_of_row * kPieceElements;
      body(task / pieces_of_row, begin, std::min(begin + kPieceElements, cols));
    });
    return;
  }
  const std::int64_t rows_of_task = kPieceElements / cols;
  stream.launch((rows + rows_of_task - 1) / rows_of_task, [&](std::int64_t task) {
    const std::int64_t end = std::min((task + 1) * rows_of_task, rows);
    for (std::int64_t row = task * rows_of_task; row < end; ++row) body(row, 0, cols);
  });
}

}  // namespace rooftile
