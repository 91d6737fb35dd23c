// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "rooftile/model/generate.h"
#include "rooftile/ops/argmax/argmax.h"
#include "rooftile/ops/sample/sample.h"

namespace rooftile {
namespace {

// Parameters of one request: eight numbers of 4 bytes (the id drawn among them), seed and step
// of 8.
constexpr std::int64_t kBytesPerRow = 8 * 4 + 2 * 8;
constexpr std::size_t kHistoryStep = 256;  // so that few plans serve all lengths

}  // namespace

Sampler::Sampler(Device& device, std::int64_t most_rows)
    : memory_(device, most_rows * kBytesPerRow), most_rows_(most_rows) {}

std::span<const std::int32_t> Sampler::draw(
    Stream& stream, const TensorView& logits, std::span<const Sampling> settings,
    std::span<const std::span<const std::int32_t>> history) {
  const auto rows = static_cast<std::int64_t>(settings.size());
  char* next = static_cast<char*>(memory_.data());
  const auto column = [&](DType dtype) {
    const TensorView view = TensorView::contiguous(next, dtype, {rows});
    next += bytes_of(dtype, most_rows_);
    return view;
  };
  const TensorView seeds = column(DType::i64);
  const TensorView steps = column(DType::i64);
  const TensorView ids = column(DType::i32);
  const std::span<const std::int32_t> drawn(ids.as<const std::int32_t>(), settings.size());
  if (std::ranges::all_of(settings, &Sampling::is_greedy)) {
    argmax(stream, ids, logits);
    stream.synchronise();
    return drawn;
  }
  SampleParameters parameters{.temperature = column(DType::f32),
                              .top_k = column(DType::i32),
                              .top_p = column(DType::f32),
                              .min_p = column(DType::f32),
                              .repetition = column(DType::f32),
                              .presence = column(DType::f32),
                              .frequency = column(DType::f32)};
  std::size_t longest = 1;
  for (const auto& tokens : history) longest = std::max(longest, tokens.size());
  longest = (longest + kHistoryStep - 1) / kHistoryStep * kHistoryStep;
  std::vector<std::int32_t> padded(settings.size() * longest, -1);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Sampling& s = settings[i];
    seeds.as<std::int64_t>()[i] = s.seed;
    steps.as<std::int64_t>()[i] = static_cast<std::int64_t>(history[i].size());
    parameters.temperature.as<float>()[i] = s.temperature;
    parameters.top_k.as<std::int32_t>()[i] = s.top_k;
    parameters.top_p.as<float>()[i] = s.top_p;
    parameters.min_p.as<float>()[i] = s.min_p;
    parameters.repetition.as<float>()[i] = s.repetition_penalty;
    parameters.presence.as<float>()[i] = s.presence_penalty;
    parameters.frequency.as<float>()[i] = s.frequency_penalty;
    std::ranges::copy(history[i], padded.begin() + static_cast<std::ptrdiff_t>(i * longest));
  }
  parameters.history =
      TensorView::contiguous(padded.data(), DType::i32, {rows, static_cast<std::int64_t>(longest)});
  sample(stream, ids, logits, seeds, steps, parameters);
  stream.synchronise();
  return drawn;
}

}  // namespace rooftile
