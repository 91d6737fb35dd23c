// SPDX-License-Identifier: Apache-2.0
// A token's cosines and sines in a table that its heads share. The angle is reduced in double, so
// that it is as exact at a position of a million as at 1 (Cody and Waite, 1980); the functions of
// what is left are short polynomials in f32.
#include <algorithm>
#include <cstring>
#include <memory>

#include "rooftile/device/cpu/simd.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/rope/frequencies.h"

namespace rooftile {
namespace {

constexpr std::int64_t kMostPairs = 256;  // the tables stand on the stack
constexpr std::int64_t kTaskElements = 16384;

struct RopeCall {
  void* y;
  const void* x;
  const std::int32_t* positions;
  const float* freq_factors;  // null: none
  const double* turns;
  DType y_dtype;
  DType x_dtype;
  std::int64_t y_strides[2];  // elements: from token to token, from head to head
  std::int64_t x_strides[2];
  std::int64_t position_stride;
  std::int64_t heads;
  std::int64_t head_dim;
  std::int64_t pairs;
  float factor;
  bool is_half;
};

}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/rope/cpu_table_tokens.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::rope {
namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"y", "x"})
    if (problem.arg(name).strides[2] != 1)
      return unsupported(std::string(name) + ": elements of a head must be adjacent");
  if (problem.has("freq_factors") && problem.axis("pairs") > 1 &&
      problem.arg("freq_factors").strides[0] != 1)
    return unsupported("freq_factors must be contiguous");
  if (rotary_of(problem) > 2 * kMostPairs)
    return unsupported("rotates at most " + std::to_string(2 * kMostPairs) + " elements of a head");
  return supported();
}

struct Shape {
  RopeCall call;
  std::vector<double> turns;
};

std::shared_ptr<const Shape> shape_of(const Problem& problem) {
  const Dims& y = problem.arg("y").strides;
  const Dims& x = problem.arg("x").strides;
  auto shape = std::make_shared<Shape>(
      Shape{.call = {.y = nullptr,
                     .x = nullptr,
                     .positions = nullptr,
                     .freq_factors = nullptr,
                     .turns = nullptr,
                     .y_dtype = problem.dtype("y"),
                     .x_dtype = problem.dtype("x"),
                     .y_strides = {y[0], y[1]},
                     .x_strides = {x[0], x[1]},
                     .position_stride = problem.arg("positions").strides[0],
                     .heads = problem.axis("heads"),
                     .head_dim = problem.axis("head_dim"),
                     .pairs = rotary_of(problem) / 2,
                     .factor = static_cast<float>(attention_factor(problem)),
                     .is_half = problem.option("pairing") == "half"},
            .turns = frequencies(problem)});
  shape->call.turns = shape->turns.data();
  return shape;
}

void run(const RopeCall& call, std::int64_t tokens, Stream& stream) {
  if (call.heads == 0) return;
  const auto rotate = ROOFTILE_SIMD_CHOOSE(rotate_tokens);
  const std::int64_t per_task =
      std::max<std::int64_t>(kTaskElements / (call.heads * call.head_dim), 1);
  stream.launch((tokens + per_task - 1) / per_task, [&](std::int64_t task) {
    rotate(call, task * per_task, std::min((task + 1) * per_task, tokens));
  });
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const std::shared_ptr<const Shape> shape = shape_of(problem);
  return {.run = [shape](const Context& context, const Arguments& args) {
    RopeCall call = shape->call;
    call.y = args["y"].data;
    call.x = args["x"].data;
    call.positions = args["positions"].as<const std::int32_t>();
    call.freq_factors = args["freq_factors"].as<const float>();
    run(call, args["x"].extent(0), *context.stream);
  }};
}

}  // namespace

extern const KernelDef cpu_table;
const KernelDef cpu_table{
    .op = "rope",
    .name = "cpu_table",
    .idea = "a token's sines and cosines in a table for all heads, angles reduced in double",
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

}  // namespace rooftile::ops::rope
