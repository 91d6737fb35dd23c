// SPDX-License-Identifier: Apache-2.0
// Softmax in three passes over a row that stays in cache: maximum, exponentials and their sum (the
// next row is fetched meanwhile), division. A result in bf16 is computed with a cubic for 2^t, others
// with exp to 1 ulp. Batch-invariant: a row's sums have one order, whatever its group or thread.
#include "rooftile/ops/softmax/cpu_simd.h"

#include <algorithm>

#include "rooftile/device/cpu/simd.h"

namespace rooftile {
namespace {
using softmax::SoftmaxCall;
}
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/softmax/cpu_simd_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile {
namespace {

constexpr std::int64_t kTaskElements = 65536;

// Enough work to pay for handing it out, and several tasks for each thread.
std::int64_t rows_of_task(const SoftmaxCall& call, std::int64_t threads) {
  const std::int64_t fair = (call.rows + 4 * threads - 1) / (4 * threads);
  return std::clamp<std::int64_t>(kTaskElements / call.cols, 1, std::max<std::int64_t>(fair, 1));
}

}  // namespace

void softmax::run(const SoftmaxCall& call, Stream& stream) {
  if (call.rows == 0 || call.cols == 0) return;
  const auto rows = ROOFTILE_SIMD_CHOOSE(softmax_rows);
  const std::int64_t per_task = rows_of_task(call, stream.device().properties().compute_units);
  const std::int64_t tasks = (call.rows + per_task - 1) / per_task;
  stream.launch(tasks, [&](std::int64_t task) {
    rows(call, task * per_task, std::min((task + 1) * per_task, call.rows));
  });
}

}  // namespace rooftile
