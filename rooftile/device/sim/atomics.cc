// SPDX-License-Identifier: Apache-2.0
// The arithmetic of atomics. Source: PTX ISA, "atom", "red".
#include <cmath>
#include <cstring>
#include <limits>

#include "rooftile/device/sim/machine.h"
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"

namespace rooftile::sim {
namespace {

template <class T>
T from(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T>
std::uint64_t bits(T value) {
  std::uint64_t out = 0;
  std::memcpy(&out, &value, sizeof(T));
  return out;
}

template <class T>
std::uint64_t arithmetic(Atomic op, std::uint64_t old, std::uint64_t value) {
  const T a = from<T>(old);
  const T b = from<T>(value);
  switch (op) {
    case Atomic::min:
      return bits<T>(b < a ? b : a);
    case Atomic::max:
      return bits<T>(a < b ? b : a);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return bits<T>(static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
  } else {
    return bits<T>(a + b);
  }
}

/// Of each 16-bit number of a word. Sums round to nearest even; the least and the greatest ignore
/// NaN.
template <class T>
std::uint64_t arithmetic16(Atomic op, std::uint64_t old, std::uint64_t value) {
  std::uint64_t out = 0;
  for (int part = 0; part < 4; ++part) {
    const T first{static_cast<std::uint16_t>(old >> 16 * part)};
    const T second{static_cast<std::uint16_t>(value >> 16 * part)};
    const auto a = static_cast<float>(first);
    const auto b = static_cast<float>(second);
    T result = T::from(a + b, T::kOverflow, Rounding::nearest_even);
    if (op == Atomic::min) result = std::isnan(b) || a < b ? first : second;
    if (op == Atomic::max) result = std::isnan(b) || a > b ? first : second;
    out |= std::uint64_t{result.bits} << 16 * part;
  }
  return out;
}

std::uint64_t apply(Atomic op, Number type, int bytes, std::uint64_t old, std::uint64_t value,
                    std::uint64_t compare) {
  switch (op) {
    case Atomic::exchange:
      return value;
    case Atomic::compare_exchange:
      return old == compare ? value : old;
    case Atomic::bit_and:
      return old & value;
    case Atomic::bit_or:
      return old | value;
    case Atomic::bit_xor:
      return old ^ value;
    case Atomic::increment:
      return old >= value ? 0 : old + 1;
    case Atomic::decrement:
      return old == 0 || old > value ? value : old - 1;
    default:
      break;
  }
  switch (type) {
    case Number::unsigned_integer:
      return bytes == 8 ? arithmetic<std::uint64_t>(op, old, value)
                        : arithmetic<std::uint32_t>(op, old, value);
    case Number::signed_integer:
      return bytes == 8 ? arithmetic<std::int64_t>(op, old, value)
                        : arithmetic<std::int32_t>(op, old, value);
    case Number::floating_point:
      return bytes == 8 ? arithmetic<double>(op, old, value) : arithmetic<float>(op, old, value);
    case Number::f16:
    case Number::f16x2:
      return arithmetic16<fp16>(op, old, value);
    case Number::bf16:
    case Number::bf16x2:
      return arithmetic16<bf16>(op, old, value);
  }
  return old;
}

template <class T>
std::uint64_t exchange_until(void* address, Atomic op, Number type, std::uint64_t value,
                             std::uint64_t compare) {
  auto* at = static_cast<T*>(address);
  T old = __atomic_load_n(at, __ATOMIC_RELAXED);
  T next;
  do {
    next = static_cast<T>(apply(op, type, sizeof(T), old, value, compare));
  } while (!__atomic_compare_exchange_n(at, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old;
}

}  // namespace

bool changes_number(Atomic op, Number type, int bytes, std::uint64_t old, std::uint64_t value,
                    std::uint64_t compare) {
  return apply(op, type, bytes, old, value, compare) != old;
}

std::uint64_t apply_atomic(Atomic op, Number type, int bytes, void* address, std::uint64_t value,
                           std::uint64_t compare) {
  switch (bytes) {
    case 2:
      return exchange_until<std::uint16_t>(address, op, type, value, compare);
    case 4:
      return exchange_until<std::uint32_t>(address, op, type, value, compare);
    default:
      return exchange_until<std::uint64_t>(address, op, type, value, compare);
  }
}

}  // namespace rooftile::sim
