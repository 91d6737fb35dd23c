// SPDX-License-Identifier: Apache-2.0
// RMSNorm (Zhang and Sennrich, 2019) in two passes over a row that stays in cache; the first asks for
// the next row. The weights are widened once a call. Batch-invariant: a row's squares are summed in
// one order, whatever its group or thread. Rows whose squares leave f32 are done again in double.
#include "rooftile/ops/rmsnorm/cpu_simd.h"

#include <algorithm>

#include "rooftile/device/cpu/simd.h"

namespace rooftile {
namespace {
using rmsnorm::RmsnormCall;
using rmsnorm::RowsView;
}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/rmsnorm/cpu_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile {
namespace {

constexpr std::int64_t kTaskElements = 65536;

// Enough work to pay for handing it out, and several tasks for each thread.
std::int64_t rows_of_task(const RmsnormCall& call, std::int64_t threads) {
  const std::int64_t fair = (call.rows + 4 * threads - 1) / (4 * threads);
  return std::clamp<std::int64_t>(kTaskElements / call.cols, 1, std::max<std::int64_t>(fair, 1));
}

}  // namespace

void rmsnorm::run(const RmsnormCall& call, Stream& stream) {
  if (call.rows == 0 || call.cols == 0) return;
  const auto rows = ROOFTILE_SIMD_CHOOSE(norm_rows);
  ROOFTILE_SIMD_CHOOSE(prepare_weights)(call);
  const std::int64_t per_task = rows_of_task(call, stream.device().properties().compute_units);
  stream.launch((call.rows + per_task - 1) / per_task, [&](std::int64_t task) {
    rows(call, task * per_task, std::min((task + 1) * per_task, call.rows));
  });
}

}  // namespace rooftile
