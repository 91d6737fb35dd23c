// SPDX-License-Identifier: Apache-2.0
// Structs that kernels of language_kernels.cu take by value.
#pragma once

namespace rooftile::language_test {

constexpr int kScales = 20;
constexpr int kCopied = 64;
constexpr int kLargeCount = 4000;

struct Table {
  const float* in;
  float* out;
  int count;
  char name[5];
  double scale[kScales];
  short last;
};

struct alignas(64) Wide {
  int offset[32];
};

/// Near to the 32764 bytes that parameters may have.
struct Large {
  long long value[kLargeCount];
};

}  // namespace rooftile::language_test
