// SPDX-License-Identifier: Apache-2.0
// One accessor a kind of storage; `with_access` is the only list of types.
#include "rooftile/formats/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/e8m0.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/formats/fp4.h"
#include "rooftile/formats/fp6.h"
#include "rooftile/formats/fp8.h"
#include "rooftile/formats/gguf_blocks.h"
#include "rooftile/formats/packing.h"

namespace rooftile {
namespace {

// memcpy: the caller's pointer may be of any type and alignment.
template <class T>
T read(const void* data, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * std::int64_t{sizeof(T)}, sizeof(T));
  return value;
}

template <class T>
void write(void* data, std::int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * std::int64_t{sizeof(T)}, &value, sizeof(T));
}

struct F64Access {
  static double load(const void* data, std::int64_t i) { return read<double>(data, i); }
  static void store(void* data, std::int64_t i, double value, Overflow overflow) {
    constexpr double kMax = std::numeric_limits<double>::max();
    if (overflow == Overflow::saturate && std::isinf(value)) value = std::copysign(kMax, value);
    write(data, i, value);
  }
};

constexpr FloatFormat kF32{8, 23, 127, Specials::ieee};

/// encode_bits(), quicker for values that are normal numbers of the format, as nearly all data is:
/// a carry out of the mantissa is the next exponent, and below the last binade nothing overflows.
template <FloatFormat F>
std::uint32_t encode_double(double value, Overflow overflow) {
  constexpr int kDrop = 52 - F.mantissa_bits;
  constexpr std::uint64_t kBias = static_cast<std::uint64_t>(1023 - F.bias) << 52;
  constexpr std::uint64_t kLeast = kBias + (std::uint64_t{1} << 52);
  constexpr std::uint64_t kMost = static_cast<std::uint64_t>(F.max_exponent() + 1023) << 52;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  if (magnitude - kLeast >= kMost - kLeast) return encode_bits<F>(value, overflow);
  const std::uint64_t rebiased = magnitude - kBias;
  const std::uint64_t tie = (std::uint64_t{1} << (kDrop - 1)) - 1 + (rebiased >> kDrop & 1);
  return static_cast<std::uint32_t>((rebiased + tie) >> kDrop | bits >> 63 << (F.bits() - 1));
}

struct F32Access {
  static double load(const void* data, std::int64_t i) { return read<float>(data, i); }
  static void store(void* data, std::int64_t i, double value, Overflow overflow) {
    write(data, i, encode_double<kF32>(value, overflow));
  }
};

// Elements of whole bytes: fp16, bf16, the FP8 types.
template <class Element>
struct FloatAccess {
  static double load(const void* data, std::int64_t i) {
    return static_cast<float>(read<Element>(data, i));
  }
  static void store(void* data, std::int64_t i, double value, Overflow overflow) {
    using Bits = decltype(Element::bits);
    const auto bits = static_cast<Bits>(encode_double<Element::kFormat>(value, overflow));
    write(data, i, Element{bits});
  }
};

struct ScaleAccess {
  static double load(const void* data, std::int64_t i) {
    return static_cast<float>(read<e8m0>(data, i));
  }
  static void store(void* data, std::int64_t i, double value, Overflow overflow) {
    write(data, i, to_e8m0(value, ScaleRounding::even, overflow));
  }
};

template <class Element>
struct SixbitAccess {
  static double load(const void* data, std::int64_t i) {
    return static_cast<float>(Element{load_sixbit(static_cast<const std::uint8_t*>(data), i)});
  }
  static void store(void* data, std::int64_t i, double value, Overflow overflow) {
    store_sixbit(static_cast<std::uint8_t*>(data), i, encode<Element>(value, overflow).bits);
  }
};

struct Fp4Access {
  static double load(const void* data, std::int64_t i) {
    return static_cast<float>(e2m1{load_nibble(static_cast<const std::uint8_t*>(data), i)});
  }
  static void store(void* data, std::int64_t i, double value, Overflow overflow) {
    store_nibble(static_cast<std::uint8_t*>(data), i, encode<e2m1>(value, overflow).bits);
  }
};

// Bounds as doubles; `most` of i64 is 2^63, one too many, so that it is compared with >=.
std::int64_t round_to_int(double value, std::int64_t least, std::int64_t most) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  if (rounded >= static_cast<double>(most)) return most;
  if (rounded <= static_cast<double>(least)) return least;
  return static_cast<std::int64_t>(rounded);
}

template <class T>
struct IntAccess {
  static double load(const void* data, std::int64_t i) {
    return static_cast<double>(read<T>(data, i));
  }
  static void store(void* data, std::int64_t i, double value, Overflow /*only saturate*/) {
    using Limits = std::numeric_limits<T>;
    write(data, i, static_cast<T>(round_to_int(value, Limits::min(), Limits::max())));
  }
};

template <bool is_signed>
struct Int4Access {
  static double load(const void* data, std::int64_t i) {
    const std::uint8_t code = load_nibble(static_cast<const std::uint8_t*>(data), i);
    return is_signed ? sign_extend_nibble(code) : code;
  }
  static void store(void* data, std::int64_t i, double value, Overflow /*only saturate*/) {
    const std::int64_t code = round_to_int(value, is_signed ? -8 : 0, is_signed ? 7 : 15);
    store_nibble(static_cast<std::uint8_t*>(data), i, static_cast<std::uint32_t>(code));
  }
};

// A block's scale is of all its elements, so that one alone cannot be written.
template <class Block>
struct BlockAccess {
  static double load(const void* data, std::int64_t i) {
    return read<Block>(data, i / Block::kElements).value(static_cast<int>(i % Block::kElements));
  }
  static void store(void* /*data*/, std::int64_t /*i*/, double /*value*/, Overflow /*overflow*/) {
    throw Error(ErrorCode::unsupported, "elements of a block type are written in whole blocks");
  }
};

template <class Use>
auto with_access(DType dtype, Use use) {
  switch (dtype) {
    case DType::f64:
      return use(F64Access{});
    case DType::f32:
      return use(F32Access{});
    case DType::fp16:
      return use(FloatAccess<fp16>{});
    case DType::bf16:
      return use(FloatAccess<bf16>{});
    case DType::e4m3:
      return use(FloatAccess<e4m3>{});
    case DType::e5m2:
      return use(FloatAccess<e5m2>{});
    case DType::e4m3fnuz:
      return use(FloatAccess<e4m3fnuz>{});
    case DType::e5m2fnuz:
      return use(FloatAccess<e5m2fnuz>{});
    case DType::e3m2:
      return use(SixbitAccess<e3m2>{});
    case DType::e2m3:
      return use(SixbitAccess<e2m3>{});
    case DType::e2m1:
      return use(Fp4Access{});
    case DType::e8m0:
      return use(ScaleAccess{});
    case DType::i64:
      return use(IntAccess<std::int64_t>{});
    case DType::i32:
      return use(IntAccess<std::int32_t>{});
    case DType::i16:
      return use(IntAccess<std::int16_t>{});
    case DType::i8:
      return use(IntAccess<std::int8_t>{});
    case DType::u8:
      return use(IntAccess<std::uint8_t>{});
    case DType::i4:
      return use(Int4Access<true>{});
    case DType::u4:
      return use(Int4Access<false>{});
    default:
      return with_block_type(dtype,
                             [&](auto block) { return use(BlockAccess<decltype(block)>{}); });
  }
}

bool has_special(DType dtype) {
  const bool is_finite_only = dtype == DType::e3m2 || dtype == DType::e2m3 || dtype == DType::e2m1;
  return info(dtype).kind != DTypeKind::integer && !is_finite_only;
}

void narrow_blocks(DType dtype, const double* values, std::int64_t n, void* data) {
  std::vector<float> rounded(values, values + n);
  quantise_blocks(dtype, rounded.data(), n, data);
}

}  // namespace

Overflow default_overflow(DType dtype) {
  const bool is_ieee =
      dtype == DType::f64 || dtype == DType::f32 || dtype == DType::fp16 || dtype == DType::bf16;
  return is_ieee ? Overflow::to_special : Overflow::saturate;
}

double load_element(DType dtype, const void* data, std::int64_t index) {
  return with_access(dtype, [&](auto access) { return access.load(data, index); });
}

void store_element(DType dtype, void* data, std::int64_t index, double value) {
  store_element(dtype, data, index, value, default_overflow(dtype));
}

void store_element(DType dtype, void* data, std::int64_t index, double value, Overflow overflow) {
  if (overflow == Overflow::to_special && !has_special(dtype))
    throw Error(ErrorCode::unsupported,
                std::string(name(dtype)) + " has no infinity and no NaN: overflow must saturate");
  with_access(dtype, [&](auto access) { access.store(data, index, value, overflow); });
}

void widen(DType dtype, const void* data, std::int64_t n, double* values) {
  with_access(dtype, [&](auto access) {
    for (std::int64_t i = 0; i < n; ++i) values[i] = access.load(data, i);
  });
}

void narrow(DType dtype, const double* values, std::int64_t n, void* data) {
  if (info(dtype).is_block()) return narrow_blocks(dtype, values, n, data);
  const Overflow overflow = default_overflow(dtype);
  with_access(dtype, [&](auto access) {
    for (std::int64_t i = 0; i < n; ++i) access.store(data, i, values[i], overflow);
  });
}

double round_to(DType dtype, double value) {
  std::uint8_t unit[8]{};
  store_element(dtype, unit, 0, value);
  return load_element(dtype, unit, 0);
}

double ulp_of(DType dtype, double value) {
  constexpr int kBias = 1023;  // of a double
  if (std::isnan(value)) return value;
  const DTypeInfo& type = info(dtype);
  if (type.is_block())
    throw Error(ErrorCode::unsupported, std::string(type.name) + " has no units in the last place");
  if (type.kind == DTypeKind::integer) return 1;
  const double magnitude = std::min(std::fabs(value), type.max_finite);
  // Of 0 and of a double's subnormals: below the least of every type.
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(magnitude) >> 52) - kBias;
  const int power = std::max(exponent, type.min_exponent) - type.mantissa_bits;
  if (power <= -kBias) return std::ldexp(1.0, power);
  return std::bit_cast<double>(static_cast<std::uint64_t>(power + kBias) << 52);
}

}  // namespace rooftile
