// SPDX-License-Identifier: Apache-2.0
#include "rooftile/formats/nvfp4.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rooftile/base/error.h"
#include "rooftile/formats/block.h"
#include "rooftile/formats/fp4.h"
#include "rooftile/formats/packing.h"

namespace rooftile {
namespace {

constexpr double kMaxElement = 6, kMaxScale = 448;

void check_buffers(std::size_t codes, std::size_t scales, std::size_t values, float tensor_scale) {
  const auto n = static_cast<std::int64_t>(values);
  check_count("bytes of NVFP4 codes", codes, num_blocks(n, 2));
  check_count("NVFP4 block scales", scales, num_blocks(n, kNvfp4Block));
  if (!(tensor_scale > 0 && std::isfinite(tensor_scale)))
    fail_input("an NVFP4 tensor scale is positive and finite");
}

}  // namespace

float nvfp4_tensor_scale(std::span<const float> values) {
  float amax = 0;
  for (const float value : values)
    if (std::isfinite(value)) amax = std::max(amax, std::fabs(value));
  if (amax == 0) return 1;
  const auto scale = static_cast<float>(amax / (kMaxScale * kMaxElement));
  return std::max(scale, std::numeric_limits<float>::min());
}

void quantise_nvfp4(std::span<std::uint8_t> codes, std::span<e4m3> block_scales,
                    std::span<const float> values, float tensor_scale) {
  check_buffers(codes.size(), block_scales.size(), values.size(), tensor_scale);
  std::int64_t index = 0;
  for (std::size_t b = 0; b < block_scales.size(); ++b) {
    const auto block = block_of(values, static_cast<std::int64_t>(b), kNvfp4Block);
    const double amax = finite_amax(block);
    block_scales[b] = encode<e4m3>(amax / (kMaxElement * tensor_scale));
    // Exact in double, so that a tie stays a tie in the quotient below.
    const double scale = static_cast<double>(static_cast<float>(block_scales[b])) * tensor_scale;
    const bool is_usable = scale > 0;  // neither 0 nor NaN
    for (const float value : block) {
      const double scaled = is_usable ? value / scale : 0.0;
      store_nibble(codes.data(), index++, encode<e2m1>(scaled).bits);
    }
  }
}

void dequantise_nvfp4(std::span<float> values, std::span<const std::uint8_t> codes,
                      std::span<const e4m3> block_scales, float tensor_scale) {
  check_buffers(codes.size(), block_scales.size(), values.size(), tensor_scale);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const e2m1 code{load_nibble(codes.data(), static_cast<std::int64_t>(i))};
    const auto block = static_cast<float>(block_scales[i / kNvfp4Block]);
    const double scale = static_cast<double>(block) * tensor_scale;
    values[i] = static_cast<float>(static_cast<float>(code) * scale);
  }
}

}  // namespace rooftile
