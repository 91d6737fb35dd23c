// SPDX-License-Identifier: Apache-2.0
// What a problem must cost: operations by the unit that executes them, and compulsory bytes. From
// these two numbers and a device's ceilings come the floor of its time, its bound and its share of
// the roof (Williams, Waterman and Patterson, "Roofline", 2009).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

/// Execution units that have a rate of their own. fp32 and fp64 are vector arithmetic; the narrower
/// ones are matrix units with a wide accumulator (on a CPU, dot-product instructions).
enum class Unit : std::uint8_t { fp64, fp32, tf32, bf16, fp16, fp8, fp6, fp4, int8, int4, special };
inline constexpr int kNumUnits = 11;
std::string_view name(Unit unit);

/// A multiply and an add are two operations. Bytes are compulsory ones: each element that must be
/// read is read once, each that must be written is written once, however a kernel goes about it.
struct Cost {
  std::array<double, kNumUnits> ops{};
  double bytes_read = 0;
  double bytes_written = 0;
  double bytes_link = 0;  // between ranks

  double& operator[](Unit unit) { return ops[static_cast<std::size_t>(unit)]; }
  double operator[](Unit unit) const { return ops[static_cast<std::size_t>(unit)]; }
  [[nodiscard]] double bytes() const { return bytes_read + bytes_written; }
  [[nodiscard]] double total_ops() const {
    double sum = 0;
    for (const double count : ops) sum += count;
    return sum;
  }
  /// Operations a byte; 0 when no bytes move.
  [[nodiscard]] double intensity() const { return bytes() > 0 ? total_ops() / bytes() : 0; }
};

}  // namespace rooftile
