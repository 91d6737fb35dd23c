// SPDX-License-Identifier: Apache-2.0
// As sm90_tiled, with an element more in each row of the tile, so that a column lies in 32 banks.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/ops/transpose/sm90_tile.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/transpose/sm90_tiles.h"
#endif

namespace rooftile::ops::transpose {

extern const KernelTable sm90_padded_kernels;

#if ROOFTILE_DEVICE_CODE

namespace {

template <class Bits>
__global__ void padded(const TileCall call) {
  __shared__ Bits tile[kTile][kTile + 1];
  transpose_tile(call, tile);
}

}  // namespace

#else

extern const KernelDef sm90_padded;
const KernelDef sm90_padded{
    .op = "transpose",
    .name = "sm90_padded",
    .idea = "a tile of 32 by 32 with rows of 33 elements, so that a column lies in 32 banks",
    .target = Target::sm90,
    .determinism = Determinism::repeatable,
    .supports = [](const Problem& problem,
                   const DeviceProperties&) { return supports_rows(problem, 32); },
    .prepare =
        [](const Problem& problem, Device&, const Config&) {
          return prepare_tiles(sm90_padded_kernels, "padded", problem, 32, {32, 8});
        },
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_padded_kernels, ROOFTILE_KERNEL_ENTRY(padded<unsigned>),
                      ROOFTILE_KERNEL_ENTRY(padded<unsigned short>))

}  // namespace rooftile::ops::transpose
