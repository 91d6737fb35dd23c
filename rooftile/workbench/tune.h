// SPDX-License-Identifier: Apache-2.0
// Which kernel and configuration is fastest for a class of problems? Every candidate is verified on
// its own poisoned output, then timed; the two fastest meet again in alternation, and the winner is
// remembered.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/tuned.h"
#include "rooftile/workbench/bench.h"

namespace ROOFTILE_API rooftile {

struct TuneResult {
  std::vector<Record> candidates;  // every kernel and configuration, in the order tried
  std::string kernel;              // the winner; empty when nothing ran
  Config config{};
};

/// `on_record` sees each candidate as it is measured.
TuneResult tune(const Operation& operation, const Problem& problem, Device& device,
                Ceilings& ceilings, const BenchOptions& options,
                const std::function<void(const Record&)>& on_record);

}  // namespace rooftile
