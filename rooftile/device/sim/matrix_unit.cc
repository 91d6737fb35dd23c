// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/matrix_unit.h"

#include <array>
#include <cstring>

namespace rooftile::sim {
namespace {

template <class Float8>
constexpr std::array<float, 256> float8_table() {
  std::array<float, 256> table{};
  for (unsigned code = 0; code < 256; ++code)
    table[code] = static_cast<float>(Float8{static_cast<std::uint8_t>(code)});
  return table;
}
constexpr auto kE4m3 = float8_table<e4m3>();
constexpr auto kE5m2 = float8_table<e5m2>();

template <class Element, class Convert>
void unpack_each(MatrixValue* to, int stride, const void* from, int count, Convert convert) {
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  for (int i = 0; i < count; ++i) {
    Element element;
    std::memcpy(&element, bytes + static_cast<std::size_t>(i) * sizeof(Element), sizeof(Element));
    to[static_cast<std::ptrdiff_t>(i) * stride] = convert(element);
  }
}

rooftile::MatrixType float_type(MatrixDtype type) {
  switch (type) {
    case MatrixDtype::bf16:
      return MatrixType::bf16;
    case MatrixDtype::tf32:
      return MatrixType::tf32;
    case MatrixDtype::e4m3:
      return MatrixType::e4m3;
    case MatrixDtype::e5m2:
      return MatrixType::e5m2;
    default:
      return MatrixType::fp16;
  }
}

// Exact products of bytes, sums that wrap.
void multiply_add_integers(int m, int n, int k, const MatrixValue* a, const MatrixValue* b,
                           MatrixValue* d) {
  for (int row = 0; row < m; ++row)
    for (int inner = 0; inner < k; ++inner) {
      const std::int32_t left = a[row * k + inner].i;
      for (int column = 0; column < n; ++column) {
        MatrixValue& sum = d[row * n + column];
        sum.i =
            static_cast<std::int32_t>(static_cast<std::uint32_t>(sum.i) +
                                      static_cast<std::uint32_t>(left * b[inner * n + column].i));
      }
    }
}

}  // namespace

void unpack(MatrixValue* to, int stride, const void* from, int count, MatrixDtype type, int scale) {
  const auto sign = static_cast<float>(scale);
  switch (type) {
    case MatrixDtype::bf16:
      return unpack_each<bf16>(to, stride, from, count, [=](bf16 element) {
        return MatrixValue{.f = sign * static_cast<float>(element)};
      });
    case MatrixDtype::fp16:
      return unpack_each<fp16>(to, stride, from, count, [=](fp16 element) {
        return MatrixValue{.f = sign * static_cast<float>(element)};
      });
    case MatrixDtype::tf32:  // the tensor core does not look at the low bits
      return unpack_each<std::uint32_t>(to, stride, from, count, [=](std::uint32_t element) {
        return MatrixValue{.f = sign * static_cast<float>(tf32{
                                           element >> tf32::kUnusedBits << tf32::kUnusedBits})};
      });
    case MatrixDtype::e4m3:
      return unpack_each<std::uint8_t>(to, stride, from, count, [=](std::uint8_t element) {
        return MatrixValue{.f = sign * kE4m3[element]};
      });
    case MatrixDtype::e5m2:
      return unpack_each<std::uint8_t>(to, stride, from, count, [=](std::uint8_t element) {
        return MatrixValue{.f = sign * kE5m2[element]};
      });
    case MatrixDtype::s8:
      return unpack_each<std::int8_t>(
          to, stride, from, count, [](std::int8_t element) { return MatrixValue{.i = element}; });
    case MatrixDtype::u8:
      return unpack_each<std::uint8_t>(
          to, stride, from, count, [](std::uint8_t element) { return MatrixValue{.i = element}; });
    case MatrixDtype::f32:
    case MatrixDtype::s32:
      return unpack_each<MatrixValue>(to, stride, from, count,
                                      [](MatrixValue element) { return element; });
  }
}

void unpack_accumulators(MatrixValue* to, const void* registers, int count, MatrixDtype type) {
  unpack(to, 1, registers, count, type);
}

void pack_accumulators(void* registers, const MatrixValue* from, int count, MatrixDtype type) {
  if (type != MatrixDtype::fp16) {
    std::memcpy(registers, from, static_cast<std::size_t>(count) * sizeof(MatrixValue));
    return;
  }
  auto* bytes = static_cast<std::uint8_t*>(registers);
  for (int i = 0; i < count; ++i) {  // the values are fp16 numbers already
    const fp16 element = fp16::from(from[i].f, Overflow::to_special, Rounding::nearest_even);
    std::memcpy(bytes + static_cast<std::size_t>(i) * sizeof(fp16), &element, sizeof(fp16));
  }
}

void multiply_add(MatrixUnit unit, MatrixTypes types, int m, int n, int k, const MatrixValue* a,
                  const MatrixValue* b, MatrixValue* d) {
  if (types.d == MatrixDtype::s32) return multiply_add_integers(m, n, k, a, b, d);
  const Accumulator result = types.d == MatrixDtype::fp16 ? Accumulator::fp16 : Accumulator::f32;
  const TensorCoreRules rules =
      tensor_core_rules(unit, float_type(types.a), float_type(types.b), result);
  mma_f32(rules, m, n, k, &a->f, &b->f, &d->f);
}

}  // namespace rooftile::sim
