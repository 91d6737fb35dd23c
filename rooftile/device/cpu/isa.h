// SPDX-License-Identifier: Apache-2.0
// Which vector instructions this processor has. One build carries code for all of them and chooses
// at run time.
#pragma once

#include <cstdint>
#include <string_view>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// In increasing order: each includes the ones before it.
enum class Isa : std::uint8_t {
  scalar,
  avx2,         // AVX2, FMA, F16C
  avx512,       // AVX-512 F, BW, DQ, VL
  avx512_bf16,  // + AVX512_BF16 and VNNI: bf16 dot products
};

std::string_view name(Isa isa);

/// The best that the processor has and $ROOFTILE_ISA (one of the names above) allows; read once.
Isa cpu_isa();

}  // namespace rooftile
