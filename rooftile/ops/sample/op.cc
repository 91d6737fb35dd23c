// SPDX-License-Identifier: Apache-2.0
// The declaration of sample, and its typed call.
#include "rooftile/op/op.h"

#include <cmath>
#include <limits>

#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/sample/data.h"
#include "rooftile/ops/sample/reference.h"
#include "rooftile/ops/sample/sample.h"

namespace rooftile::ops::sample {
namespace {

Cost cost(const Problem& problem, const Values*) {
  const auto elements =
      static_cast<double>(problem.axis("rows")) * static_cast<double>(problem.axis("cols"));
  Cost cost;
  cost[Unit::fp32] = elements * 4;  // maximum, subtract, scale, sum
  cost[Unit::special] = elements;   // exp
  for (const ArgChoice& arg : problem.args)
    if (!arg.is_output) cost.bytes_read += problem.bytes(arg.name);
  cost.bytes_written = problem.bytes("ids");
  return cost;
}

Tolerance tolerance(const Problem&, const std::string&) {
  return {.ulps = 0,
          .reason =
              "an id is right or wrong; where a draw or top-p's cut lies within the rounding "
              "of f32 of a boundary, both sides are right"};
}

std::string invalid(const Problem& problem) {
  if (problem.axis("cols") > std::numeric_limits<std::int32_t>::max())
    return "cols must fit in the i32 of ids";
  for (const char* name : {"repetition", "presence", "frequency"})
    if (problem.has(name) && !problem.has("history")) return std::string(name) + " needs history";
  return "";
}

std::vector<ArgDef> args() {
  const double nan = std::nan("");
  const auto parameter = [](const char* name, DType dtype, Generator data, const char* help) {
    return in(name, {"rows"}).types({dtype}).optional().data(std::move(data)).help(help);
  };
  return {out("ids", {"rows"}).types({DType::i32}),
          in("logits", {"rows", "cols"}).data(logits_data()),
          in("seeds", {"rows"}).types({DType::i64}).data(numbers_data()).help("key of the draw"),
          in("steps", {"rows"}).types({DType::i64}).data(numbers_data()).help("its counter"),
          parameter("temperature", DType::f32,
                    one_of({0, 0.5, 0.75, 1, 1, 1.5}, {nan, -1, HUGE_VAL, 1e-40}),
                    "below 1e-5: the largest logit"),
          parameter("top_k", DType::i32, one_of({0, 1, 2, 5, 40, 100000, -1}, {}), "0: off"),
          parameter("top_p", DType::f32,
                    one_of({1, 0.95, 0.75, 0.5, 0.125, 0}, {nan, -0.125, 1.125}), "1: off"),
          parameter("min_p", DType::f32, one_of({0, 0.0625, 0.25, 1}, {nan, -0.125, 2}), "0: off"),
          in("history", {"rows", "history_length"})
              .types({DType::i32})
              .optional()
              .data(history_data())
              .help("earlier tokens; ids outside [0, cols) are none"),
          parameter("repetition", DType::f32, one_of({1, 1.125, 1.5, 0.75}, {nan, 0, -1}),
                    "divides positive logits of history's tokens, multiplies others"),
          parameter("presence", DType::f32, one_of({0, 0.5, -0.5, 2}, {nan, HUGE_VAL}),
                    "subtracted once"),
          parameter("frequency", DType::f32, one_of({0, 0.25, -0.25, 1}, {nan, -HUGE_VAL}),
                    "subtracted for each time")};
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/sample/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "sample",
    .summary = "Token sampling: penalties, temperature, top-k, top-p, min-p, one draw a row",
    .formula =
        "ids[r] = the least id with sum_{k<=id} p[r,k] > uniform(seeds[r], steps[r]); -1 where nothing "
        "can be drawn",
    .source =
        "top-p: Holtzman and others, 2019; min-p: Nguyen and others, 2024; repetition: Keskar and "
        "others, 2019; draws: Philox4x32-10, Salmon and others, 2011; order as in Hugging Face",
    .axes = {{"rows", "independent requests"},
             {"cols", "the vocabulary", 1},
             {"history_length", "earlier tokens, where history is given", 0, 0}},
    .args = args(),
    .batch_axis = "rows",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .invalid = invalid,
    .cases = cases(),
    .why_these_inputs =
        "Each row has its own parameters by chance, so that every filter meets every other, off and at "
        "both ends of its range. Few distinct logits make ties at top-k's and top-p's cuts the rule. "
        "Extreme data has rows without anything to draw from, masked rows, both zeros, and parameters "
        "that are NaN or out of range, which must give -1. Histories repeat tokens and hold ids that "
        "are none.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/sample/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::sample

namespace rooftile {

void sample(Stream& stream, const TensorView& ids, const TensorView& logits,
            const TensorView& seeds, const TensorView& steps, const SampleParameters& parameters) {
  const SampleParameters& p = parameters;
  const TensorView views[]{ids,     logits,  seeds,     steps,        p.temperature, p.top_k,
                           p.top_p, p.min_p, p.history, p.repetition, p.presence,    p.frequency};
  call(catalogue(), "sample", stream, views, {});
}

}  // namespace rooftile
