// SPDX-License-Identifier: Apache-2.0
// Every instruction set gives what the scalar code gives, for every length, and reads no further.
#include "rooftile/device/cpu/simd_transpose.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace rooftile {
namespace {

// Each row ends where its memory ends, so that a sanitizer sees a read beyond it.
template <class T>
struct Rows {
  std::vector<std::unique_ptr<T[]>> memory{};
  std::vector<const T*> rows{};
  explicit Rows(std::int64_t n) {
    for (int r = 0; r < simd::kLanes; ++r) {
      memory.push_back(std::make_unique<T[]>(static_cast<std::size_t>(n)));
      for (std::int64_t i = 0; i < n; ++i)
        memory.back()[static_cast<std::size_t>(i)] =
            simd::element<T>(static_cast<float>(100 * r + i % 97) / 8);
      rows.push_back(memory.back().get());
    }
  }
};

template <class T, class Transpose>
void expect_transposed(Transpose transpose) {
  for (const std::int64_t n : {1, 7, 8, 9, 15, 16, 17, 31, 33, 64, 80}) {
    const Rows<T> from(n);
    std::vector<float> to(static_cast<std::size_t>(n * simd::kLanes), -1);
    transpose(to.data(), from.rows.data(), n);
    for (std::int64_t i = 0; i < n; ++i)
      for (int r = 0; r < simd::kLanes; ++r)
        ASSERT_EQ(to[static_cast<std::size_t>(i * simd::kLanes + r)],
                  static_cast<float>(from.rows[static_cast<std::size_t>(r)][i]))
            << "row " << r << ", element " << i << " of " << n;
  }
}

template <class T>
void expect_all_transpose() {
  expect_transposed<T>(simd::scalar::transpose_rows<T>);
#if ROOFTILE_SIMD_HAS_X86
  if (cpu_isa() >= Isa::avx2) expect_transposed<T>(simd::avx2::transpose_rows<T>);
  if (cpu_isa() >= Isa::avx512) expect_transposed<T>(simd::avx512::transpose_rows<T>);
#endif
}

TEST(SimdTranspose, PutsRowsIntoLanes) {
  expect_all_transpose<float>();
  expect_all_transpose<bf16>();
  expect_all_transpose<fp16>();
}

}  // namespace
}  // namespace rooftile
