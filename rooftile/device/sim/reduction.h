// SPDX-License-Identifier: Apache-2.0
// Reductions by the asynchronous engine: numbers in memory, combined one by one.
#pragma once

#include <cstdint>

#include "rooftile/core/dtype.h"
#include "rooftile/tile/sim/runtime.h"

namespace rooftile::sim {

/// Ends the launch with a finding for a type that TMA does not reduce.
Number number_of(DType dtype, const char* what, std::uint32_t pc);
/// The same for an operation that this type does not have.
void require_reduction(Atomic op, Number type, int element_bytes, const char* what,
                       std::uint32_t pc);
/// to[i] = op(to[i], from[i]), each atomically.
void reduce_numbers(Atomic op, Number type, int element_bytes, void* to, const void* from,
                    std::uint32_t bytes);

}  // namespace rooftile::sim
