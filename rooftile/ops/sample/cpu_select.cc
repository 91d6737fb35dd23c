// SPDX-License-Identifier: Apache-2.0
// Nothing is sorted: weights over vectors, a cut by radix selection for top-k and one for top-p,
// what lies below set to 0, and a draw by sums of blocks. A row is one thread's.
#include "rooftile/ops/sample/cpu_select_cut.h"

#include <algorithm>
#include <cmath>

#include "rooftile/device/cpu/simd.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/sample/settings.h"

namespace rooftile {
namespace {

constexpr std::int64_t kSummed = 1024;  // elements of a block of the draw

// A row's working memory; logits and weights are padded to whole vectors with -infinity and 0.
struct SampleRow {
  float* logits;
  float* weights;
  double* sums;           // of blocks of weights
  std::int32_t* history;  // sorted
  std::int64_t cols;
};

struct Measured {
  float largest;
  bool can_be_drawn_from;
};

}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/sample/cpu_select_rows.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::sample {
namespace {

// The passes over a row for the processor at hand.
struct Passes {
  decltype(&scalar::load_row) load = ROOFTILE_SIMD_CHOOSE(load_row);
  decltype(&scalar::measure_row) measure = ROOFTILE_SIMD_CHOOSE(measure_row);
  decltype(&scalar::weigh_row) weigh = ROOFTILE_SIMD_CHOOSE(weigh_row);
  decltype(&scalar::cut_row) cut = ROOFTILE_SIMD_CHOOSE(cut_row);
  decltype(&scalar::sum_blocks) sum = ROOFTILE_SIMD_CHOOSE(sum_blocks);
};

std::int64_t padded(std::int64_t cols) {
  return (cols + simd::kLanes - 1) / simd::kLanes * simd::kLanes;
}
std::int64_t blocks_of(std::int64_t cols) { return (cols + kSummed - 1) / kSummed; }

std::int64_t row_bytes(std::int64_t cols, std::int64_t history) {
  const std::int64_t bytes = padded(cols) * 2 * std::int64_t{sizeof(float)} +
                             blocks_of(cols) * std::int64_t{sizeof(double)} +
                             history * std::int64_t{sizeof(std::int32_t)};
  return (bytes + 63) / 64 * 64;
}

SampleRow row_in(char* memory, std::int64_t cols) {
  auto* logits = reinterpret_cast<float*>(memory);
  float* weights = logits + padded(cols);
  auto* sums = reinterpret_cast<double*>(weights + padded(cols));
  return {.logits = logits,
          .weights = weights,
          .sums = sums,
          .history = reinterpret_cast<std::int32_t*>(sums + blocks_of(cols)),
          .cols = cols};
}

void penalise(const SampleRow& row, const Parameters& parameters, const Settings& settings,
              std::int64_t r) {
  const std::int64_t length = parameters.history_length();
  for (std::int64_t i = 0; i < length; ++i) row.history[i] = parameters.history_at(r, i);
  std::sort(row.history, row.history + length);
  for (std::int64_t i = 0; i < length;) {
    const std::int32_t id = row.history[i];
    const std::int64_t first = i;
    while (i < length && row.history[i] == id) ++i;
    if (id >= 0 && id < row.cols) row.logits[id] = settings.penalised(row.logits[id], i - first);
  }
}

// Sets to 0 what top-k, top-p and min-p do not keep.
void filter(const SampleRow& row, const Passes& passes, const Settings& settings, float largest) {
  const auto cols = static_cast<std::size_t>(row.cols);
  const std::int64_t most = settings.kept_by_top_k(row.cols);
  Cut cut{.logit = -HUGE_VALF};
  if (most < row.cols) cut = select({row.logits, cols}, {row.weights, cols}, most, HUGE_VAL);
  if (settings.top_p < 1) {
    const double total = most < row.cols ? cut.mass : passes.sum(row);
    cut = select({row.logits, cols}, {row.weights, cols}, most,
                 (double{settings.top_p} - kTopPSlack) * total);
  }
  passes.cut(row, cut.logit);
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < row.cols && cut.ties < cut.equal; ++i)
    if (row.logits[i] == cut.logit && ++kept > cut.ties) row.weights[i] = 0;
  // The least float that is not below min-p's limit.
  const double least = settings.least_logit(largest);
  auto bound = static_cast<float>(least);
  if (bound < least) bound = std::nextafter(bound, HUGE_VALF);
  if (settings.min_p > 0) passes.cut(row, bound);
}

std::int32_t draw(const SampleRow& row, double total, double uniform) {
  const double target = uniform * total;
  double sum = 0;
  std::int64_t block = 0;
  while (block + 1 < blocks_of(row.cols) && sum + row.sums[block] <= target)
    sum += row.sums[block++];
  std::int64_t chosen = -1;
  for (std::int64_t i = block * kSummed; i < row.cols && (sum <= target || chosen < 0); ++i) {
    if (row.weights[i] > 0) chosen = i;
    sum += row.weights[i];
  }
  // Rounding left the target beyond the last kept token.
  for (std::int64_t i = block * kSummed - 1; chosen < 0; --i)
    if (row.weights[i] > 0) chosen = i;
  return static_cast<std::int32_t>(chosen);
}

std::int32_t id_of(const SampleRow& row, const Passes& passes, const Settings& settings) {
  const Measured measured = passes.measure(row);
  if (!measured.can_be_drawn_from) return kNoToken;
  if (settings.is_greedy())
    return static_cast<std::int32_t>(
        std::find(row.logits, row.logits + row.cols, measured.largest) - row.logits);
  passes.weigh(row, measured.largest, settings.temperature);
  filter(row, passes, settings, measured.largest);
  return draw(row, passes.sum(row), settings.uniform());
}

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("cols") > 1 && problem.arg("logits").strides[1] != 1)
    return unsupported("logits: elements of a row must be adjacent");
  return supported();
}

Prepared prepare(const Problem& problem, Device& device, const Config&) {
  const std::int64_t rows = problem.axis("rows");
  const std::int64_t cols = problem.axis("cols");
  const std::int64_t bytes =
      row_bytes(cols, problem.has("history") ? problem.axis("history_length") : 0);
  // A task for each row, or as many as there are threads: each has its own memory.
  const std::int64_t tasks = std::min<std::int64_t>(rows, device.properties().compute_units);
  const auto run = [rows, cols, bytes, tasks](const Context& context, const Arguments& args) {
    const Passes passes;
    const TensorView& ids = args["ids"];
    const TensorView& logits = args["logits"];
    const Parameters parameters(args);
    context.stream->launch(tasks, [&](std::int64_t task) {
      const SampleRow row = row_in(static_cast<char*>(context.workspace) + task * bytes, cols);
      for (std::int64_t r = task; r < rows; r += tasks) {
        const Settings settings = parameters.of(r);
        std::int32_t& id = ids.as<std::int32_t>()[r * ids.stride(0)];
        id = kNoToken;
        if (!settings.is_valid()) continue;
        passes.load(row, logits.data, logits.dtype, r * logits.stride(0));
        penalise(row, parameters, settings, r);
        id = id_of(row, passes, settings);
      }
    });
  };
  return {.run = run, .workspace_bytes = tasks * bytes};
}

}  // namespace

extern const KernelDef cpu_select;
const KernelDef cpu_select{
    .op = "sample",
    .name = "cpu_select",
    .idea = "cuts by radix selection instead of a sort, a draw by sums of blocks",
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

}  // namespace rooftile::ops::sample
