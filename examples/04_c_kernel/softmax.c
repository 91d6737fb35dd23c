// SPDX-License-Identifier: Apache-2.0
// softmax/cpu_c: a kernel in C99 through rooftile/op/c_plugin.h. A launcher of a compiled Triton or
// CUDA kernel looks the same, with target "sm90" and context->stream as its cudaStream_t.
#include <math.h>
#include <rooftile/op/c_plugin.h>
#include <stdio.h>

static int supports(const RooftileCProblem* problem, char* reason, size_t reason_bytes) {
  if (problem->dtype(problem, "lengths") >= 0) {
    snprintf(reason, reason_bytes, "takes whole rows only, no lengths");
    return 1;
  }
  if (problem->dtype(problem, "x") != ROOFTILE_F32 ||
      problem->dtype(problem, "y") != ROOFTILE_F32) {
    snprintf(reason, reason_bytes, "takes f32 only");
    return 1;
  }
  return 0;
}

typedef struct {
  const RooftileCTensor* y;
  const RooftileCTensor* x;
  double scale;
} Work;

static void row(void* user, int64_t r) {
  const Work* work = (const Work*)user;
  const int64_t cols = work->x->shape[1];
  const int64_t from = work->x->strides[1];
  const int64_t to = work->y->strides[1];
  const float* x = (const float*)work->x->data + r * work->x->strides[0];
  float* y = (float*)work->y->data + r * work->y->strides[0];
  double most = -INFINITY;
  double sum = 0;
  for (int64_t c = 0; c < cols; ++c)
    if (x[c * from] > most) most = x[c * from];
  for (int64_t c = 0; c < cols && isfinite(most); ++c)
    sum += exp(work->scale * (x[c * from] - most));
  for (int64_t c = 0; c < cols; ++c)
    y[c * to] = sum > 0 ? (float)(exp(work->scale * (x[c * from] - most)) / sum) : 0.0f;
}

// Tensors stand in the operation's order: y, x, lengths.
static int run(const RooftileCContext* context, const RooftileCTensor* const* tensors,
               int32_t count, const RooftileCProblem* problem) {
  Work work;
  if (count != 3) {
    snprintf(context->message, context->message_bytes, "expected 3 tensors, got %d", (int)count);
    return 1;
  }
  work.y = tensors[0];
  work.x = tensors[1];
  work.scale = problem->number(problem, "scale");
  context->parallel_for(context, problem->axis(problem, "rows"), row, &work);
  return 0;
}

static const RooftileCKernel softmax_kernel = {
    .size = sizeof(RooftileCKernel),
    .op = "softmax",
    .name = "cpu_c",
    .idea = "three passes over a row, sums in double",
    .target = "cpu",
    .determinism = ROOFTILE_BATCH_INVARIANT,
    .supports = supports,
    .run = run,
};

static const RooftileCKernel* const kernels[] = {&softmax_kernel};
static const RooftileCPlugin plugin = {
    .size = sizeof(RooftileCPlugin),
    .version = ROOFTILE_C_PLUGIN_VERSION,
    .num_kernels = 1,
    .kernels = kernels,
};

const RooftileCPlugin* rooftile_c_plugin(void) { return &plugin; }
