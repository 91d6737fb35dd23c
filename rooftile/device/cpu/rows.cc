// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cpu/rows.h"

#include <algorithm>

namespace rooftile {
namespace {

constexpr std::int64_t kTaskElements = 65536;

std::int64_t rows_of_task(std::int64_t rows, std::int64_t cols, std::int64_t threads) {
  const std::int64_t fair = (rows + 4 * threads - 1) / (4 * threads);
  return std::clamp<std::int64_t>(kTaskElements / cols, 1, std::max<std::int64_t>(fair, 1));
}

}  // namespace

void launch_rows(Stream& stream, std::int64_t rows, std::int64_t cols,
                 FunctionRef<void(std::int64_t begin, std::int64_t end)> body) {
  if (rows == 0 || cols == 0) return;
  const std::int64_t step = rows_of_task(rows, cols, stream.device().properties().compute_units);
  stream.launch((rows + step - 1) / step,
                [&](std::int64_t task) { body(task * step, std::min((task + 1) * step, rows)); });
}

bool exceeds_caches(const DeviceProperties& properties, double bytes) {
  return bytes >= static_cast<double>(properties.last_level_cache_bytes);
}

}  // namespace rooftile
