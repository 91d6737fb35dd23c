// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding (Su and others, "RoFormer", 2021): pair i of a head is rotated by
//   angle = position * frequency[i] / freq_factors[i],   frequency[i] = theta^(-2i / rotary)
// with the frequencies changed by `scaling` for contexts longer than the model was trained on.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// Which elements of a head form pair i: (i, i + rotary/2) as in Hugging Face and GGUF's "neox", or
/// (2i, 2i + 1) as in the paper, Meta's Llama and GGUF's "norm".
enum class RopePairing : std::uint8_t { half, interleaved };

enum class RopeScaling : std::uint8_t {
  none,
  linear,  // all frequencies divided by factor (Chen and others, 2023)
  llama3,  // low ones divided, high ones kept, in between a blend by wavelength (Llama 3.1)
  yarn,    // the same by rotations within the original context, and a temperature (Peng, 2023)
};

struct RopeOptions {
  RopePairing pairing = RopePairing::half;
  int rotary = 0;  // leading elements of a head that are rotated; the rest is copied. 0: all
  double theta = 10000;
  RopeScaling scaling = RopeScaling::none;
  double factor = 1;
  double original_context = 8192;  // llama3, yarn: tokens that the model was trained on
  double low_freq_factor = 1;      // llama3
  double high_freq_factor = 4;     // llama3
  double beta_fast = 32;           // yarn
  double beta_slow = 1;            // yarn
  /// Multiplies the rotated elements. 0: 1, and for yarn 0.1 mscale ln(factor) + 1 over the same of
  /// mscale_all_dim where both are given, else 0.1 ln(factor) + 1.
  double attn_factor = 0;
  double mscale = 0;
  double mscale_all_dim = 0;
  TensorView freq_factors{};  // [rotary/2] f32, positive; GGUF's rope_freqs
};

/// y, x: [tokens, heads, head_dim], f32, bf16 or fp16 each, strides of tokens and heads arbitrary
/// (q and k are slices of one buffer); y may be x. positions: [tokens] i32. Throws Error(bad_input)
/// for shapes that do not agree or options out of range.
void rope(Stream& stream, const TensorView& y, const TensorView& x, const TensorView& positions,
          const RopeOptions& options = {});

}  // namespace rooftile
