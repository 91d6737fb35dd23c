// SPDX-License-Identifier: Apache-2.0
// 16 bytes of x a thread, and nothing more: a thread that also stores does best with one load under
// way. Rows that lie one after another are one long row.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/elements.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/row_blocks.h"
#endif

namespace rooftile::ops::scaled_copy {

extern const KernelTable sm90_vector_kernels;

namespace {

/// x and y are of one type; strides in elements.
struct VectorCall {
  void* y = nullptr;
  const void* x = nullptr;
  long long y_stride = 0, x_stride = 0;
  long long cols = 0;
  long long blocks_of_row = 0;
  float alpha = 0;
  bool is_aligned = false;
};

constexpr int kThreads = 256;

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

template <class T>
__global__ void __launch_bounds__(kThreads) vector(const VectorCall call) {
  const long long r = blockIdx.x / call.blocks_of_row;
  const long long piece = blockIdx.x - r * call.blocks_of_row;
  const long long at = (piece * kThreads + threadIdx.x) * kPack<T>;
  const T* x = static_cast<const T*>(call.x) + r * call.x_stride + at;
  float v[kPack<T>];
  unpack<T>(v, load_pack(x, call.cols - at, call.is_aligned));
  for (int j = 0; j < kPack<T>; ++j) v[j] = call.alpha * v[j];
  T* y = static_cast<T*>(call.y) + r * call.y_stride + at;
  store_pack(y, pack<T>(v), call.cols - at, call.is_aligned);
}

}  // namespace

#else

namespace {

struct Rows {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t blocks_of_row;
};

// Rows one after another are one.
Rows rows_of(const Problem& problem) {
  const std::int64_t rows = problem.axis("rows");
  const std::int64_t cols = problem.axis("cols");
  const std::int64_t elements = std::int64_t{16} / info(problem.dtype("x")).unit_bytes * kThreads;
  const bool is_one = problem.arg("x").strides[0] == cols && problem.arg("y").strides[0] == cols;
  Rows result{.rows = is_one ? 1 : rows, .cols = is_one ? rows * cols : cols, .blocks_of_row = 0};
  result.blocks_of_row = std::max<std::int64_t>(1, (result.cols + elements - 1) / elements);
  return result;
}

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.dtype("y") != problem.dtype("x")) return unsupported("y must have x's dtype");
  if (info(problem.dtype("x")).unit_bytes == 1) return unsupported("x must be f32, bf16 or fp16");
  for (const char* name : {"x", "y"})
    if (problem.axis("cols") > 1 && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  const Rows rows = rows_of(problem);
  if (rows.rows > ((std::int64_t{1} << 31) - 1) / rows.blocks_of_row)
    return unsupported("more than 2^31 - 1 blocks");
  return supported();
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const DType dtype = problem.dtype("x");
  const GpuKernel kernel = find_kernel(sm90_vector_kernels, instance("vector", dtype));
  const Rows rows = rows_of(problem);
  const LaunchShape shape{.grid = {.x = static_cast<std::uint32_t>(rows.rows * rows.blocks_of_row)},
                          .block = {.x = kThreads}};
  const VectorCall fixed{.cols = rows.cols,
                         .blocks_of_row = rows.blocks_of_row,
                         .alpha = static_cast<float>(problem.number("alpha"))};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (rows.rows == 0 || rows.cols == 0) return;
    const TensorView& y = args["y"];
    const TensorView& x = args["x"];
    VectorCall call = fixed;
    call.y = y.data;
    call.x = x.data;
    call.y_stride = y.stride(0);
    call.x_stride = x.stride(0);
    call.is_aligned = rows.rows == 1 ? is_pack_aligned(y.data) && is_pack_aligned(x.data)
                                     : is_pack_aligned(y) && is_pack_aligned(x);
    launch(*context.stream, kernel, shape, call);
  }};
}

}  // namespace

extern const KernelDef sm90_vector;
const KernelDef sm90_vector{
    .op = "scaled_copy",
    .name = "sm90_vector",
    .idea = "16 bytes a thread; rows one after another are one long row",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_vector_kernels, ROOFTILE_KERNEL_ENTRY(vector<float>),
                      ROOFTILE_KERNEL_ENTRY(vector<bf16>), ROOFTILE_KERNEL_ENTRY(vector<fp16>))

}  // namespace rooftile::ops::scaled_copy
