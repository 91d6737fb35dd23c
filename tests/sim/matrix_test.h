// SPDX-License-Identifier: Apache-2.0
// What the tests of matrix instructions share: matrices of elements as bits, and what a tensor core
// makes of them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/formats/fp8.h"
#include "rooftile/formats/tf32.h"
#include "rooftile/hardware/swizzle.h"
#include "rooftile/hardware/tensor_core.h"
#include "rooftile/tile/ptx/matrix_types.h"
#include "tests/sim/sim_test_support.h"

namespace rooftile::sim_test {

/// A value of a matrix: exact in double.
struct Codec {
  MatrixDtype type;
  int bits;
  std::function<double(std::uint32_t code)> decode;
};

template <class Float>
Codec float_codec(MatrixDtype type) {
  return {type, 8 * static_cast<int>(sizeof(Float)), [](std::uint32_t code) {
            Float value;
            std::memcpy(&value, &code, sizeof(Float));
            return static_cast<double>(static_cast<float>(value));
          }};
}

inline Codec codec(MatrixDtype type) {
  switch (type) {
    case MatrixDtype::bf16:
      return float_codec<bf16>(type);
    case MatrixDtype::fp16:
      return float_codec<fp16>(type);
    case MatrixDtype::tf32:
      return float_codec<tf32>(type);
    case MatrixDtype::e4m3:
      return float_codec<e4m3>(type);
    case MatrixDtype::e5m2:
      return float_codec<e5m2>(type);
    case MatrixDtype::s8:
      return {type, 8, [](std::uint32_t code) { return double(static_cast<std::int8_t>(code)); }};
    case MatrixDtype::u8:
      return {type, 8, [](std::uint32_t code) { return double(code & 255); }};
    default:
      ADD_FAILURE();
      return {};
  }
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }
  /// The code of a finite number of moderate size.
  std::uint32_t code(const Codec& of) {
    switch (of.type) {
      case MatrixDtype::bf16:
        return bf16::from(number(), Overflow::saturate, Rounding::nearest_even).bits;
      case MatrixDtype::fp16:
        return fp16::from(number(), Overflow::saturate, Rounding::nearest_even).bits;
      case MatrixDtype::tf32:
        return tf32::from(number(), Overflow::saturate, Rounding::nearest_even).bits;
      case MatrixDtype::e4m3:
        return e4m3::from(number(), Overflow::saturate, Rounding::nearest_even).bits;
      case MatrixDtype::e5m2:
        return e5m2::from(number(), Overflow::saturate, Rounding::nearest_even).bits;
      default:
        return next() & 255;
    }
  }
  float number() { return (static_cast<float>(next() % 4096) - 2048.0f) / 512.0f; }

 private:
  std::uint64_t state_;
};

/// rows x columns codes.
struct CodeMatrix {
  int rows, columns;
  Codec of;
  std::vector<std::uint32_t> codes;
  CodeMatrix(int rows_, int columns_, Codec codec_, Random& random)
      : rows(rows_), columns(columns_), of(std::move(codec_)) {
    for (int i = 0; i < rows * columns; ++i) codes.push_back(random.code(of));
  }
  [[nodiscard]] std::uint32_t code(int r, int c) const {
    return codes[static_cast<std::size_t>(r * columns + c)];
  }
  [[nodiscard]] double value(int r, int c) const { return of.decode(code(r, c)); }
};

/// A finding of this kind whose text has `part`.
inline bool has(const SimLaunch& launch, FindingKind kind, const std::string& part) {
  for (const Finding& finding : launch.findings)
    if (finding.kind == kind && finding.text.find(part) != std::string::npos) return true;
  return false;
}

inline MatrixType float_type(MatrixDtype type) {
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

/// Element (row, column) of a * b^T + c, columns [from, from + k), as the tensor core gives it.
inline double one_result(MatrixUnit unit, const CodeMatrix& a, const CodeMatrix& b, MatrixDtype d,
                         int row, int column, int from, int k, double c, int scale_a = 1) {
  if (d == MatrixDtype::s32) {
    double sum = c;
    for (int i = from; i < from + k; ++i) sum += a.value(row, i) * b.value(column, i);
    return sum;
  }
  std::vector<float> left, right;
  for (int i = from; i < from + k; ++i) {
    left.push_back(static_cast<float>(scale_a * a.value(row, i)));
    right.push_back(static_cast<float>(b.value(column, i)));
  }
  return dot(tensor_core_rules(unit, float_type(a.of.type), float_type(b.of.type),
                               d == MatrixDtype::fp16 ? Accumulator::fp16 : Accumulator::f32),
             left, right, static_cast<float>(c));
}

}  // namespace rooftile::sim_test
