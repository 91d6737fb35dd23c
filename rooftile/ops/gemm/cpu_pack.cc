// SPDX-License-Identifier: Apache-2.0
// Packing for any strides, one element at a time: the fallback, and what the fast routine is
// checked against.
#include "rooftile/ops/gemm/cpu_pack.h"

#include <algorithm>
#include <cstring>

#include "rooftile/device/cpu/decode_row.h"
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"

namespace rooftile::ops::gemm {

float element(const void* data, DType dtype, std::int64_t index) {
  switch (dtype) {
    case DType::bf16:
      return static_cast<float>(static_cast<const bf16*>(data)[index]);
    case DType::fp16:
      return static_cast<float>(static_cast<const fp16*>(data)[index]);
    default:
      return static_cast<const float*>(data)[index];
  }
}

namespace {

void pack_floats(const PackJob& job, std::int64_t first_lane, std::int64_t lanes, float* panel) {
  for (std::int64_t k = 0; k < job.ks; ++k) {
    for (std::int64_t i = 0; i < job.width; ++i)
      *panel++ = i < lanes ? element(job.data, job.dtype,
                                     (first_lane + i) * job.lane_stride + k * job.k_stride)
                           : 0.0F;
  }
}

void pack_pairs(const PackJob& job, std::int64_t first_lane, std::int64_t lanes, bf16* panel) {
  const auto* data = static_cast<const bf16*>(job.data);
  for (std::int64_t k = 0; k < job.ks; k += 2) {
    for (std::int64_t i = 0; i < job.width; ++i) {
      for (std::int64_t j = k; j < k + 2; ++j)
        *panel++ = i < lanes && j < job.ks
                       ? data[(first_lane + i) * job.lane_stride + j * job.k_stride]
                       : bf16{0};
    }
  }
}

}  // namespace

void pack_scalar(const PackJob& job, PackUnit unit) {
  const std::int64_t panel_bytes = units_of(job.ks, unit) * job.width * 4;
  auto* panel = static_cast<char*>(job.panels);
  for (std::int64_t lane = 0; lane < job.lanes; lane += job.width, panel += panel_bytes) {
    const std::int64_t lanes = std::min<std::int64_t>(job.width, job.lanes - lane);
    if (unit == PackUnit::f32)
      pack_floats(job, lane, lanes, reinterpret_cast<float*>(panel));
    else
      pack_pairs(job, lane, lanes, reinterpret_cast<bf16*>(panel));
  }
}

void pack_blocks(const PackJob& job, PackFn pack) {
  // Elements along k decoded at once: a whole block of every type, and a panel of them stays in the
  // first-level cache until it is packed.
  constexpr std::int64_t kChunk = 256;
  constexpr int kMostWidth = 32;
  alignas(64) float decoded[kMostWidth * kChunk];
  auto* panels = static_cast<float*>(job.panels);
  for (std::int64_t lane = 0; lane < job.lanes; lane += job.width) {
    const std::int64_t lanes = std::min<std::int64_t>(job.width, job.lanes - lane);
    for (std::int64_t k = 0; k < job.ks; k += kChunk) {
      const std::int64_t ks = std::min(kChunk, job.ks - k);
      for (std::int64_t i = 0; i < lanes; ++i)
        decode_row(job.dtype, at(job.data, job.dtype, (lane + i) * job.lane_stride),
                   job.first_k + k, ks, decoded + i * kChunk);
      pack({.data = decoded,
            .dtype = DType::f32,
            .lane_stride = kChunk,
            .k_stride = 1,
            .lanes = lanes,
            .ks = ks,
            .width = job.width,
            .panels = panels + lane * job.ks + k * job.width},
           PackUnit::f32);
    }
  }
}

}  // namespace rooftile::ops::gemm
