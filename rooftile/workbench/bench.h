// SPDX-License-Identifier: Apache-2.0
// How fast is a kernel, and how far from the limit? Verified before, spot-checked during and
// checked after its samples; placed under the device's ceilings; beside a rival and the device's
// own probe in the same run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/record.h"
#include "rooftile/op/registry.h"
#include "rooftile/workbench/timing.h"

namespace ROOFTILE_API rooftile {

struct BenchOptions {
  TimingOptions timing{};
  std::string against{};       // a kernel of the same operation; empty: none
  Config against_config{};     // empty: its default
  std::string against_text{};  // how the command names it; empty: as it is
  bool with_probe = true;  // alternate with the bandwidth probe of the nearest mix, if memory-bound
};

/// Times `kernel` (with `config`, empty for its default) on `problem`. The record is
///   failed       when its result is wrong before, during or after the samples, or it throws
///   invalid      when the time cannot be believed: faster than the data sheet allows, or (where
///   there
///                is no data sheet) far above the measured ceiling; the reason says which
///   unsupported  with the kernel's reason
/// A believable sample above the ceiling raises it (in `ceilings` and in the cache).
Record bench(const Operation& operation, const KernelDef& kernel, const Problem& problem,
             Device& device, Ceilings& ceilings, const BenchOptions& options = {},
             const Config& config = {});

/// Times kernel `a` against kernel `b` on one problem, alternating. The record is of `a`.
Record compare_kernels(const Operation& operation, const KernelDef& a, const KernelDef& b,
                       const Problem& problem, Device& device, Ceilings& ceilings,
                       BenchOptions options = {});

/// Two records of different runs. Throws Error(bad_input) when they are not comparable: other
/// problem, device, mode or data distribution. "faster" means that `a` took less time.
struct RecordComparison {
  double ratio = 0;  // b / a
  std::string verdict;
};
RecordComparison compare_records(const Record& a, const Record& b);

/// A change is kept when its verdict is "faster" on at least two different problems and "slower" on
/// none. The reason says what decided.
std::pair<bool, std::string> keep(const std::vector<Record>& comparisons);

/// Fills time, rates, bound, attainable and percent of roof. In hot mode a problem that fits the
/// last-level cache has no share of a memory roof that it does not reach down to.
void place_on_roof(Record& record, const Cost& cost, const Ceilings& ceilings, Mode mode,
                   const DeviceProperties& device);

}  // namespace rooftile
