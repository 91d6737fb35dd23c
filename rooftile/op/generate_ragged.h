// SPDX-License-Identifier: Apache-2.0
// Generators for what says how rows belong to sequences and where their keys lie: offsets, lengths,
// page tables. Random numbers are no such data. The problem's data kind decides:
//   randn, zeros  ragged: empty sequences, short and full ones, pages in any order
//   uniform       even: equal parts, every length full, pages in any order
//   extreme       ragged and partly wrong: lengths and page ids out of range, and for odd seeds
//                 offsets that are not sorted. A kernel must stay within its bounds.
#pragma once

#include <string>

#include "rooftile/base/api.h"
#include "rooftile/op/op.h"

namespace ROOFTILE_API rooftile {

/// Offsets that cut `rows` into one part fewer than there are offsets. With no more rows than parts
/// each part has at most one row.
Generator ragged_offsets(std::string rows_axis);

/// One length for each part of `offsets`: its rows and a history, at most `capacity` in all; now
/// and then fewer than its rows, or 0.
Generator ragged_lengths(std::string offsets_arg,
                         std::function<std::int64_t(const Problem&)> capacity);

/// Page ids [sequences, pages of one]: a permutation, begun again where there are fewer pages than
/// are needed, so that sequences share some; -1 where a sequence needs no page.
Generator page_table(std::string lengths_arg, std::string page_size_axis, std::string pages_axis);

}  // namespace rooftile
