// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/sample/data.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace rooftile::ops::sample {
namespace {

// Element c of an extreme row.
double extreme_logit(const Rng& rng, std::uint64_t i, std::int64_t row, std::int64_t c,
                     std::int64_t cols) {
  switch (row % 6) {
    case 0:
      return -HUGE_VAL;
    case 1:
      return c == cols / 2 ? std::nan("") : rng.normal(i);
    case 2:
      return c == cols / 2 ? HUGE_VAL : rng.normal(i);
    case 3:
      return rng.below(i, 8) == 0 || c == cols / 3 ? rng.normal(i) : -HUGE_VAL;
    case 4:
      return std::ldexp(rng.normal(i), static_cast<int>(rng.below(i, 14)));
    default:
      return rng.below(i, 2) == 0 ? 0.0 : -0.0;
  }
}

}  // namespace

Generator logits_data() {
  return [](const Problem& problem, const Rng& rng, const Values&, std::vector<double>& logits) {
    const std::int64_t cols = problem.axis("cols");
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / cols;
      const auto c = static_cast<std::int64_t>(i) % cols;
      logits[i] = problem.data == "zeros"     ? 0
                  : problem.data == "uniform" ? static_cast<double>(rng.below(i, 5)) - 2
                  : problem.data == "extreme" ? extreme_logit(rng, i, row, c, cols)
                                              : 3 * rng.normal(i);
    }
  };
}

Generator one_of(std::vector<double> valid, std::vector<double> faulty) {
  return [=](const Problem& problem, const Rng& rng, const Values&, std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_faulty = problem.data == "extreme" && !faulty.empty() && rng.below(i, 8) == 7;
      const std::vector<double>& list = is_faulty ? faulty : valid;
      values[i] = list[static_cast<std::size_t>(
          rng.below(values.size() + i, static_cast<std::int64_t>(list.size())))];
    }
  };
}

Generator history_data() {
  return [](const Problem& problem, const Rng& rng, const Values&, std::vector<double>& ids) {
    const std::int64_t cols = problem.axis("cols");
    // Few ids, so that some stand there often.
    for (std::size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<double>(rng.below(i, std::min<std::int64_t>(cols, 20) + 3)) - 2;
    for (std::size_t i = 0; i < ids.size(); i += 7) ids[i] = static_cast<double>(cols - 1);
    for (std::size_t i = 3; i < ids.size(); i += 11) ids[i] = static_cast<double>(cols);
  };
}

Generator numbers_data() {
  return [](const Problem&, const Rng& rng, const Values&, std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(rng.below(i, std::int64_t{1} << 40) - (1 << 20));
  };
}

std::vector<Case> cases() {
  const std::string filters = " top_k=i32 top_p=f32 min_p=f32";
  const std::string penalties =
      " history_length=30 history=i32 repetition=f32 presence=f32 frequency=f32";
  std::vector<Case> list{
      {"smoke", "rows=4 cols=100 logits=f32 temperature=f32" + filters},
      {"smoke", "rows=3 cols=64 logits=bf16"},
      {"ci", "rows=8 cols=5000 logits=f32 temperature=f32" + filters + penalties},
      {"ci", "rows=2 cols=32000 logits=bf16 temperature=f32 top_p=f32"},
      {"ci", "rows=40 cols=300 logits=f32 temperature=f32 data=uniform" + filters},
      {"llama3_8b.decode", "rows=1 cols=128256 logits=f32"},
      {"llama3_8b.decode", "rows=1 cols=128256 logits=f32 top_k=i32 top_p=f32"},
      {"llama3_8b.decode", "rows=64 cols=128256 logits=bf16 temperature=f32 top_p=f32"},
      {"roof", "rows=64 cols=128256 logits=f32 temperature=f32"},
      {"roof", "rows=64 cols=128256 logits=f32 temperature=f32 top_k=i32 top_p=f32"},
  };
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text}); };
  for (const char* logits : {"f32", "bf16", "fp16"}) {
    const std::string dtype = " logits=" + std::string(logits);
    const std::string all = dtype + " temperature=f32" + filters + penalties;
    edge("rows=0 cols=8" + all);
    for (const int cols : {1, 2, 5, 15, 16, 17, 33, 255, 1023, 1025, 2049})
      for (const char* data : {"", " data=uniform"})
        edge("rows=16 cols=" + std::to_string(cols) + dtype + " temperature=f32" + filters + data);
    for (const int cols : {1, 7, 40, 1100}) {
      edge("rows=24 cols=" + std::to_string(cols) + all);
      edge("rows=48 data=extreme cols=" + std::to_string(cols) + all);
    }
    edge("rows=30 cols=300 data=zeros" + dtype + " temperature=f32" + filters);
    for (const char* filter : {" top_k=i32", " top_p=f32", " min_p=f32"})
      edge("rows=30 cols=300" + dtype + filter);
    edge("rows=6 cols=48 logits.stride=64,1 logits.offset=1 ids.stride=3 seeds.stride=2" + all);
    edge("rows=6 cols=48 temperature.stride=0 history.stride=1,6" + all);
    edge("rows=6 cols=33 logits.stride=1,7" + all);
    edge("rows=6 cols=33 logits.stride=0,1" + all);
    edge("rows=6 cols=33 history_length=0 history=i32 repetition=f32" + dtype);
  }
  edge("rows=64 cols=8 logits=f32 logits.stride=67108864,1");  // offsets beyond 2^31
  return list;
}

}  // namespace rooftile::ops::sample
