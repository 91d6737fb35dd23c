// SPDX-License-Identifier: Apache-2.0
// How the blocked multiplication cuts a problem up. A pure function of the problem, the number of
// threads and the configuration; the bits of the result depend on none of the latter two.
#pragma once

#include <cstdint>
#include <vector>

#include "rooftile/device/cpu/isa.h"
#include "rooftile/ops/gemm/cpu_gemm.h"
#include "rooftile/ops/gemm/cpu_micro.h"
#include "rooftile/ops/gemm/cpu_share.h"

namespace rooftile::ops::gemm {

/// mc x kc of A stays in the second-level cache while kc x nc of B goes by; nc columns are a task.
struct BlockedConfig {
  int mc = 0;
  int nc = 0;
  int kc = 0;
};

/// Worth trying on this processor, the default first.
std::vector<BlockedConfig> blocked_configs(Isa isa);

/// The problem cut up. Rows are taken in chunks whose packed A all threads share; a chunk is cut
/// into row blocks times column blocks, the tasks.
struct BlockedPlan {
  MicroKernel micro;
  int workers;
  std::int64_t units;        // packed units along k, all blocks together
  std::int64_t block_units;  // and in a block of k
  std::int64_t k_blocks;     // at least 1: with k = 0 there are still zeros to write
  std::int64_t chunk_rows, row_block, mc, nc;  // multiples of mr, and nc of nr
  std::int64_t row_blocks, col_blocks;         // of a chunk
  bool shares_b;  // B is packed once by all; else each task packs its own block in cache
  std::int64_t a_bytes, b_bytes, slot_b_bytes, slot_bytes;

  [[nodiscard]] std::int64_t workspace_bytes() const {
    return a_bytes + b_bytes + workers * slot_bytes;
  }
};

BlockedPlan plan_blocked(const GemmCall& call, int threads, Isa isa, const BlockedConfig& config);

/// `workspace` holds plan.workspace_bytes(), aligned to 64 bytes. Allocates nothing.
void run_blocked(const GemmCall& call, const BlockedPlan& plan, void* workspace, Launch launch);

}  // namespace rooftile::ops::gemm
