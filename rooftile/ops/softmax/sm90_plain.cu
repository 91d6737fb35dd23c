// SPDX-License-Identifier: Apache-2.0
// The formula with a block to a row and an element to a thread, in three passes: the first rung of
// the GPU's ladder, and the kernel for every mixture of types and strides.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/elements.h"
#include "rooftile/tile/math.h"
#include "rooftile/tile/row_reduce.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/row_blocks.h"
#endif

namespace rooftile::ops::softmax {

extern const KernelTable sm90_plain_kernels;

namespace {

struct PlainCall {
  tile::Matrix y{};
  tile::Matrix x{};
  const int* lengths = nullptr;  // null: whole rows
  long long lengths_stride = 0;
  long long rows = 0, cols = 0;
  float scale = 0;
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

__global__ void plain(const PlainCall call) {
  __shared__ float scratch_most[kMostWarps];
  __shared__ float scratch_sum[kMostWarps];
  for (long long r = blockIdx.x; r < call.rows; r += gridDim.x) {
    long long length = call.cols;
    if (call.lengths != nullptr) {
      const long long given = call.lengths[r * call.lengths_stride];
      length = given < 0 ? 0 : given < length ? given : length;
    }
    float most = -HUGE_VALF;
    for (long long c = threadIdx.x; c < length; c += blockDim.x)
      most = fmaxf(most, load_element(call.x, r, c));
    most = row_max(most, scratch_most);
    float sum = 0;
    for (long long c = threadIdx.x; c < length; c += blockDim.x) {
      const float x = load_element(call.x, r, c);
      if (x != -HUGE_VALF) sum += tile::exp(call.scale * (x - most));
    }
    sum = row_sum(sum, scratch_sum);
    for (long long c = threadIdx.x; c < call.cols; c += blockDim.x) {
      float value = 0;
      if (c < length && sum != 0.0F)
        value = tile::exp(call.scale * (load_element(call.x, r, c) - most)) / sum;
      store_element(call.y, r, c, value);
    }
    __syncthreads();  // before the next row takes the scratch
  }
}

}  // namespace

#else

namespace {

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const GpuKernel kernel = find_kernel(sm90_plain_kernels, "plain");
  const LaunchShape shape = plain_row_blocks(problem.axis("rows"), problem.axis("cols"));
  const PlainCall fixed{.rows = problem.axis("rows"),
                        .cols = problem.axis("cols"),
                        .scale = static_cast<float>(problem.number("scale"))};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (fixed.rows == 0 || fixed.cols == 0) return;
    const TensorView& lengths = args["lengths"];
    PlainCall call = fixed;
    call.y = matrix_of(args["y"]);
    call.x = matrix_of(args["x"]);
    if (lengths.is_present()) {
      call.lengths = lengths.as<const int>();
      call.lengths_stride = lengths.stride(0);
    }
    launch(*context.stream, kernel, shape, call);
  }};
}

}  // namespace

extern const KernelDef sm90_plain;
const KernelDef sm90_plain{
    .op = "softmax",
    .name = "sm90_plain",
    .idea = "a block a row, an element a thread, three passes over x; any types and strides",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = prepare,
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_plain_kernels, ROOFTILE_KERNEL_ENTRY(plain))

}  // namespace rooftile::ops::softmax
