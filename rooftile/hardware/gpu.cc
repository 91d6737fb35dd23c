// SPDX-License-Identifier: Apache-2.0
// Look-ups in the table of GPUs; its rows are in gpus_*.cc.
#include "rooftile/hardware/gpu.h"

#include <algorithm>
#include <cctype>

#include "rooftile/base/error.h"
#include "rooftile/hardware/gpu_rows.h"

namespace rooftile {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

std::string_view name(Provenance provenance) {
  constexpr std::string_view kNames[] = {"data sheet", "whitepaper", "guide",      "driver",
                                         "measured",   "derived",    "third party"};
  return kNames[static_cast<std::size_t>(provenance)];
}

std::string_view name(Engine engine) { return engine == Engine::vector ? "vector" : "tensor"; }

std::string_view name(Number number) {
  constexpr std::string_view kNames[] = {"fp64", "fp32", "tf32", "bf16", "fp16",
                                         "fp8",  "fp6",  "fp4",  "int8", "int32"};
  return kNames[static_cast<std::size_t>(number)];
}

std::string name(const Arithmetic& arithmetic) {
  std::string text(name(arithmetic.engine));
  text += " " + std::string(name(arithmetic.input));
  if (arithmetic.accumulator != arithmetic.input || arithmetic.engine == Engine::tensor)
    text += " into " + std::string(name(arithmetic.accumulator));
  return text;
}

std::span<const Gpu> gpus() {
  static const std::vector<Gpu> table = {h100_row(), h200_row(),    b200_row(),
                                         a100_row(), rtx4090_row(), rtx5090_row()};
  return table;
}

const Gpu& find_gpu(std::string_view name) {
  std::vector<std::string> known;
  for (const Gpu& gpu : gpus()) {
    if (gpu.name == lower(name)) return gpu;
    known.emplace_back(gpu.name);
  }
  fail_input(unknown_name("GPU", name, known));
}

const Gpu* find_gpu_of_driver(std::string_view device_name) {
  for (const Gpu& gpu : gpus())
    if (!gpu.driver_name.empty() && gpu.driver_name == device_name) return &gpu;
  return nullptr;
}

const Rate* find_rate(const Gpu& gpu, const Arithmetic& arithmetic) {
  for (const Rate& rate : gpu.rates)
    if (rate.arithmetic == arithmetic) return &rate;
  return nullptr;
}

std::optional<double> peak_ops_per_s(const Gpu& gpu, const Arithmetic& arithmetic) {
  const Rate* rate = find_rate(gpu, arithmetic);
  if (rate == nullptr) return std::nullopt;
  return rate->dense_ops_per_s.value;
}

std::optional<double> peak_ops_per_s_at(const Gpu& gpu, const Arithmetic& arithmetic,
                                        double clock_hz) {
  const Rate* rate = find_rate(gpu, arithmetic);
  if (rate == nullptr || !rate->dense_ops_per_clock_per_cu || !gpu.compute_units)
    return std::nullopt;
  return gpu.compute_units->value * rate->dense_ops_per_clock_per_cu->value * clock_hz;
}

std::optional<double> peak_clock_hz(const Gpu& gpu, const Arithmetic& arithmetic) {
  // Why not fp64: NVIDIA's tensor clock is that of the formats of at most 19 bits (tf32 and below).
  const bool slows = arithmetic.engine == Engine::tensor && arithmetic.input != Number::fp64;
  const std::optional<Figure>& clock =
      slows && gpu.tensor_clock_hz ? gpu.tensor_clock_hz : gpu.boost_clock_hz;
  if (!clock) return std::nullopt;
  return clock->value;
}

std::optional<double> ridge_ops_per_byte(const Gpu& gpu, const Arithmetic& arithmetic) {
  const std::optional<double> peak = peak_ops_per_s(gpu, arithmetic);
  if (!peak || !gpu.dram_bytes_per_s) return std::nullopt;
  return *peak / gpu.dram_bytes_per_s->value;
}

}  // namespace rooftile
