// SPDX-License-Identifier: Apache-2.0
// Small models of each family with random weights, against the same formulas in double.
#include "rooftile/model/transformer.h"

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/model/generate.h"
#include "rooftile/model/reference_transformer.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile {
namespace {

using Tokens = std::vector<std::int32_t>;

ModelConfig small(Architecture architecture) {
  ModelConfig c;
  c.architecture = architecture;
  c.vocab = 61;
  c.layers = 3;
  c.hidden = 40;
  c.ffn = 72;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_dim = 16;
  c.rope_dim = 16;
  c.context = 256;
  c.attention_scale = 0.25;
  c.is_sliding.assign(3, false);
  return c;
}

ModelConfig llama() {
  ModelConfig c = small(Architecture::llama);
  c.rope_pairing = RopePairing::interleaved;
  c.is_tied = true;
  return c;
}
ModelConfig qwen2() {
  ModelConfig c = small(Architecture::qwen2);
  c.has_qkv_bias = true;
  return c;
}
ModelConfig qwen3() {
  ModelConfig c = small(Architecture::qwen3);
  c.has_qk_norm = true;
  c.rope_theta = 1e6;
  return c;
}
ModelConfig gemma3() {
  ModelConfig c = small(Architecture::gemma3);
  c.has_qk_norm = c.has_post_norms = c.is_tied = true;
  c.activation = Activation::gelu_tanh;
  c.embedding_scale = std::sqrt(40.0);
  c.norm_weight_offset = 1;
  c.sliding_window = 5;
  c.is_sliding = {true, true, false};
  c.rope_theta = 1e6;
  c.rope_local_theta = 1e4;
  return c;
}

// A model with its memory, and all that a pass needs.
class Small {
 public:
  explicit Small(const ModelConfig& config, TransformerOptions options = {},
                 std::int64_t pages = 64)
      : config_(config),
        weights_(find_weights(
            config_, [&](const std::string& name, const Dims& shape) { return make(name, shape); },
            WeightNames::gguf)),
        cache_(*device_,
               {.layers = config.layers,
                .kv_heads = config.kv_heads,
                .head_dim = config.head_dim,
                .page_size = 4,
                .dtype = DType::f32},
               pages),
        plans_(catalogue(), *device_),
        transformer_(config_, weights_, cache_, plans_, options) {}

  std::vector<float> last_logits(Sequence& sequence, const Tokens& tokens) {
    const PassInput input{&sequence, tokens, 1};
    const TensorView logits = transformer_.forward(*stream_, std::span(&input, 1));
    return {logits.as<const float>(), logits.as<const float>() + config_.vocab};
  }
  [[nodiscard]] std::vector<double> expected(const Tokens& tokens) const {
    return ReferenceTransformer(config_, weights_).logits(tokens).back();
  }

  std::optional<TensorView> make(const std::string& name, const Dims& shape) {
    const Rng rng(1, name);
    auto& values = memory_.emplace_back(static_cast<std::size_t>(num_elements(shape)));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(rng.uniform(i) - (shape.rank() == 1 ? 0.2 : 0.5)) *
                  (shape.rank() == 1 ? 1.0F : 0.4F);
    return TensorView::contiguous(values.data(), DType::f32, shape);
  }

  std::vector<std::vector<float>> memory_;
  ModelConfig config_;
  std::unique_ptr<Device> device_ = make_cpu_device(2);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
  Weights weights_;
  KvCache cache_;
  PlanStore plans_;
  Transformer transformer_;
};

Tokens some_tokens(std::size_t count) {
  Tokens tokens(count);
  for (std::size_t i = 0; i < count; ++i)
    tokens[i] = static_cast<std::int32_t>((i * i * 7 + 3 * i + 1) % 61);
  return tokens;
}

void expect_near(const std::vector<float>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], 1e-4) << "logit " << i;
}

class Families : public testing::TestWithParam<ModelConfig (*)()> {};

TEST_P(Families, PromptAndDecodeAgreeWithTheFormulas) {
  Small model(GetParam()());
  Sequence sequence;
  const Tokens tokens = some_tokens(23);
  const Tokens prompt(tokens.begin(), tokens.begin() + 19);
  expect_near(model.last_logits(sequence, prompt), model.expected(prompt));
  for (std::size_t n = 20; n <= tokens.size(); ++n)
    expect_near(model.last_logits(sequence, {tokens[n - 1]}),
                model.expected({tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n)}));
}

TEST_P(Families, UnequalSequencesInOnePassAgreeWithEachAlone) {
  Small model(GetParam()());
  const Tokens tokens = some_tokens(30);
  std::vector<Tokens> prompts{{tokens.begin(), tokens.begin() + 17},
                              {tokens.begin() + 5, tokens.begin() + 6},
                              {tokens.begin() + 9, tokens.end()}};
  std::vector<Sequence> sequences(3);
  std::vector<PassInput> inputs;
  for (std::size_t i = 0; i < 3; ++i) inputs.push_back({&sequences[i], prompts[i], 1});
  const TensorView logits = model.transformer_.forward(*model.stream_, inputs);
  for (std::size_t i = 0; i < 3; ++i) {
    const float* row = logits.as<const float>() + static_cast<std::int64_t>(i) * 61;
    expect_near({row, row + 61}, model.expected(prompts[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Families, testing::Values(llama, qwen2, qwen3, gemma3));

TEST(Transformer, RefusesTokensOutsideTheVocabularyAndBeyondTheContext) {
  Small model(llama());
  Sequence sequence;
  EXPECT_THROW(model.last_logits(sequence, {61}), Error);
  EXPECT_THROW(model.last_logits(sequence, {-1}), Error);
  EXPECT_THROW(model.last_logits(sequence, Tokens(257, 1)), Error);
  EXPECT_EQ(sequence.length(), 0);
}

TEST(Transformer, RefusesWhatItWouldIgnore) {
  ModelConfig config = llama();
  config.final_softcap = 30;
  EXPECT_THROW(Small{config}, Error);
}

TEST(Transformer, AFullCacheChangesNoSequence) {
  Small model(llama(), {}, 2);
  Sequence sequence;
  model.last_logits(sequence, some_tokens(6));
  EXPECT_THROW(model.last_logits(sequence, some_tokens(3)), Error);
  EXPECT_EQ(sequence.length(), 6);
  expect_near(model.last_logits(sequence, {5}), [&] {
    Tokens all = some_tokens(6);
    all.push_back(5);
    return model.expected(all);
  }());
}

TEST(Transformer, FindsNoTensorOfAnotherShape) {
  const ModelConfig config = llama();
  const auto source = [](const std::string& name, const Dims& shape) -> std::optional<TensorView> {
    static std::vector<float> memory(1 << 16);
    if (name == "blk.1.ffn_up.weight")
      return TensorView::contiguous(memory.data(), DType::f32, {72, 41});
    return TensorView::contiguous(memory.data(), DType::f32, shape);
  };
  try {
    find_weights(config, source, WeightNames::gguf);
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'blk.1.ffn_up.weight' is 72 x 41"));
  }
}

TEST(Generate, GreedyBatchesGiveWhatEachRequestGivesAlone) {
  Small model(llama(), {.most_tokens = 8, .most_sequences = 3});
  std::vector<Request> requests;
  for (const std::size_t length : {3, 11, 20, 1, 9})
    requests.push_back({.prompt = some_tokens(length), .max_tokens = 6});
  CleanRun times;
  const auto together = generate(model.transformer_, *model.stream_, requests, times);
  EXPECT_EQ(times.decode_tokens, 5 * 5);  // the first of each comes from its prompt
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Small alone(llama(), {.most_tokens = 64, .most_sequences = 1});
    CleanRun ignored;
    const auto one =
        generate(alone.transformer_, *alone.stream_, std::span(&requests[i], 1), ignored);
    EXPECT_EQ(together[i].tokens, one[0].tokens) << i;
    EXPECT_EQ(one[0].finish, Finish::max_tokens);
  }
  EXPECT_EQ(model.cache_.pool().num_held(), 0);
}

// What a captured pass did is told after the last one: each must still be told as it was.
TEST(Generate, CaptureTellsEveryPassAsItWas) {
  const Request request{.prompt = some_tokens(5), .max_tokens = 5};
  CleanRun times;
  Small clean(llama());
  const auto expected = generate(clean.transformer_, *clean.stream_, std::span(&request, 1), times);
  Small model(llama());
  Timeline timeline;
  const auto captured =
      generate(model.transformer_, *model.stream_, std::span(&request, 1), times, &timeline);
  EXPECT_EQ(captured[0].tokens, expected[0].tokens);
  ASSERT_EQ(timeline.passes.size(), 5U);
  EXPECT_EQ(timeline.passes[0].phase, "prefill");
  EXPECT_EQ(timeline.passes[0].tokens, 5);
  double before = 0;  // bytes that attention read, one more token of context each decode pass
  for (const TimelineEvent& event : timeline.events) {
    const TimelinePass& pass = timeline.passes[static_cast<std::size_t>(event.pass)];
    EXPECT_LE(pass.start_us, event.start_us);
    EXPECT_LE(event.start_us, event.end_us);
    EXPECT_LE(event.end_us, pass.end_us);
    if (event.role != "attention" || event.layer != 0 || event.pass == 0) continue;
    EXPECT_GT(event.cost.bytes(), before) << event.pass;
    before = event.cost.bytes();
  }
  EXPECT_GT(before, 0);
}

TEST(Generate, InTurnsGivesPairsOfNeighbours) {
  Small model(llama());
  std::vector<CapturePair> pairs;
  generate_in_turns(model.transformer_, *model.stream_, {.prompt = some_tokens(5), .max_tokens = 6},
                    pairs);
  ASSERT_EQ(pairs.size(), 2U);  // of five decode passes
  for (const CapturePair& pair : pairs) {
    EXPECT_GT(pair.clean_us, 0);
    EXPECT_GT(pair.captured_us, 0);
  }
}

TEST(Generate, EndsWhereItIsTold) {
  Small model(llama());
  CleanRun times;
  Request request{.prompt = some_tokens(5), .max_tokens = 8};
  const Tokens all =
      generate(model.transformer_, *model.stream_, std::span(&request, 1), times)[0].tokens;
  ASSERT_EQ(all.size(), 8U);
  request.end_ids = {all[3]};
  const std::size_t first = static_cast<std::size_t>(std::ranges::find(all, all[3]) - all.begin());
  const Completion ended =
      generate(model.transformer_, *model.stream_, std::span(&request, 1), times)[0];
  EXPECT_EQ(ended.finish, Finish::end_token);
  EXPECT_EQ(ended.tokens, Tokens(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first)));
  request.end_ids = {};
  int seen = 0;
  request.on_token = [&](std::int32_t) { return ++seen == 2; };
  EXPECT_EQ(generate(model.transformer_, *model.stream_, std::span(&request, 1), times)[0].finish,
            Finish::stopped);
  EXPECT_EQ(seen, 2);
  request = {.prompt = {}};
  EXPECT_THROW(generate(model.transformer_, *model.stream_, std::span(&request, 1), times), Error);
}

}  // namespace
}  // namespace rooftile
