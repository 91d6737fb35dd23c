// SPDX-License-Identifier: Apache-2.0
// What attention computes, and what of it depends on data.
#pragma once

#include <functional>

#include "rooftile/op/op.h"
#include "rooftile/ops/attention/visible.h"

namespace rooftile::ops::attention {

/// Where a query row belongs; no sequence: it sees nothing.
struct RowPlace {
  std::int64_t sequence = -1;
  std::int64_t position = 0;
  KeyRange keys{};
  bool is_invalid = false;  // the row is NaN, whatever the tables say of pages
};

/// Keys that fit into a row of the page table.
std::int64_t capacity(const Problem& problem);

/// 1/sqrt(head_dim) where none is given.
double scale_of(const Problem& problem);

RowPlace place_of(const Problem& problem, const Values& values, std::int64_t row);

void meaning(const Problem& problem, Values& values);

/// As OpDef::row_alone: the sequence keeps the keys up to the row's own.
bool row_alone(const Problem& problem, const Values& batch, std::int64_t row, Values& alone);

}  // namespace rooftile::ops::attention
