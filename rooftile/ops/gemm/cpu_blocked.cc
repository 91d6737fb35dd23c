// SPDX-License-Identifier: Apache-2.0
// The cutting rules of the blocked multiplication, after Goto and van de Geijn ("Anatomy of
// high-performance matrix multiplication", 2008): what stays in which cache. Threads get tasks from
// a counter, a few each, so that one that is held up does not hold up all.
#include "rooftile/ops/gemm/cpu_blocked.h"

#include <algorithm>

#include "rooftile/ops/gemm/cpu_pack.h"

namespace rooftile::ops::gemm {
namespace {

// More than this packed in one go would not stay in the last-level cache.
constexpr std::int64_t kSharedBytes = 16 << 20;
constexpr std::int64_t kTasksPerThread = 4;
// Below this a thread costs more to wake than it brings.
constexpr double kLeastFlopsPerThread = 1e6;

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

// Columns of a task and row blocks of a chunk, for at least kTasksPerThread tasks a thread if the
// problem has them. Why columns first: A is shared, so a narrow task packs nothing twice.
void cut_tasks(std::int64_t n, BlockedPlan& plan) {
  const std::int64_t mr = plan.micro.mr;
  const std::int64_t nr = plan.micro.nr;
  const std::int64_t wanted = plan.workers == 1 ? 1 : plan.workers * kTasksPerThread;
  const std::int64_t even_share = round_up(ceil_div(n, wanted), nr);
  plan.nc = std::clamp(even_share, std::min(plan.nc, 4 * nr), plan.nc);
  plan.col_blocks = ceil_div(n, plan.nc);
  const std::int64_t most_row_blocks = ceil_div(plan.chunk_rows, 8 * mr);
  plan.row_blocks = std::clamp<std::int64_t>(ceil_div(wanted, plan.col_blocks), 1, most_row_blocks);
  if (plan.row_blocks * plan.col_blocks < plan.workers) {
    plan.nc = std::clamp(even_share, nr, plan.nc);
    plan.col_blocks = ceil_div(n, plan.nc);
  }
  plan.row_block = round_up(ceil_div(plan.chunk_rows, plan.row_blocks), mr);
  plan.row_blocks = ceil_div(plan.chunk_rows, plan.row_block);
}

}  // namespace

std::vector<BlockedConfig> blocked_configs(Isa isa) {
  if (isa >= Isa::avx512)
    return {{168, 256, 256}, {168, 128, 384}, {280, 256, 256}, {112, 512, 256}};
  return {{144, 256, 256}, {144, 256, 128}, {144, 256, 384}, {96, 128, 384}, {72, 256, 512}};
}

BlockedPlan plan_blocked(const GemmCall& call, int threads, Isa isa, const BlockedConfig& config) {
  BlockedPlan plan{};
  const std::int64_t m = std::max<std::int64_t>(call.m, 1);  // an empty problem is planned as if
  const std::int64_t n = std::max<std::int64_t>(call.n, 1);  // it were not
  const bool both_bf16 = call.a.dtype == DType::bf16 && call.b.dtype == DType::bf16;
  plan.micro = choose_micro(isa, both_bf16);
  const std::int64_t mr = plan.micro.mr;
  const std::int64_t nr = plan.micro.nr;
  const double flops =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(call.k);
  plan.workers = static_cast<int>(std::clamp(flops / kLeastFlopsPerThread, 1.0, 1.0 * threads));
  plan.units = units_of(call.k, plan.micro.unit);
  plan.block_units = std::min<std::int64_t>(config.kc, std::max<std::int64_t>(plan.units, 1));
  plan.k_blocks = std::max<std::int64_t>(ceil_div(plan.units, plan.block_units), 1);
  plan.mc = round_up(config.mc, mr);
  plan.nc = std::min(round_up(config.nc, nr), round_up(n, nr));

  const std::int64_t k_bytes = std::max<std::int64_t>(plan.units, 1) * 4;
  const std::int64_t most_rows = std::max(kSharedBytes / k_bytes / mr * mr, plan.mc);
  plan.chunk_rows = round_up(ceil_div(m, ceil_div(m, most_rows)), mr);
  const std::int64_t chunks = ceil_div(m, plan.chunk_rows);
  cut_tasks(n, plan);

  const std::int64_t all_b_bytes = plan.col_blocks * plan.nc * k_bytes;
  plan.shares_b = plan.row_blocks * chunks > 1 && all_b_bytes <= kSharedBytes;
  plan.a_bytes = round_up(plan.chunk_rows * k_bytes, 4096);
  plan.b_bytes = plan.shares_b ? round_up(all_b_bytes, 4096) : 0;
  plan.slot_b_bytes = plan.shares_b ? 0 : round_up(plan.block_units * plan.nc * 4, 4096);
  plan.slot_bytes = plan.slot_b_bytes + round_up(plan.row_block * plan.nc * 4, 4096);
  return plan;
}

}  // namespace rooftile::ops::gemm
