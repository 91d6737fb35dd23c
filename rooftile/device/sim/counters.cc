// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/counters.h"

#include <array>

namespace rooftile {

std::span<const SimCounterInfo> sim_counters() {
  using enum SimCounter;
  static constexpr std::array<SimCounterInfo, kSimCounters> kTable{{
      {global_load_requests, "global load requests",
       "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
      {global_load_sectors, "global load sectors",
       "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
      {global_load_bytes, "global bytes asked for by loads", ""},
      {global_store_requests, "global store requests",
       "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
      {global_store_sectors, "global store sectors",
       "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
      {global_store_bytes, "global bytes given by stores", ""},
      {global_atomic_requests, "global atomic requests",
       "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"},
      {global_atomic_sectors, "global atomic sectors",
       "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"},
      {global_read_sectors_unique, "distinct global sectors read", ""},
      {global_written_sectors_unique, "distinct global sectors written", ""},
      {shared_load_requests, "shared load requests", "smsp__inst_executed_op_shared_ld.sum"},
      {shared_load_wavefronts, "shared load wavefronts",
       "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
      {shared_load_conflicts, "shared load bank conflicts",
       "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"},
      {shared_store_requests, "shared store requests", "smsp__inst_executed_op_shared_st.sum"},
      {shared_store_wavefronts, "shared store wavefronts",
       "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
      {shared_store_conflicts, "shared store bank conflicts",
       "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
      {shared_atomic_requests, "shared atomic requests", "smsp__inst_executed_op_shared_atom.sum"},
      {ldmatrix_requests, "ldmatrix requests", "smsp__inst_executed_op_ldsm.sum"},
      {ldmatrix_wavefronts, "ldmatrix wavefronts", ""},
      {stmatrix_requests, "stmatrix requests", ""},
      {stmatrix_wavefronts, "stmatrix wavefronts", ""},
      {tma_load_bytes, "bytes loaded by TMA", ""},
      {tma_store_bytes, "bytes stored by TMA", ""},
      {tma_reduce_bytes, "bytes reduced by TMA", ""},
      {tma_instructions, "TMA instructions", ""},
      {bulk_bytes, "bytes copied in bulk", ""},
      {cp_async_requests, "cp.async requests", "smsp__inst_executed_op_ldgsts.sum"},
      {cp_async_bytes, "bytes copied by cp.async", ""},
      {wgmma_instructions, "wgmma instructions", ""},
      {wgmma_multiply_adds, "multiply-adds of wgmma", ""},
      {wgmma_shared_bytes, "bytes of shared memory read by wgmma", ""},
      {mma_instructions, "mma instructions", ""},
      {mma_multiply_adds, "multiply-adds of mma", ""},
      {warp_collectives, "warp collectives", ""},
      {block_barriers, "barriers of blocks", ""},
      {named_barriers, "named barriers", ""},
      {cluster_barriers, "barriers of clusters", ""},
      {mbarrier_operations, "mbarrier operations", ""},
      {fences, "fences", ""},
      {remote_shared_accesses, "accesses of another block's shared memory", ""},
      {memory_lanes, "lanes active in memory instructions", ""},
      {memory_instructions, "memory instructions", ""},
      {l2_requests, "requests of lines to L2", "lts__t_requests.sum"},
      {l2_read_sectors, "sectors read from L2", "lts__t_sectors_op_read.sum"},
      {l2_read_misses, "sectors read from DRAM", "dram__sectors_read.sum"},
      {dram_written_sectors, "sectors written to DRAM", "dram__sectors_write.sum"},
      {blocks, "blocks", "launch__grid_size"},
      {threads, "threads", "launch__thread_count"},
      {fiber_switches, "switches of the simulator", ""},
  }};
  return kTable;
}

}  // namespace rooftile
