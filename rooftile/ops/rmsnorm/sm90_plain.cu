// SPDX-License-Identifier: Apache-2.0
// The formula with a block to a row and an element to a thread, in two passes: the first rung of
// the GPU's ladder, and the kernel for every mixture of types and strides.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/ops/sm90_range.h"
#include "rooftile/tile/elements.h"
#include "rooftile/tile/row_reduce.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/row_blocks.h"
#endif

namespace rooftile::ops::rmsnorm {

extern const KernelTable sm90_plain_kernels;

namespace {

struct PlainCall {
  tile::Matrix y{};
  tile::Matrix sum{};
  tile::Matrix x{};
  tile::Matrix residual{};  // without data: none
  tile::Matrix w{};
  long long rows = 0, cols = 0;
  float eps = 0;
  float inverse = 0;  // 1 / cols
  float offset = 0;   // of w
  bool rounds_early = false;
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

// The sum over the row of (s * scale)^2.
__device__ float sum_of_squares(const Matrix& s, long long r, long long cols, float scale,
                                float (&scratch)[kMostWarps]) {
  float squares = 0;
  for (long long c = threadIdx.x; c < cols; c += blockDim.x) {
    const float value = load_element(s, r, c) * scale;
    squares = fmaf(value, value, squares);
  }
  return row_sum(squares, scratch);
}

__global__ void plain(const PlainCall call) {
  __shared__ float scratch[kMostWarps];
  __shared__ float scratch_again[kMostWarps];
  const bool has_residual = call.residual.data != nullptr;
  const Matrix& s = has_residual ? call.sum : call.x;
  for (long long r = blockIdx.x; r < call.rows; r += gridDim.x) {
    if (has_residual)
      for (long long c = threadIdx.x; c < call.cols; c += blockDim.x)
        store_element(call.sum, r, c,
                      load_element(call.x, r, c) + load_element(call.residual, r, c));
    float total = sum_of_squares(s, r, call.cols, 1.0F, scratch);
    const float scale = range_scale(total, call.eps);
    if (scale != 1.0F) total = sum_of_squares(s, r, call.cols, scale, scratch_again);
    const float root = root_of(total, call.inverse, call.eps, scale);
    for (long long c = threadIdx.x; c < call.cols; c += blockDim.x) {
      float value = load_element(s, r, c) * scale * root;
      if (call.rounds_early) value = round_element(call.x.type, value);
      store_element(call.y, r, c, value * (load_element(call.w, 0, c) + call.offset));
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
                        .eps = static_cast<float>(problem.number("eps")),
                        .inverse = 1.0F / static_cast<float>(problem.axis("cols")),
                        .offset = static_cast<float>(problem.number("weight_offset")),
                        .rounds_early = problem.option("round") == "early"};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (fixed.rows == 0) return;
    PlainCall call = fixed;
    call.y = matrix_of(args["y"]);
    call.x = matrix_of(args["x"]);
    call.w = matrix_of(args["w"]);
    if (args["residual"].is_present()) {
      call.sum = matrix_of(args["sum"]);
      call.residual = matrix_of(args["residual"]);
    }
    launch(*context.stream, kernel, shape, call);
  }};
}

}  // namespace

extern const KernelDef sm90_plain;
const KernelDef sm90_plain{
    .op = "rmsnorm",
    .name = "sm90_plain",
    .idea = "a block a row, an element a thread, two passes over x; any types and strides",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = prepare,
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_plain_kernels, ROOFTILE_KERNEL_ENTRY(plain))

}  // namespace rooftile::ops::rmsnorm
