// SPDX-License-Identifier: Apache-2.0
// A tile of 32 by 32 through shared memory, so that x is read and y written along rows. A column of
// the tile lies in one bank: its 32 loads take turns.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/ops/transpose/sm90_tile.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/transpose/sm90_tiles.h"
#endif

namespace rooftile::ops::transpose {

extern const KernelTable sm90_tiled_kernels;

#if ROOFTILE_DEVICE_CODE

namespace {

template <class Bits>
__global__ void tiled(const TileCall call) {
  __shared__ Bits tile[kTile][kTile];
  transpose_tile(call, tile);
}

}  // namespace

#else

extern const KernelDef sm90_tiled;
const KernelDef sm90_tiled{
    .op = "transpose",
    .name = "sm90_tiled",
    .idea =
        "a tile of 32 by 32 through shared memory: global accesses along rows, shared ones in one bank",
    .target = Target::sm90,
    .determinism = Determinism::repeatable,
    .supports = [](const Problem& problem,
                   const DeviceProperties&) { return supports_rows(problem, 32); },
    .prepare =
        [](const Problem& problem, Device&, const Config&) {
          return prepare_tiles(sm90_tiled_kernels, "tiled", problem, 32, {32, 8});
        },
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_tiled_kernels, ROOFTILE_KERNEL_ENTRY(tiled<unsigned>),
                      ROOFTILE_KERNEL_ENTRY(tiled<unsigned short>))

}  // namespace rooftile::ops::transpose
