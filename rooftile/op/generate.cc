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
// Of a thread: far longer to fill than to start one.
constexpr std::size_t kLeastElements = std::size_t{1} << 18;

// Every i on several threads where there are many: a value depends on its index alone, and what is
// benchmarked on a GPU has hundreds of millions.
template <class Body>
void for_each_index(std::size_t count, const Body& body) {
  in_parallel(count, kLeastElements, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) body(i);
  });
}

double extreme_value(const Rng& rng, std::uint64_t i, double least, double most) {
  if (i % kZeroEvery == kZeroEvery - 1) return 0;
  const double exponent =
      std::log2(least) + rng.uniform(2 * i) * (std::log2(most) - std::log2(least));
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
  for_each_index(values.size(), [&](std::size_t i) {
    if (type.kind == DTypeKind::integer)
      values[i] = static_cast<double>(rng.below(i, 15)) - 7;
    else if (problem.data == "uniform")
      values[i] = 2 * rng.uniform(i) - 1;
    else if (problem.data == "extreme")
      values[i] = extreme_value(rng, i, least, most);
    else
      values[i] = rng.normal(i);
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
    for_each_index(array.size(), [&](std::size_t i) { array[i] = round_to(arg.dtype, array[i]); });
  }
}

}  // namespace rooftile
