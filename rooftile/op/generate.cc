// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/generate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "rooftile/base/parallel.h"
#include "rooftile/formats/element.h"

namespace rooftile {
namespace {

constexpr int kZeroEvery = 17;
double extreme_value(const Rng& rng, std::uint64_t i, double least, double most) {
  if (i % kZeroEvery == kZeroEvery - 1) return 0;
  const double exponent = least + rng.uniform(2 * i) * (most - least);
  return (rng.bits(2 * i + 1) & 1) != 0 ? std::exp2(exponent) : -std::exp2(exponent);
}

void fill(const OpDef& op, const Problem& problem, const ArgChoice& arg, const Rng& rng,
          std::vector<double>& values) {
  const DTypeInfo& type = info(arg.dtype);
  if (problem.data == "zeros") return;
  const double least =
      type.is_block() ? std::ldexp(1.0, type.min_exponent) : ulp_of(arg.dtype, 0.0);
  const double most = op.extreme_limit ? std::min(op.extreme_limit(problem, arg), type.max_finite)
                                       : type.max_finite / 4;
  const double log_least = std::log2(least);
  const double log_most = std::log2(most);
  // A value depends on its index alone, so that threads may share them out.
  const auto draw = [&](const auto& value) {
    for_each_element(values.size(), [&](std::size_t i) { values[i] = value(i); });
  };
  if (type.kind == DTypeKind::integer)
    draw([&](std::uint64_t i) { return static_cast<double>(rng.below(i, 15)) - 7; });
  else if (problem.data == "uniform")
    draw([&](std::uint64_t i) { return 2 * rng.uniform(i) - 1; });
  else if (problem.data == "extreme")
    draw([&](std::uint64_t i) { return extreme_value(rng, i, log_least, log_most); });
  else
    draw([&](std::uint64_t i) { return rng.normal(i); });
}

// To what the type holds, some at a time so that they stay in a cache between the two conversions.
void round_all(DType dtype, std::vector<double>& values) {
  constexpr std::size_t kChunk = 4096;  // whole units of every type
  const std::size_t chunks = (values.size() + kChunk - 1) / kChunk;
  in_parallel(chunks, kParallelElements / kChunk, [&](std::size_t first, std::size_t last) {
    std::vector<double> codes(kChunk);  // as large as any type's
    for (std::size_t i = first * kChunk; i < std::min(last * kChunk, values.size()); i += kChunk) {
      const auto count = static_cast<std::int64_t>(std::min(kChunk, values.size() - i));
      narrow(dtype, values.data() + i, count, codes.data());
      widen(dtype, codes.data(), count, values.data() + i);
    }
  });
}

}  // namespace

void generate_inputs(const OpDef& op, const Problem& problem, Values& values) {
  for (const ArgDef& def : op.args) {
    const ArgChoice& arg = problem.arg(def.name);
    if (def.role == Role::out || !arg.is_present) continue;
    const Rng rng(problem.seed, op.name + "." + def.name);
    std::vector<double>& array = values[def.name].values;
    if (def.generate) {
      def.generate(problem, rng, values, array);
    } else {
      fill(op, problem, arg, rng, array);
    }
    if (arg.scaling || info(arg.dtype).is_block()) continue;  // rounded where it is stored
    round_all(arg.dtype, array);
  }
}

}  // namespace rooftile
