// SPDX-License-Identifier: Apache-2.0
// An element a thread, read along x's rows: every store of a warp goes to 32 rows of y, and so to
// 32 sectors. The first rung of the GPU's ladder, and the kernel for any strides.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/language.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/transpose/sm90_tiles.h"
#endif

namespace rooftile::ops::transpose {

extern const KernelTable sm90_plain_kernels;

namespace {

/// Strides in elements.
struct PlainCall {
  void* y = nullptr;
  const void* x = nullptr;
  long long y_stride[2], x_stride[2];
  long long rows = 0, cols = 0;
  long long tiles_of_row = 0;
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

constexpr int kTile = 32;

// A block of [8, 32] threads has a tile of 32 by 32.
template <class Bits>
__global__ void plain(const PlainCall call) {
  const long long tile_row = blockIdx.x / call.tiles_of_row;
  const long long c = (blockIdx.x - tile_row * call.tiles_of_row) * kTile + threadIdx.x;
  if (c >= call.cols) return;
  for (int i = static_cast<int>(threadIdx.y); i < kTile; i += static_cast<int>(blockDim.y)) {
    const long long r = tile_row * kTile + i;
    if (r < call.rows)
      static_cast<Bits*>(call.y)[c * call.y_stride[0] + r * call.y_stride[1]] =
          static_cast<const Bits*>(call.x)[r * call.x_stride[0] + c * call.x_stride[1]];
  }
}

}  // namespace

#else

namespace {

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const Tiles tiles(problem, 32);
  const GpuKernel kernel = find_kernel(sm90_plain_kernels, instance("plain", problem));
  return {.run = [=](const Context& context, const Arguments& args) {
    const TensorView& y = args["y"];
    const TensorView& x = args["x"];
    const PlainCall call{.y = y.data,
                         .x = x.data,
                         .y_stride = {y.stride(0), y.stride(1)},
                         .x_stride = {x.stride(0), x.stride(1)},
                         .rows = x.extent(0),
                         .cols = x.extent(1),
                         .tiles_of_row = tiles.of_row};
    if (tiles.count() > 0) launch(*context.stream, kernel, tiles.shape({32, 8}), call);
  }};
}

}  // namespace

extern const KernelDef sm90_plain;
const KernelDef sm90_plain{
    .op = "transpose",
    .name = "sm90_plain",
    .idea = "an element a thread, read along rows, written along columns; any strides",
    .target = Target::sm90,
    .determinism = Determinism::repeatable,
    .supports = [](const Problem& problem,
                   const DeviceProperties&) { return Tiles(problem, 32).supports(); },
    .prepare = prepare,
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_plain_kernels, ROOFTILE_KERNEL_ENTRY(plain<unsigned>),
                      ROOFTILE_KERNEL_ENTRY(plain<unsigned short>))

}  // namespace rooftile::ops::transpose
