// SPDX-License-Identifier: Apache-2.0
// How the simulator runs a launch. All choices are legal executions of the same kernel.
#pragma once

#include <cstdint>
#include <string>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// Which thread runs next, where several can.
enum class SimOrder : std::uint8_t { in_order, reversed, random };
/// When an asynchronous copy or matrix operation happens: where it was issued, where it is waited
/// for, or anywhere between.
enum class SimCompletion : std::uint8_t { early, late, random };

struct SimOptions {
  bool check = true;  // races, uninitialised reads, synchronisation; counters are always kept
  SimOrder order = SimOrder::in_order;
  SimCompletion completion = SimCompletion::late;
  std::uint64_t seed = 1;  // of the random ones
  int os_threads = 0;      // 0: one for each of the machine's
};

/// "order=random completion=late seed=7", and back. Throws Error(bad_input) that names the word.
std::string text(const SimOptions& options);
SimOptions parse_sim_options(const std::string& text);

}  // namespace rooftile
