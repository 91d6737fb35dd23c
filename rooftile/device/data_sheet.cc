// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/data_sheet.h"

#include <algorithm>

#include "rooftile/hardware/gpu.h"

namespace rooftile {
namespace {

std::optional<Unit> unit_of(Number number) {
  switch (number) {
    case Number::fp64:
      return Unit::fp64;
    case Number::fp32:
      return Unit::fp32;
    case Number::tf32:
      return Unit::tf32;
    case Number::bf16:
      return Unit::bf16;
    case Number::fp16:
      return Unit::fp16;
    case Number::fp8:
      return Unit::fp8;
    case Number::fp6:
      return Unit::fp6;
    case Number::fp4:
      return Unit::fp4;
    case Number::int8:
      return Unit::int8;
    case Number::int32:
      return std::nullopt;  // costs count no index arithmetic
  }
  return std::nullopt;
}

}  // namespace

Ceilings data_sheet(const Gpu& gpu) {
  Ceilings sheet;
  if (gpu.dram_bytes_per_s) sheet.sheet_bytes_per_s = gpu.dram_bytes_per_s->value;
  for (const Rate& rate : gpu.rates) {
    const std::optional<Unit> unit = unit_of(rate.arithmetic.input);
    if (!unit) continue;
    std::optional<double>& best = sheet.sheet_ops_per_s[static_cast<std::size_t>(*unit)];
    best = std::max(best.value_or(0), rate.dense_ops_per_s.value);
  }
  return sheet;
}

}  // namespace rooftile
