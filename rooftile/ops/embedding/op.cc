// SPDX-License-Identifier: Apache-2.0
// The declaration of embedding, and its typed call.
#include "rooftile/op/op.h"

#include <algorithm>
#include <limits>
#include <set>

#include "rooftile/base/parallel.h"
#include "rooftile/base/text.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/embedding/embedding.h"

namespace rooftile::ops::embedding {
namespace {

bool is_in_table(const Problem& problem, double id) {
  return id >= 0 && id < static_cast<double>(problem.axis("vocab"));
}

void meaning(const Problem& problem, Values& values) {
  const double scale = problem.number("scale");
  const Array& table = values["table"];
  const Array& ids = values["ids"];
  Array& y = values["y"];
  const std::int64_t cols = problem.axis("cols");
  for_each_row(problem.axis("rows"), cols, [&](std::int64_t r) {
    const bool is_known = is_in_table(problem, ids[r]);
    for (std::int64_t c = 0; c < cols; ++c)
      y.at(r, c) = is_known ? table.at(static_cast<std::int64_t>(ids[r]), c) * scale
                            : std::numeric_limits<double>::quiet_NaN();
  });
}

// Each row of the table that is asked for is read once.
Cost cost(const Problem& problem, const Values* data) {
  const auto vocab = static_cast<double>(problem.axis("vocab"));
  double rows_read = std::min(vocab, static_cast<double>(problem.axis("rows")));
  if (data != nullptr) {
    std::set<double> distinct;
    for (const double id : (*data)["ids"].values)
      if (is_in_table(problem, id)) distinct.insert(id);
    rows_read = static_cast<double>(distinct.size());
  }
  Cost cost;
  if (problem.number("scale") != 1)
    cost[Unit::fp32] =
        static_cast<double>(problem.axis("rows")) * static_cast<double>(problem.axis("cols"));
  cost.bytes_read =
      problem.bytes("ids") + (vocab > 0 ? problem.bytes("table") / vocab * rows_read : 0);
  cost.bytes_written = problem.bytes("y");
  return cost;
}

Tolerance tolerance(const Problem& problem, const std::string& output) {
  if (problem.number("scale") == 1) return {.ulps = 0.5, .reason = "a copy, rounded at most once"};
  Tolerance bound = sum_tolerance(problem.dtype(output), DType::f32, 1);
  bound.accumulated = 0x1p-23;
  bound.reason = "scale and product rounded to f32, then one rounding";
  return bound;
}

// Valid ids; with extreme data a few beyond both ends.
void generate_ids(const Problem& problem, const Rng& rng, const Values&, std::vector<double>& ids) {
  const std::int64_t vocab = problem.axis("vocab");
  const double outside[]{-1, static_cast<double>(vocab), 2147483647, -2147483648.0};
  for (std::size_t r = 0; r < ids.size(); ++r) {
    ids[r] = vocab > 0 ? static_cast<double>(rng.below(r, vocab)) : 0;
    if (problem.data == "extreme" && r % 3 == 1) ids[r] = outside[r / 3 % 4];
  }
}

double extreme_limit(const Problem& problem, const ArgChoice&) {
  return info(problem.dtype("y")).max_finite / 4 / std::max(1.0, problem.number("scale"));
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "rows=4 cols=64 vocab=100 table=bf16"},
      {"smoke", "rows=3 cols=100 vocab=7 table=f32 scale=10"},
      {"ci", "rows=17 cols=1000 vocab=301 table=f32"},
      {"ci", "rows=64 cols=4096 vocab=300 table=bf16 y=f32"},
      {"ci", "rows=2 cols=40000 vocab=3 table=fp16 scale=0.5"},
      {"llama3_8b.prefill", "rows=2048 cols=4096 vocab=128256 table=bf16"},
      {"llama3_8b.decode", "rows=1 cols=4096 vocab=128256 table=bf16"},
      {"gemma2_2b.decode", "rows=1 cols=2304 vocab=256000 table=bf16 scale=48"},
      {"roof", "rows=8192 cols=4096 vocab=32000 table=bf16"},
  };
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text}); };
  for (const char* table : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " table=" + std::string(table);
    edge("rows=0 cols=8 vocab=5" + dtype);
    edge("rows=3 cols=0 vocab=5" + dtype);
    edge("rows=3 cols=20 vocab=0" + dtype);
    edge("rows=9 cols=20 vocab=1" + dtype);
    for (const int cols : {1, 2, 7, 15, 16, 17, 33, 511, 513, 1025})
      edge("rows=13 vocab=50 data=extreme cols=" + std::to_string(cols) + dtype);
    edge("rows=5 cols=33 vocab=50 scale=0.3" + dtype);
    edge("rows=5 cols=33 vocab=50 scale=0 data=extreme" + dtype);
    edge("rows=5 cols=48 vocab=9 table.stride=64,1 y.stride=50,1 table.offset=1 y.offset=3" +
         dtype);
    edge("rows=5 cols=33 vocab=9 table.stride=1,9 ids.stride=2" + dtype);
    edge("rows=5 cols=33 vocab=9 y.stride=1,7 ids.stride=0" + dtype);
    for (const char* y : {"f32", "bf16", "fp16"})
      edge("rows=4 cols=70 vocab=20 y=" + std::string(y) + dtype);
  }
  edge("rows=64 cols=8 vocab=64 table=f32 table.stride=67108864,1");  // offsets beyond 2^31
  for (const DTypeInfo& type : dtypes()) {
    if (!type.is_block()) continue;
    const std::string cols = " cols=" + std::to_string(3 * type.unit_elements);
    edge("rows=5 vocab=9 y=f32 scale=3" + cols + " table=" + std::string(type.name));
    edge("rows=3 vocab=4 y=bf16 y.stride=800,1" + cols + " table=" + std::string(type.name));
  }
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/embedding/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "embedding",
    .summary = "Rows of a table by number",
    .formula = "y[r,c] = table[ids[r],c] * scale; NaN where ids[r] is outside [0, vocab)",
    .axes = {{"rows", "tokens"}, {"cols", "elements of a row"}, {"vocab", "rows of the table"}},
    .args = {out("y", {"rows", "cols"}).like("table"),
             in("table", {"vocab", "cols"}).types(floats_and_blocks()),
             in("ids", {"rows"}).types({DType::i32}).data(generate_ids).help("token ids")},
    .options = {{.name = "scale",
                 .default_value = "1",
                 .help = "multiplies in f32, as sqrt(cols) in Gemma",
                 .least = 0,
                 .greatest = 1e6}},
    .batch_axis = "rows",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .extreme_limit = extreme_limit,
    .cases = cases(),
    .why_these_inputs =
        "Ids are random, so that a row taken by position shows; with extreme data a third of them lie "
        "outside the table, next to its ends and as far as the type goes: their rows must be NaN and "
        "nothing beyond the table read. Tables of 0 and 1 row, transposed tables, and one whose rows "
        "lie more than 2^31 elements apart.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/embedding/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::embedding

namespace rooftile {

void embedding(Stream& stream, const TensorView& y, const TensorView& table, const TensorView& ids,
               const EmbeddingOptions& options) {
  const TensorView views[]{y, table, ids};
  const OptionValue values[]{{"scale", shortest(options.scale)}};
  call(catalogue(), "embedding", stream, views, values);
}

}  // namespace rooftile
