// SPDX-License-Identifier: Apache-2.0
// Attention in chunks of keys (Dao et al., FlashAttention 2022 and FlashAttention-2 2023): the
// scores of a few rows against a chunk stay in cache between the two products. Long prompts are cut
// by rows, short ones by chunks as well (Dao et al., Flash-Decoding, 2023), and chunks are merged
// in their order either way. So a token's bits are the same in a prefill, in a piece of one and in
// a decode, whatever stands beside it and however many threads there are.
#include "rooftile/ops/attention/cpu_simd.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "rooftile/device/cpu/simd.h"
#include "rooftile/device/cpu/simd_transpose.h"
#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/attention/cpu_schedule.h"
#include "rooftile/ops/attention/meaning.h"

namespace rooftile {
namespace {
using namespace ops::attention;  // NOLINT(google-build-using-namespace)
}  // namespace
}  // namespace rooftile

#define ROOFTILE_SIMD_FILE "rooftile/ops/attention/cpu_simd_all.inc"
#include "rooftile/device/cpu/simd_each.inc"

namespace rooftile::ops::attention {
namespace {

constexpr std::int64_t kMostDim = 1024;
constexpr std::int64_t kFinishRows = 16;  // of a block of the last step, or more

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"out", "q", "k_cache", "v_cache"}) {
    const Dims& strides = problem.arg(name).strides;
    if (problem.axis("head_dim") > 1 && strides[strides.rank() - 1] != 1)
      return unsupported(std::string(name) + ": elements of a head must be adjacent");
  }
  if (problem.dtype("k_cache") != problem.dtype("v_cache"))
    return unsupported("k_cache and v_cache must have one dtype");
  if (problem.axis("head_dim") > kMostDim)
    return unsupported("head_dim must be at most " + std::to_string(kMostDim));
  return supported();
}

RowsView rows_of(const Problem& problem, const char* name) {
  const ArgChoice& arg = problem.arg(name);
  if (!arg.is_present) return {};
  return {.dtype = arg.dtype, .token_stride = arg.strides[0], .head_stride = arg.strides[1]};
}
CacheView cache_of(const Problem& problem, const char* name) {
  const Dims& strides = problem.arg(name).strides;
  return {.page_stride = strides[0], .key_stride = strides[1], .head_stride = strides[2]};
}
Table<std::int32_t> table_of(const Problem& problem, const char* name) {
  const Dims& strides = problem.arg(name).strides;
  return {.stride0 = strides[0], .stride1 = strides.rank() > 1 ? strides[1] : 0};
}

BiasView bias_of(const Problem& problem) {
  const ArgChoice& arg = problem.arg("bias");
  if (!arg.is_present) return {};
  return {.token_stride = arg.strides[0],
          .head_stride = arg.shape[1] > 1 ? arg.strides[1] : 0,
          .key_stride = arg.strides[2],
          .keys = arg.shape[2]};
}

AttentionCall call_of(const Problem& problem) {
  return {.out = rows_of(problem, "out"),
          .lse = rows_of(problem, "lse"),
          .q = rows_of(problem, "q"),
          .k = cache_of(problem, "k_cache"),
          .v = cache_of(problem, "v_cache"),
          .cache_dtype = problem.dtype("k_cache"),
          .starts = table_of(problem, "q_starts"),
          .lengths = table_of(problem, "kv_lengths"),
          .pages_of = table_of(problem, "page_table"),
          .slope_stride = problem.has("slopes") ? problem.arg("slopes").strides[0] : 0,
          .bias = bias_of(problem),
          .tokens = problem.axis("tokens"),
          .sequences = problem.axis("sequences"),
          .heads = problem.axis("heads"),
          .kv_heads = problem.axis("kv_heads"),
          .dim = problem.axis("head_dim"),
          .pages = problem.axis("pages"),
          .page_size = problem.axis("page_size"),
          .max_pages = problem.axis("max_pages"),
          .window = static_cast<std::int64_t>(problem.number("window")),
          .mask = parse_mask(problem.option("mask")),
          .scale = static_cast<float>(scale_of(problem)),
          .softcap = static_cast<float>(problem.number("softcap"))};
}

AttentionCall with_pointers(AttentionCall call, const Arguments& args) {
  call.out.data = args["out"].data;
  call.lse.data = args["lse"].data;
  call.q.data = args["q"].data;
  call.k.data = args["k_cache"].data;
  call.v.data = args["v_cache"].data;
  call.starts.data = args["q_starts"].as<const std::int32_t>();
  call.lengths.data = args["kv_lengths"].as<const std::int32_t>();
  call.pages_of.data = args["page_table"].as<const std::int32_t>();
  call.slopes = args["slopes"].as<const float>();
  call.bias.data = args["bias"].as<const float>();
  return call;
}

// How the workspace is laid out; with no memory, how large it is.
struct Workspace {
  void* schedule;
  Partials partials;
  char* scratch;
  std::int64_t scratch_bytes;  // of one worker
  std::int64_t bytes;          // of all

  Workspace(const AttentionCall& call, std::int64_t workers, void* memory) {
    Carver one(nullptr);
    const Scratch counted(call, one);
    scratch_bytes = one.bytes();
    Carver from(memory);
    schedule = from.take<char>(Schedule::bytes(call));
    partials.stride = Partials::kHeader + call.padded_dim();
    partials.data = from.take<float>(
        checked_product({Schedule::most_partials(call), partials.stride}, "partial results"));
    scratch = from.take<char>(checked_product({scratch_bytes, workers}, "scratch"));
    bytes = from.bytes();
  }
};

void run_call(const AttentionCall& call, const Context& context) {
  Stream& stream = *context.stream;
  const std::int64_t threads = stream.device().properties().compute_units;
  const Workspace workspace(call, threads, context.workspace);
  // The tables are read in stream order: kernels before this one may have written them.
  std::optional<Schedule> schedule;
  stream.launch(1, [&](std::int64_t) { schedule.emplace(call, threads, workspace.schedule); });
  const auto task_of = ROOFTILE_SIMD_CHOOSE(run_task);
  std::atomic<std::int64_t> next = 0;
  stream.launch(std::min(threads, schedule->num_tasks()), [&](std::int64_t worker) {
    Carver from(workspace.scratch + worker * workspace.scratch_bytes);
    const Scratch scratch(call, from);
    for (std::int64_t i = next++; i < schedule->num_tasks(); i = next++)
      task_of(call, *schedule, schedule->task(i), scratch, workspace.partials);
  });
  const auto finish = ROOFTILE_SIMD_CHOOSE(finish_rows);
  const std::int64_t blocks = std::min((call.tokens + kFinishRows - 1) / kFinishRows, threads);
  stream.launch(blocks, [&](std::int64_t block) {
    Carver from(workspace.scratch + block * workspace.scratch_bytes);
    const Scratch scratch(call, from);
    finish(call, *schedule, workspace.partials, scratch,
           {call.tokens * block / blocks, call.tokens * (block + 1) / blocks});
  });
}

Prepared prepare(const Problem& problem, Device& device, const Config&) {
  const AttentionCall shape = call_of(problem);
  const Workspace workspace(shape, device.properties().compute_units, nullptr);
  return {.run = [shape](const Context& context,
                         const Arguments& args) { run_call(with_pointers(shape, args), context); },
          .workspace_bytes = workspace.bytes};
}

}  // namespace

extern const KernelDef cpu_simd;
const KernelDef cpu_simd{
    .op = "attention",
    .name = "cpu_simd",
    .idea =
        "chunks of keys between two products in cache, merged in order: prefill and decode give "
        "the same bits",
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

}  // namespace rooftile::ops::attention
