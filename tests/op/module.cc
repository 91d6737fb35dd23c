// SPDX-License-Identifier: Apache-2.0
// A function whose instructions are the same in both libraries that are made of this file.
namespace {
#ifdef FACTORS_OF_first
const double factors[]{2, 3};
#else
const double factors[]{2, 4};
#endif
}  // namespace

extern "C" __attribute__((visibility("default"))) double rooftile_scaled(double value, int by) {
  return factors[by] * value;
}
