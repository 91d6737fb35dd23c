// SPDX-License-Identifier: Apache-2.0
// The codecs as a C library, for comparison with an independent implementation from Python
// (compare_ml_dtypes.py, compare_gguf.py). Codes are one a 16-bit word, never packed; types go by
// their dtype names.
#include <cstdint>
#include <cstring>

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/e8m0.h"
#include "rooftile/formats/element.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/formats/fp4.h"
#include "rooftile/formats/fp6.h"
#include "rooftile/formats/fp8.h"
#include "rooftile/formats/gguf_blocks.h"

#define EXPORT extern "C" [[gnu::visibility("default")]]

namespace rooftile {
namespace {

template <class Use>
bool with_float_type(const char* type, Use use) {
  const auto is = [&](const char* name) { return std::strcmp(type, name) == 0; };
  if (is("bf16")) return use(bf16{}), true;
  if (is("fp16")) return use(fp16{}), true;
  if (is("e4m3")) return use(e4m3{}), true;
  if (is("e5m2")) return use(e5m2{}), true;
  if (is("e4m3fnuz")) return use(e4m3fnuz{}), true;
  if (is("e5m2fnuz")) return use(e5m2fnuz{}), true;
  if (is("e3m2")) return use(e3m2{}), true;
  if (is("e2m3")) return use(e2m3{}), true;
  if (is("e2m1")) return use(e2m1{}), true;
  return false;
}

// The other types by way of element.h; a byte holds element 0 of each.
bool is_other(const char* type, DType& dtype) {
  for (const DType candidate : {DType::i4, DType::u4})
    if (name(candidate) == type) return dtype = candidate, true;
  return false;
}

template <class Source>
int encode_all(const char* type, const Source* values, std::int64_t n, int to_special,
               std::uint16_t* codes) {
  const Overflow overflow = to_special != 0 ? Overflow::to_special : Overflow::saturate;
  const auto as_float = [&](auto zero) {
    for (std::int64_t i = 0; i < n; ++i)
      codes[i] = encode<decltype(zero)>(values[i], overflow).bits;
  };
  if (with_float_type(type, as_float)) return 0;
  DType dtype{};
  const bool is_scale = std::strcmp(type, "e8m0") == 0;
  if (!is_scale && !is_other(type, dtype)) return 1;
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint8_t code = 0;
    if (is_scale)
      code = to_e8m0(values[i], ScaleRounding::even, overflow).bits;
    else
      store_element(dtype, &code, 0, values[i]);
    codes[i] = code;
  }
  return 0;
}

}  // namespace
}  // namespace rooftile

/// Each returns 0, or 1 for a type it does not know.
EXPORT int rooftile_encode_f32(const char* type, const float* values, std::int64_t n,
                               int to_special, std::uint16_t* codes) {
  return rooftile::encode_all(type, values, n, to_special, codes);
}

EXPORT int rooftile_encode_f64(const char* type, const double* values, std::int64_t n,
                               int to_special, std::uint16_t* codes) {
  return rooftile::encode_all(type, values, n, to_special, codes);
}

EXPORT int rooftile_dequantise_blocks(const char* type, const std::uint8_t* data, std::int64_t n,
                                      float* values) {
  using namespace rooftile;
  for (const DTypeInfo& known : dtypes())
    if (known.is_block() && known.name == type)
      return dequantise_blocks(known.dtype, data, n, values), 0;
  return 1;
}

EXPORT int rooftile_decode(const char* type, const std::uint16_t* codes, std::int64_t n,
                           float* values) {
  using namespace rooftile;
  const auto as_float = [&](auto zero) {
    for (std::int64_t i = 0; i < n; ++i) {
      zero.bits = static_cast<decltype(zero.bits)>(codes[i]);
      values[i] = static_cast<float>(zero);
    }
  };
  if (with_float_type(type, as_float)) return 0;
  DType dtype{};
  const bool is_scale = std::strcmp(type, "e8m0") == 0;
  if (!is_scale && !is_other(type, dtype)) return 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto code = static_cast<std::uint8_t>(codes[i]);
    values[i] = is_scale ? static_cast<float>(e8m0{code})
                         : static_cast<float>(load_element(dtype, &code, 0));
  }
  return 0;
}
