// SPDX-License-Identifier: Apache-2.0
// What the meaning of sample and its kernels share: a row's parameters, their ranges, and the steps
// that are defined to the bit.
#pragma once

#include <cmath>
#include <cstdint>

#include "rooftile/base/philox.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::sample {

/// The id of a row from which nothing can be drawn.
inline constexpr std::int32_t kNoToken = -1;

/// Top-p counts a mass that lacks less than this as reached: f32 probabilities are not exact, and
/// without it p = {1/2, 1/4, 1/4} and top_p = 1/2 would keep one token or two.
inline constexpr double kTopPSlack = 0x1p-18;

/// One row's.
struct Settings {
  float temperature = 1;
  std::int32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  float repetition = 1;
  float presence = 0;
  float frequency = 0;
  std::int64_t seed = 0;
  std::int64_t step = 0;

  /// Written so that NaN fails.
  [[nodiscard]] bool is_valid() const {
    return temperature >= 0 && std::isfinite(temperature) && top_p >= 0 && top_p <= 1 &&
           min_p >= 0 && min_p <= 1 && repetition > 0 && std::isfinite(repetition) &&
           std::isfinite(presence) && std::isfinite(frequency);
  }
  [[nodiscard]] bool is_greedy() const { return temperature < 1e-5F; }

  /// Tokens that top-k keeps of `cols`.
  [[nodiscard]] std::int64_t kept_by_top_k(std::int64_t cols) const {
    return top_k <= 0 || top_k > cols ? cols : top_k;
  }

  /// The least logit that min-p keeps; the temperature scales the distance.
  [[nodiscard]] double least_logit(float largest) const {
    return min_p > 0 ? double{largest} + double{temperature} * std::log(double{min_p}) : -HUGE_VAL;
  }

  /// A logit whose token stands `count` > 0 times in the history: each step rounded to f32, so that
  /// ties are the same everywhere.
  [[nodiscard]] float penalised(float logit, std::int64_t count) const {
    const float repeated = logit > 0 ? logit / repetition : logit * repetition;
    const float counted = repeated - frequency * static_cast<float>(count);
    return counted - presence;
  }

  /// In [0, 1), a multiple of 2^-53, from (seed, step) alone.
  [[nodiscard]] double uniform() const {
    const auto key = static_cast<std::uint64_t>(seed);
    const auto counter = static_cast<std::uint64_t>(step);
    const PhiloxBlock words = philox4x32(
        {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0},
        {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
    const std::uint64_t bits = std::uint64_t{words[0]} << 21 | words[1] >> 11;
    return static_cast<double>(bits) * 0x1p-53;
  }
};

/// The parameters of all rows; absent ones without data.
struct Parameters {
  TensorView seeds, steps, temperature, top_k, top_p, min_p, history, repetition, presence,
      frequency;

  explicit Parameters(const Arguments& args)
      : seeds(args["seeds"]),
        steps(args["steps"]),
        temperature(args["temperature"]),
        top_k(args["top_k"]),
        top_p(args["top_p"]),
        min_p(args["min_p"]),
        history(args["history"]),
        repetition(args["repetition"]),
        presence(args["presence"]),
        frequency(args["frequency"]) {}

  [[nodiscard]] Settings of(std::int64_t r) const {
    Settings row;
    read(row.temperature, temperature, r);
    read(row.top_k, top_k, r);
    read(row.top_p, top_p, r);
    read(row.min_p, min_p, r);
    read(row.repetition, repetition, r);
    read(row.presence, presence, r);
    read(row.frequency, frequency, r);
    read(row.seed, seeds, r);
    read(row.step, steps, r);
    return row;
  }

  [[nodiscard]] std::int64_t history_length() const {
    return history.is_present() ? history.extent(1) : 0;
  }
  [[nodiscard]] std::int32_t history_at(std::int64_t r, std::int64_t i) const {
    return history.as<const std::int32_t>()[r * history.stride(0) + i * history.stride(1)];
  }

 private:
  template <class T>
  static void read(T& to, const TensorView& from, std::int64_t r) {
    if (from.is_present()) to = from.as<const T>()[r * from.stride(0)];
  }
};

}  // namespace rooftile::ops::sample
