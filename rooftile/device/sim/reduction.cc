// SPDX-License-Identifier: Apache-2.0
// Source: PTX ISA, "cp.reduce.async.bulk": the combinations of operation and type.
#include "rooftile/device/sim/reduction.h"

#include <cstring>

#include "rooftile/device/sim/async_copy.h"

namespace rooftile::sim {

Number number_of(DType dtype, const char* what, std::uint32_t pc) {
  switch (dtype) {
    case DType::f64:
    case DType::f32:
      return Number::floating_point;
    case DType::fp16:
      return Number::f16;
    case DType::bf16:
      return Number::bf16;
    case DType::i32:
    case DType::i64:
      return Number::signed_integer;
    default:
      refuse_operand(FindingKind::bad_operand, what,
                     "elements of " + std::string(name(dtype)) + " cannot be reduced", pc);
  }
}

void require_reduction(Atomic op, Number type, int element_bytes, const char* what,
                       std::uint32_t pc) {
  const bool is_integer = type == Number::unsigned_integer || type == Number::signed_integer;
  const bool is_half = type == Number::f16 || type == Number::bf16;
  bool is_allowed = is_integer && element_bytes >= 4;
  if (op == Atomic::add) is_allowed |= !is_integer;
  if (op == Atomic::min || op == Atomic::max) is_allowed |= is_half;
  if (!is_allowed)
    refuse_operand(FindingKind::bad_operand, what, "these elements have no such operation", pc);
}

void reduce_numbers(Atomic op, Number type, int element_bytes, void* to, const void* from,
                    std::uint32_t bytes) {
  const auto step = static_cast<std::uint32_t>(element_bytes);
  for (std::uint32_t i = 0; i < bytes; i += step) {
    std::uint64_t value = 0;
    std::memcpy(&value, static_cast<const std::uint8_t*>(from) + i, step);
    apply_atomic(op, type, element_bytes, static_cast<std::uint8_t*>(to) + i, value);
  }
}

}  // namespace rooftile::sim
