// SPDX-License-Identifier: Apache-2.0
// How the cpu's row-wise kernels share out their rows, and when they write around the caches.
#pragma once

#include <cstdint>

#include "rooftile/base/function_ref.h"
#include "rooftile/device/device.h"

namespace rooftile {

/// Launches body(begin, end) over parts of [0, rows): each enough work to pay for handing it out,
/// and several for each thread. Nothing when there are no elements.
void launch_rows(Stream& stream, std::int64_t rows, std::int64_t cols,
                 FunctionRef<void(std::int64_t begin, std::int64_t end)> body);

/// Whether a call that reads and writes `bytes` should write around the caches: then its results
/// would not be there for whoever reads them next, and a plain store reads its line first.
bool exceeds_caches(const DeviceProperties& properties, double bytes);

}  // namespace rooftile
