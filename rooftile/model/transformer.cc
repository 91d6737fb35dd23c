// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/transformer.h"

#include <algorithm>
#include <cstring>

#include "rooftile/base/error.h"
#include "rooftile/model/transformer_buffers.h"
#include "rooftile/model/transformer_program.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostPrograms = 64;

void check_input(const PassInput& input, const ModelConfig& config) {
  for (const std::int32_t token : input.tokens)
    if (token < 0 || token >= config.vocab)
      fail_input("token " + std::to_string(token) + " is outside the vocabulary of " +
                 std::to_string(config.vocab));
  const auto count = static_cast<std::int64_t>(input.tokens.size());
  if (count < 1 || input.logits < 0 || input.logits > count)
    throw Error(ErrorCode::internal, "a pass was given no token, or asked for more logits");
  if (input.sequence->length() + count > config.context)
    fail_input(std::to_string(input.sequence->length() + count) +
               " tokens exceed the model's context of " + std::to_string(config.context));
}

}  // namespace

Transformer::Transformer(const ModelConfig& config, const Weights& weights, KvCache& cache,
                         PlanStore& plans, const TransformerOptions& options)
    : config_(&config),
      weights_(&weights),
      cache_(&cache),
      plans_(&plans),
      options_(options),
      buffers_(std::make_shared<PassBuffers>(plans.device(), config, options, cache)) {
  if (config.final_softcap != 0)
    throw Error(ErrorCode::unsupported, "a soft cap of the final logits is not supported");
}

// Writes the integers of a pass where its program reads them. All or nothing: what throws leaves
// the sequences as they were.
Transformer::Shape Transformer::fill(std::span<const PassInput> inputs) {
  PassIntegers& in = buffers_->integers;
  Shape shape{0, static_cast<std::int64_t>(inputs.size()), 0};
  for (const PassInput& input : inputs) {
    check_input(input, *config_);
    shape.tokens += static_cast<std::int64_t>(input.tokens.size());
    shape.rows += input.logits;
  }
  if (inputs.empty() || shape.sequences > options_.most_sequences ||
      shape.tokens > options_.most_tokens)
    throw Error(ErrorCode::internal, "a pass of " + std::to_string(shape.tokens) + " tokens of " +
                                         std::to_string(shape.sequences) + " sequences");
  std::int64_t needed = 0;
  for (const PassInput& input : inputs)
    needed += cache_->pages_for(input.sequence->length() +
                                static_cast<std::int64_t>(input.tokens.size())) -
              static_cast<std::int64_t>(input.sequence->pages.size());
  if (needed > cache_->pool().num_pages() - cache_->pool().num_held())
    throw Error(ErrorCode::out_of_memory,
                "the KV cache is full: " + std::to_string(needed) + " more pages of " +
                    std::to_string(cache_->shape().page_size) + " tokens are needed");
  std::int32_t at = 0;
  std::int64_t row = 0;
  for (std::size_t s = 0; s < inputs.size(); ++s) {
    const PassInput& input = inputs[s];
    const auto count = static_cast<std::int32_t>(input.tokens.size());
    const auto first = static_cast<std::int32_t>(input.sequence->length());
    cache_->extend(*input.sequence, input.tokens, {in.slots + at, static_cast<std::size_t>(count)});
    std::ranges::copy(input.tokens, in.ids + at);
    for (std::int32_t i = 0; i < count; ++i) in.positions[at + i] = first + i;
    in.starts[s] = at;
    in.lengths[s] = first + count;
    std::ranges::copy(input.sequence->pages,
                      in.page_table + static_cast<std::int64_t>(s) * in.max_pages);
    at += count;
    for (std::int64_t i = input.logits; i > 0; --i)
      in.rows[row++] = at - static_cast<std::int32_t>(i);
  }
  in.starts[inputs.size()] = at;
  return shape;
}

std::shared_ptr<const Program> Transformer::program(const Shape& shape) {
  const auto found = programs_.find(shape);
  if (found != programs_.end()) return found->second;
  if (programs_.size() >= kMostPrograms) programs_.clear();
  const PassSetting setting{.config = *config_,
                            .weights = *weights_,
                            .cache = *cache_,
                            .buffers = *buffers_,
                            .activations = options_.activations,
                            .tokens = shape.tokens,
                            .sequences = shape.sequences,
                            .rows = shape.rows};
  return programs_.emplace(shape, std::make_shared<Program>(build_program(setting, *plans_)))
      .first->second;
}

TensorView Transformer::forward(Stream& stream, std::span<const PassInput> inputs) {
  const Shape shape = fill(inputs);
  program(shape)->run(stream);
  return buffers_->logits(shape.rows);
}

TensorView Transformer::forward(Stream& stream, std::span<const PassInput> inputs,
                                Recording& recording, const std::string& phase) {
  const double start_us = now_us();
  const Shape shape = fill(inputs);
  recording.run(program(shape), stream, phase, shape.tokens, start_us);
  return buffers_->logits(shape.rows);
}

}  // namespace rooftile
