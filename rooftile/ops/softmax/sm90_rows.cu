// SPDX-License-Identifier: Apache-2.0
// Softmax with a row in the registers of a warp or a block: 16 bytes a load, x read once, each
// exponential computed once. Longer rows than registers hold are read again, from the cache.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/elements.h"
#include "rooftile/tile/ptx/approximate.h"
#include "rooftile/tile/row_packs.h"
#include "rooftile/tile/row_reduce.h"
#include "rooftile/tile/unroll.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/row_blocks.h"
#include "rooftile/tile/math.h"
#endif

namespace rooftile::ops::softmax {

extern const KernelTable sm90_rows_kernels;

namespace {

/// x and y are of one type; strides in elements.
struct RowsCall {
  void* y = nullptr;
  const void* x = nullptr;
  const int* lengths = nullptr;  // null: whole rows
  long long y_stride = 0, x_stride = 0, lengths_stride = 0;
  long long rows = 0, cols = 0;
  float factor = 0;  // scale * log2(e), above 0
  bool is_aligned = false;
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

template <class T>
struct Row {
  const RowsCall& call;
  T* y;
  const T* x;
  long long cols;    // 0 beyond the last row
  long long length;  // at most cols

  __device__ Row(const RowsCall& rows, long long r)
      : call(rows),
        y(static_cast<T*>(rows.y) + r * rows.y_stride),
        x(static_cast<const T*>(rows.x) + r * rows.x_stride),
        cols(r < rows.rows ? rows.cols : 0),
        length(cols) {
    if (rows.lengths == nullptr || cols == 0) return;
    const long long given = rows.lengths[r * rows.lengths_stride];
    length = given < 0 ? 0 : given < cols ? given : cols;
  }

  // Beyond the length stands minus infinity, whose exponential is 0.
  __device__ Pack load(long long at) const {
    return load_pack(x + at, length - at, call.is_aligned, PackOf<T>::kMinusInfinity);
  }

  // y = e * inverse; a NaN in the row does not reach beyond its length.
  __device__ void write(float (&e)[kPack<T>], float inverse, long long at) const {
    for (int j = 0; j < kPack<T>; ++j) e[j] = e[j] * inverse;
    if (at + kPack<T> > length)
      for (int j = 0; j < kPack<T>; ++j) e[j] = at + j < length ? e[j] : 0.0F;
    store_pack(y + at, pack<T>(e), cols - at, call.is_aligned);
  }
};

template <class T>
__device__ float greatest(float most, Pack x) {
  float v[kPack<T>];
  unpack<T>(v, x);
  for (int j = 0; j < kPack<T>; ++j) most = fmaxf(most, v[j]);
  return most;
}

template <class T>
__device__ void exponentials(float (&e)[kPack<T>], Pack x, float shift, float factor) {
  unpack<T>(e, x);
  for (int j = 0; j < kPack<T>; ++j) e[j] = ex2_approx((e[j] - shift) * factor);
}

// Why not minus infinity: minus itself it is NaN, and such a row is to be 0.
__device__ inline float shift_of(float most) { return most == -HUGE_VALF ? 0.0F : most; }
__device__ inline float inverse_of(float sum) { return sum == 0.0F ? 0.0F : 1.0F / sum; }

template <class T>
__device__ float sum_of(const float (&e)[kPack<T>]) {
  float sum = 0;
  for (int j = 0; j < kPack<T>; ++j) sum += e[j];
  return sum;
}

// A thread has packs threadIdx.x + i * blockDim.x of its row, of which it keeps kKept.
template <class T, int kKept>
__global__ void __launch_bounds__(1024) rows(const RowsCall call) {
  __shared__ float scratch_most[kMostWarps];
  __shared__ float scratch_sum[kMostWarps];
  const Row<T> row(call, static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y);
  const int step = static_cast<int>(blockDim.x) * kPack<T>;
  const int first = static_cast<int>(threadIdx.x) * kPack<T>;
  const long long beyond = first + static_cast<long long>(kKept) * step;

  Pack kept[kKept];
  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) kept[i] = row.load(first + i * step);
  float most = -HUGE_VALF;
  for (long long at = beyond; at < row.length; at += step) most = greatest<T>(most, row.load(at));
  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) most = greatest<T>(most, kept[i]);
  const float shift = shift_of(row_max(most, scratch_most));

  float e[kKept][kPack<T>];
  float sum = 0;
  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
    exponentials<T>(e[i], kept[i], shift, call.factor);
    sum += sum_of<T>(e[i]);
  }
  float again[kPack<T>];
  for (long long at = beyond; at < row.length; at += step) {
    exponentials<T>(again, row.load(at), shift, call.factor);
    sum += sum_of<T>(again);
  }
  const float inverse = inverse_of(row_sum(sum, scratch_sum));

  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) row.write(e[i], inverse, first + i * step);
  for (long long at = beyond; at < row.cols; at += step) {
    exponentials<T>(again, row.load(at), shift, call.factor);
    row.write(again, inverse, at);
  }
}

// The same of rows without lengths that RowPacks can hold: to the same bits.
template <class T, int kKept, bool kFills>
__global__ void __launch_bounds__(1024) whole(const RowsCall call) {
  __shared__ float scratch_most[kMostWarps];
  __shared__ float scratch_sum[kMostWarps];
  const RowPacks<kKept, kFills> row(call.rows, static_cast<int>(call.cols) / kPack<T>);

  Pack kept[kKept];
  row.load(kept, static_cast<const T*>(call.x), call.x_stride, PackOf<T>::kMinusInfinity);
  float most = -HUGE_VALF;
  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) most = greatest<T>(most, kept[i]);
  const float shift = shift_of(row_max(most, scratch_most));

  float e[kPack<T>];
  float sum = 0;
  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
    exponentials<T>(e, kept[i], shift, call.factor);
    sum += sum_of<T>(e);
  }
  const float inverse = inverse_of(row_sum(sum, scratch_sum));

  // Why again: kept until here they would take half the registers.
  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
    exponentials<T>(e, kept[i], shift, call.factor);
    for (int j = 0; j < kPack<T>; ++j) e[j] = e[j] * inverse;
    row.store(static_cast<T*>(call.y), call.y_stride, i, pack<T>(e));
  }
}

}  // namespace

#else

namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.dtype("y") != problem.dtype("x")) return unsupported("y must have x's dtype");
  for (const char* name : {"x", "y"})
    if (problem.axis("cols") > 1 && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  if (!(static_cast<float>(problem.number("scale")) * tile::kLog2E > 0))
    return unsupported("scale must be positive: the maximum is taken before it");
  return supports_row_blocks(problem);
}

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const DType dtype = problem.dtype("x");
  const std::int64_t cols = problem.axis("cols");
  const std::int64_t bytes = cols * info(dtype).unit_bytes;
  const std::int64_t kept = config.at("packs");
  const std::uint32_t threads = row_threads((bytes + 15) / 16, kept);
  const LaunchShape shape = row_blocks(problem.axis("rows"), threads);
  const GpuKernel any = find_kernel(sm90_rows_kernels, instance("rows", dtype, kept));
  const GpuKernel whole = find_kernel(
      sm90_rows_kernels, instance("whole", dtype, kept, fills(shape, bytes / 16, kept)));
  const bool can_be_whole =
      bytes % 16 == 0 && bytes / 16 <= kept * threads && !problem.has("lengths");
  const RowsCall fixed{.rows = problem.axis("rows"),
                       .cols = cols,
                       .factor = static_cast<float>(problem.number("scale")) * tile::kLog2E};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (fixed.rows == 0 || fixed.cols == 0) return;
    const TensorView& y = args["y"];
    const TensorView& x = args["x"];
    const TensorView& lengths = args["lengths"];
    RowsCall call = fixed;
    call.y = y.data;
    call.x = x.data;
    call.y_stride = y.stride(0);
    call.x_stride = x.stride(0);
    call.is_aligned = is_pack_aligned(y) && is_pack_aligned(x);
    if (lengths.is_present()) {
      call.lengths = lengths.as<const int>();
      call.lengths_stride = lengths.stride(0);
    }
    launch(*context.stream, can_be_whole && call.is_aligned ? whole : any, shape, call);
  }};
}

}  // namespace

extern const KernelDef sm90_rows;
const KernelDef sm90_rows{
    .op = "softmax",
    .name = "sm90_rows",
    .idea = "a row in the registers of a warp or a block: x read once, each exp computed once",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .configs =
        [](const Problem& problem, const DeviceProperties&) {
          return kept_configs("packs",
                              problem.axis("cols") * info(problem.dtype("x")).unit_bytes / 16);
        },
    .prepare = prepare,
};

#endif

#define ROWS_ENTRIES(type, kept) \
  ROOFTILE_KERNEL_ENTRY(rows<type, kept>), ROOFTILE_KERNEL_ENTRY(whole<type, kept, false>)
#define ROWS_ENTRIES_OF(type) \
  ROWS_ENTRIES(type, 1), ROWS_ENTRIES(type, 4), ROOFTILE_KERNEL_ENTRY(whole<type, 4, true>)
ROOFTILE_KERNEL_TABLE(sm90_rows_kernels, ROWS_ENTRIES_OF(float), ROWS_ENTRIES_OF(bf16),
                      ROWS_ENTRIES_OF(fp16))

}  // namespace rooftile::ops::softmax
