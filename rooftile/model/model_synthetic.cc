// SPDX-License-Identifier: Apache-2.0
// Models of true shapes whose weights are seeded random numbers: for measuring where the real files
// are not at hand. Their text means nothing.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/base/text.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/model/model_sources.h"

namespace rooftile {
namespace {

struct Shape {
  std::string_view name;
  std::int64_t vocab, layers, hidden, ffn, heads, kv_heads, head_dim, context;
  double rope_theta;
  bool is_tied;
};

// From the config.json of each model.
constexpr Shape kShapes[] = {
    {"smollm2-135m", 49152, 30, 576, 1536, 9, 3, 64, 8192, 100000, true},
    {"llama-3.2-1b", 128256, 16, 2048, 8192, 32, 8, 64, 131072, 500000, true},
    {"llama-3.1-8b", 128256, 32, 4096, 14336, 32, 8, 128, 131072, 500000, false},
};

ModelConfig config_of(const Shape& shape) {
  ModelConfig config;
  config.vocab = shape.vocab;
  config.layers = shape.layers;
  config.hidden = shape.hidden;
  config.ffn = shape.ffn;
  config.heads = shape.heads;
  config.kv_heads = shape.kv_heads;
  config.head_dim = shape.head_dim;
  config.rope_dim = shape.head_dim;
  config.context = shape.context;
  config.rms_eps = 1e-5;
  config.attention_scale = 1 / std::sqrt(static_cast<double>(shape.head_dim));
  config.rope_theta = shape.rope_theta;
  config.is_sliding.assign(static_cast<std::size_t>(shape.layers), false);
  config.is_tied = shape.is_tied;
  return config;
}

// The first 256 tokens are bytes; the others stand for nothing that can be typed.
TokenizerData tokenizer_of(const Shape& shape) {
  TokenizerData data;
  data.kind = TokenizerKind::unigram;
  data.has_byte_fallback = true;
  for (std::int64_t id = 0; id < shape.vocab; ++id) {
    char text[16];
    std::snprintf(text, sizeof text, id < 256 ? "<0x%02X>" : "<%d>", static_cast<int>(id));
    data.tokens.emplace_back(text);
    data.scores.push_back(0);
    data.types.push_back(id < 256 ? TokenType::byte : TokenType::unused);
  }
  return data;
}

// Q8_0 blocks of uniform codes: as large as a trained layer's weights, so that activations stay
// finite, and made at the speed of memory.
void fill(const DeviceMemory& memory, std::int64_t inputs, const Rng& rng) {
  const double deviation = 1 / std::sqrt(static_cast<double>(inputs));
  const auto scale = encode<fp16>(static_cast<float>(deviation / 73.6));  // of uniform [-127, 127]
  constexpr std::int64_t kBlock = 34;
  auto* block = static_cast<char*>(memory.data());
  for (std::int64_t i = 0; i < memory.bytes() / kBlock; ++i, block += kBlock) {
    std::memcpy(block, &scale, sizeof scale);
    for (std::int64_t j = 0; j < 4; ++j) {
      const std::uint64_t bits = rng.bits(static_cast<std::uint64_t>(4 * i + j));
      std::memcpy(block + 2 + 8 * j, &bits, sizeof bits);
    }
    for (char* code = block + 2; code < block + kBlock; ++code) *code = std::max<char>(*code, -127);
  }
}

class SyntheticModel final : public Model {
 public:
  SyntheticModel(const Shape& shape, Device& device) {
    name_ = "synthetic:" + std::string(shape.name);
    is_synthetic_ = true;
    config_ = config_of(shape);
    weights_ = find_weights(
        config_,
        [&](const std::string& name, const Dims& wanted) { return make(name, wanted, device); },
        WeightNames::gguf);
    tokenizer_ = make_tokenizer(tokenizer_of(shape));
    complete();
  }

 private:
  std::optional<TensorView> make(const std::string& name, const Dims& shape, Device& device) {
    const bool is_matrix = shape.rank() == 2;
    const DType dtype = is_matrix ? DType::q8_0 : DType::f32;
    memory_.emplace_back(device, bytes_of(dtype, num_elements(shape)));
    if (is_matrix)
      fill(memory_.back(), shape[1], Rng(0, name));
    else
      std::fill_n(static_cast<float*>(memory_.back().data()), shape[0], 1.0F);
    return TensorView::contiguous(memory_.back().data(), dtype, shape);
  }

  std::vector<DeviceMemory> memory_;
};

}  // namespace

std::vector<std::string> synthetic_models() {
  std::vector<std::string> names;
  for (const Shape& shape : kShapes) names.emplace_back(shape.name);
  return names;
}

std::unique_ptr<Model> open_synthetic(const std::string& name, Device& device) {
  const auto found = std::ranges::find(kShapes, name, &Shape::name);
  if (found == std::end(kShapes))
    fail_input(unknown_name("synthetic model", name, synthetic_models()));
  return std::make_unique<SyntheticModel>(*found, device);
}

}  // namespace rooftile
