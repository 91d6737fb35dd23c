// SPDX-License-Identifier: Apache-2.0
// Copies an operand into panels as the register kernel reads them, widened to f32 (or as pairs of
// bf16 along k). A is panels of mr rows, B panels of nr columns; either way a panel's `lanes` run
// across and k runs along, so one routine serves both operands and every layout.
//
//   panel p:  [unit along k][width]   lanes p*width .. p*width+width-1, zero past the last one
#pragma once

#include <cstdint>

#include "rooftile/core/dtype.h"
#include "rooftile/ops/gemm/cpu_gemm.h"
#include "rooftile/ops/gemm/cpu_micro.h"

namespace rooftile::ops::gemm {

struct PackJob {
  const void* data;  // of lane 0 at k 0 of this job
  DType dtype;
  std::int64_t lane_stride;  // elements
  std::int64_t k_stride;
  std::int64_t lanes;
  std::int64_t ks;
  int width;
  void* panels;
  std::int64_t first_k = 0;  // of blocks, where `data` is the first block of lane 0: begin here
};

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Packed units that `ks` elements along k take.
inline std::int64_t units_of(std::int64_t ks, PackUnit unit) {
  return unit == PackUnit::bf16_pair ? ceil_div(ks, 2) : ks;
}

/// Packs ceil(lanes / width) panels, each of units_of(ks) * width units. Reads no element but those
/// of the job and writes nothing past the last panel.
void pack_scalar(const PackJob& job, PackUnit unit);
void pack_avx2(const PackJob& job, PackUnit unit);

/// The same for lanes of GGUF blocks: decodes them a few at a time, and packs that with `pack`.
/// lane_stride is a multiple of the block, k_stride 1, first_k and ks multiples of 32.
using PackFn = void (*)(const PackJob&, PackUnit);
void pack_blocks(const PackJob& job, PackFn pack);

inline PackFn choose_pack(Isa isa) {
#if defined(__x86_64__)
  if (isa >= Isa::avx2) return pack_avx2;
#endif
  (void)isa;
  return pack_scalar;
}

/// The element at `index` of an array of f32, bf16 or fp16.
float element(const void* data, DType dtype, std::int64_t index);

/// The address of that element; of blocks, the address of its block.
inline const char* at(const void* data, DType dtype, std::int64_t index) {
  const auto* bytes = static_cast<const char*>(data);
  if (dtype == DType::f32) return bytes + index * 4;
  const DTypeInfo& type = info(dtype);
  return bytes + index / type.unit_elements * type.unit_bytes;
}

}  // namespace rooftile::ops::gemm
