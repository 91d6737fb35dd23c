// SPDX-License-Identifier: Apache-2.0
// What the wrappers of asynchronous instructions (tile/ptx) call in the simulator. Pointers to
// shared memory are generic: of the own block, or of another in the cluster (map_shared).
#pragma once

#include <stdint.h>

#include "rooftile/base/api.h"
#include "rooftile/tile/sim/runtime.h"
#include "rooftile/tile/tensor_map.h"

namespace rooftile {
namespace ROOFTILE_API sim {

// --- mbarriers (device/sim/mbarrier.cc)
void mbarrier_init(void* barrier, uint32_t count);
void mbarrier_invalidate(void* barrier);
/// First expects `bytes` more, then arrives `count` times. Returns the phase, as a token.
uint64_t mbarrier_arrive(void* barrier, uint32_t count, uint32_t bytes);
/// At a barrier of any block of the cluster; `scope` is that of the release.
void mbarrier_arrive_cluster(void* barrier, uint32_t count, uint32_t bytes, Scope scope);
void mbarrier_expect(void* barrier, uint32_t bytes, bool in_cluster);
/// True when the phase of that parity (of that token) is over. `until_done`: returns only then;
/// else other threads may run once before the answer is false.
/// `scope`: that of the acquire; what other blocks released is seen with that of the cluster.
bool mbarrier_wait_parity(void* barrier, uint32_t parity, bool until_done,
                          Scope scope = Scope::block);
bool mbarrier_wait_token(void* barrier, uint64_t token, bool until_done);
void fence_mbarrier_init();
void fence_proxy_async(bool of_shared, bool of_global);

// --- copies of boxes (device/sim/tma_load.cc, tma_store.cc). `at` has `rank` coordinates.
/// `blocks`: a bit for each block of the cluster that gets the box; 0: the own block.
void tma_load(void* destination, const TensorMap* map, int rank, const int32_t* at, void* barrier,
              uint16_t blocks);
void tma_store(const TensorMap* map, int rank, const int32_t* at, const void* source);
void tma_reduce(Atomic op, const TensorMap* map, int rank, const int32_t* at, const void* source);
void tma_prefetch(const TensorMap* map, int rank, const int32_t* at);
void tensor_map_prefetch(const TensorMap* map);

// --- copies of bytes (device/sim/bulk_copy.cc)
void bulk_load(void* destination, const void* source, uint32_t bytes, void* barrier,
               uint16_t blocks);
void bulk_store(void* destination, const void* source, uint32_t bytes);
void bulk_reduce(Atomic op, Number type, int element_bytes, void* destination, const void* source,
                 uint32_t bytes);
/// From the own block's shared memory to that of a block of the cluster, whose mbarrier counts
/// them.
void bulk_copy_cluster(void* destination, const void* source, uint32_t bytes, void* barrier);
void bulk_reduce_cluster(Atomic op, Number type, int element_bytes, void* destination,
                         const void* source, uint32_t bytes, void* barrier);
void bulk_prefetch(const void* source, uint32_t bytes);
/// st.async: `bytes` are 4, 8 or 16.
void store_async(void* destination, const void* values, uint32_t bytes, void* barrier);
void bulk_commit();
/// Waits until at most `pending` of this thread's groups are not done (`reads`: with their
/// sources).
void bulk_wait(uint32_t pending, bool reads);

// --- launches that overlap (device/sim/grid_dependency.cc)
void wait_for_grid();
void launch_dependents();

// --- cp.async (device/sim/cp_async.cc)
void cp_async(void* destination, const void* source, uint32_t bytes, uint32_t source_bytes);
void cp_async_commit();
/// Waits until at most `pending` groups are not done; of copies without a group too: `all`.
void cp_async_wait(uint32_t pending, bool all);
/// `counted`: the arrival is one of those that the barrier was initialised with (.noinc).
void cp_async_arrive(void* barrier, bool counted);

}  // namespace sim
}  // namespace rooftile
