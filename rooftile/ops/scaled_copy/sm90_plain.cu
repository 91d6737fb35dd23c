// SPDX-License-Identifier: Apache-2.0
// The formula with an element to a thread: the first rung of the GPU's ladder.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/elements.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/row_blocks.h"
#endif

namespace rooftile::ops::scaled_copy {

extern const KernelTable sm90_plain_kernels;

namespace {

struct PlainCall {
  tile::Matrix y{};
  tile::Matrix x{};
  long long rows = 0, cols = 0;
  float alpha = 0;
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

__global__ void plain(const PlainCall call) {
  for (long long r = blockIdx.x; r < call.rows; r += gridDim.x)
    for (long long c = threadIdx.x; c < call.cols; c += blockDim.x)
      store_element(call.y, r, c, call.alpha * load_element(call.x, r, c));
}

}  // namespace

#else

namespace {

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const GpuKernel kernel = find_kernel(sm90_plain_kernels, "plain");
  const LaunchShape shape = plain_row_blocks(problem.axis("rows"), problem.axis("cols"));
  const PlainCall fixed{.rows = problem.axis("rows"),
                        .cols = problem.axis("cols"),
                        .alpha = static_cast<float>(problem.number("alpha"))};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (fixed.rows == 0 || fixed.cols == 0) return;
    PlainCall call = fixed;
    call.y = matrix_of(args["y"]);
    call.x = matrix_of(args["x"]);
    launch(*context.stream, kernel, shape, call);
  }};
}

}  // namespace

extern const KernelDef sm90_plain;
const KernelDef sm90_plain{
    .op = "scaled_copy",
    .name = "sm90_plain",
    .idea = "a block a row, an element a thread; any strides",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports =
        [](const Problem& problem, const DeviceProperties&) {
          for (const char* name : {"y", "x"})
            if (info(problem.dtype(name)).unit_bytes == 1)
              return unsupported(std::string(name) + " must be f32, bf16 or fp16");
          return supported();
        },
    .prepare = prepare,
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_plain_kernels, ROOFTILE_KERNEL_ENTRY(plain))

}  // namespace rooftile::ops::scaled_copy
