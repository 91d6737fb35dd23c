// SPDX-License-Identifier: Apache-2.0
// The weights of a transformer by what they are for, found by the names that a file gives them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/base/function_ref.h"
#include "rooftile/core/tensor.h"
#include "rooftile/model/config.h"

namespace ROOFTILE_API rooftile {

/// One layer. Matrices are [outputs, inputs], as files store them; what a model does not have is
/// absent.
struct LayerWeights {
  TensorView attn_norm{};
  TensorView q{}, k{}, v{};
  TensorView q_bias{}, k_bias{}, v_bias{};
  TensorView q_norm{}, k_norm{};  // [head_dim]
  TensorView o{}, o_bias{};
  TensorView post_attn_norm{};  // of what attention adds (Gemma)
  TensorView ffn_norm{};
  TensorView gate{}, up{}, down{};
  TensorView gate_bias{}, up_bias{}, down_bias{};
  TensorView post_ffn_norm{};
};

struct Weights {
  TensorView embedding{};  // [vocab, hidden]
  std::vector<LayerWeights> layers{};
  TensorView output_norm{};
  TensorView output{};        // [vocab, hidden]; the embedding where they are tied
  TensorView rope_factors{};  // [rotary / 2] f32: GGUF's, which hold the scaling already
};

/// The tensor of this name, or nothing. `wanted` is the shape it should have, for those who make it
/// up; it is checked.
using TensorSource =
    std::function<std::optional<TensorView>(const std::string& name, const Dims& wanted)>;

/// Whose names: GGUF's (llama.cpp's conversion) or Hugging Face's.
enum class WeightNames : std::uint8_t { gguf, hugging_face };

/// Finds all weights that `config` asks for. Throws Error(bad_input) that names a missing tensor,
/// or one of another shape or of a type that its use does not allow.
Weights find_weights(const ModelConfig& config, const TensorSource& source, WeightNames names);

/// visit(view) for each weight that there is, the embedding once where it is tied.
void for_each_weight(const Weights& weights, FunctionRef<void(const TensorView&)> visit);

void for_each_weight(Weights& weights, FunctionRef<void(TensorView&)> visit);

/// Bytes of all weights as stored, tied ones once; and of those that one token's decode reads.
double stored_bytes(const Weights& weights);
double bytes_per_decode(const Weights& weights);
double num_parameters(const Weights& weights);

}  // namespace rooftile
