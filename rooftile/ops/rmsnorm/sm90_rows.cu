// SPDX-License-Identifier: Apache-2.0
// RMSNorm (Zhang and Sennrich, 2019) with a row in the registers of a warp or a block: 16 bytes a
// load, x read once. Longer rows than registers hold are read again, from the cache.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/ops/sm90_range.h"
#include "rooftile/tile/elements.h"
#include "rooftile/tile/row_packs.h"
#include "rooftile/tile/row_reduce.h"
#include "rooftile/tile/unroll.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/row_blocks.h"
#endif

namespace rooftile::ops::rmsnorm {

extern const KernelTable sm90_rows_kernels;

namespace {

// Threads of a row: more would leave too few registers to keep 4 packs of both.
constexpr int most_threads(int kept, bool has_residual) {
  return kept == 4 && has_residual ? 512 : 1024;
}

/// s = x, or sum = x + residual; all of one type, the strides of rows in elements.
struct RowsCall {
  void* y = nullptr;
  void* sum = nullptr;
  const void* x = nullptr;
  const void* residual = nullptr;  // null: none
  const void* w = nullptr;
  long long y_stride = 0, sum_stride = 0, x_stride = 0, residual_stride = 0;
  long long rows = 0, cols = 0;
  float eps = 0;
  float inverse = 0;  // 1 / cols
  float offset = 0;   // of w
  bool w_is_f32 = false;
  bool rounds_early = false;
  bool is_aligned = false;    // every row of every matrix, to 16 bytes
  bool w_is_aligned = false;  // to 16 bytes
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

template <class T>
__device__ inline Pack added(Pack x, Pack residual) {
  float a[kPack<T>];
  float b[kPack<T>];
  unpack<T>(a, x);
  unpack<T>(b, residual);
  for (int j = 0; j < kPack<T>; ++j) a[j] = a[j] + b[j];
  return pack<T>(a);
}

template <class T>
__device__ inline float add_squares(float total, Pack s, float scale) {
  float v[kPack<T>];
  unpack<T>(v, s);
  for (int j = 0; j < kPack<T>; ++j) total = fmaf(v[j] * scale, v[j] * scale, total);
  return total;
}

// s * scale * root * (w + offset); kRoundsEarly: the product without w is rounded to T.
template <class T, bool kRoundsEarly>
__device__ inline Pack normalised(Pack s, const float (&w)[kPack<T>], float scale, float root,
                                  float offset) {
  float v[kPack<T>];
  unpack<T>(v, s);
  for (int j = 0; j < kPack<T>; ++j) v[j] = v[j] * scale * root;
  if constexpr (kRoundsEarly) unpack<T>(v, pack<T>(v));
  for (int j = 0; j < kPack<T>; ++j) v[j] = v[j] * (w[j] + offset);
  return pack<T>(v);
}

// A row of any length, alignment and type of w.
template <class T>
struct Row {
  const RowsCall& call;
  T* y;
  T* sum;
  const T* x;
  const T* residual;
  long long cols;  // 0 beyond the last row

  __device__ Row(const RowsCall& rows, long long r)
      : call(rows),
        y(static_cast<T*>(rows.y) + r * rows.y_stride),
        sum(static_cast<T*>(rows.sum) + r * rows.sum_stride),
        x(static_cast<const T*>(rows.x) + r * rows.x_stride),
        residual(static_cast<const T*>(rows.residual) + r * rows.residual_stride),
        cols(r < rows.rows ? rows.cols : 0) {}

  __device__ Pack load(const T* from, long long at) const {
    return load_pack(from + at, cols - at, call.is_aligned);
  }
  __device__ void store(T* to, Pack pack, long long at) const {
    store_pack(to + at, pack, cols - at, call.is_aligned);
  }

  // x's pack, or the sum, which is written.
  __device__ Pack load(long long at) const {
    Pack s = load(x, at);
    if (call.residual == nullptr) return s;
    s = added<T>(s, load(residual, at));
    store(sum, s, at);
    return s;
  }
  // The same, when the sum has been written.
  __device__ Pack load_again(long long at) const {
    return load(call.residual != nullptr ? sum : x, at);
  }

  __device__ void load_weights(float (&w)[kPack<T>], long long at) const {
    if (!call.w_is_f32) {
      unpack<T>(w, load_pack(static_cast<const T*>(call.w) + at, cols - at, call.w_is_aligned));
      return;
    }
    constexpr int kHalf = kPack<float>;
    for (int half = 0; half < kPack<T> / kHalf; ++half) {
      const long long first = at + half * kHalf;
      float four[kHalf];
      unpack<float>(four, load_pack(static_cast<const float*>(call.w) + first, cols - first,
                                    call.w_is_aligned));
      for (int j = 0; j < kHalf; ++j) w[half * kHalf + j] = four[j];
    }
  }

  __device__ void write(Pack s, long long at, float scale, float root) const {
    float w[kPack<T>];
    load_weights(w, at);
    store(y,
          call.rounds_early ? normalised<T, true>(s, w, scale, root, call.offset)
                            : normalised<T, false>(s, w, scale, root, call.offset),
          at);
  }
};

// A thread has packs threadIdx.x + i * blockDim.x of its row, of which it keeps kKept.
template <class T, int kKept>
__global__ void __launch_bounds__(1024) rows(const RowsCall call) {
  __shared__ float scratch[kMostWarps];
  __shared__ float scratch_again[kMostWarps];
  const Row<T> row(call, static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y);
  const int step = static_cast<int>(blockDim.x) * kPack<T>;
  const int first = static_cast<int>(threadIdx.x) * kPack<T>;
  const long long beyond = first + static_cast<long long>(kKept) * step;

  Pack kept[kKept];
  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) kept[i] = row.load(first + i * step);
  float squares = 0;
  for (long long at = beyond; at < row.cols; at += step)
    squares = add_squares<T>(squares, row.load(at), 1.0F);
  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) squares = add_squares<T>(squares, kept[i], 1.0F);

  float total = row_sum(squares, scratch);
  const float scale = range_scale(total, call.eps);
  // Why a vote: short rows share a warp, and all of it must meet in the sum.
  if (__any_sync(kWholeWarp, scale != 1.0F)) {
    squares = 0;
    for (long long at = beyond; at < row.cols; at += step)
      squares = add_squares<T>(squares, row.load_again(at), scale);
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) squares =
        add_squares<T>(squares, kept[i], scale);
    total = row_sum(squares, scratch_again);
  }
  const float root = root_of(total, call.inverse, call.eps, scale);

  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) row.write(kept[i], first + i * step, scale, root);
  for (long long at = beyond; at < row.cols; at += step)
    row.write(row.load_again(at), at, scale, root);
}

// The same of rows that RowPacks can hold, and w of T: to the same bits.
template <class T, int kKept, bool kHasResidual>
__global__ void __launch_bounds__(most_threads(kKept, kHasResidual)) whole(const RowsCall call) {
  __shared__ float scratch[kMostWarps];
  __shared__ float scratch_again[kMostWarps];
  const RowPacks<kKept> row(call.rows, static_cast<int>(call.cols) / kPack<T>);

  Pack kept[kKept];
  Pack weights[kKept];  // asked for before the sum, which then hides how long they take
  row.load(kept, static_cast<const T*>(call.x), call.x_stride);
  if constexpr (kHasResidual) {
    Pack other[kKept];
    row.load(other, static_cast<const T*>(call.residual), call.residual_stride);
    row.load(weights, static_cast<const T*>(call.w), 0);
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
      kept[i] = added<T>(kept[i], other[i]);
      row.store(static_cast<T*>(call.sum), call.sum_stride, i, kept[i]);
    }
  } else {
    row.load(weights, static_cast<const T*>(call.w), 0);
  }
  float squares = 0;
  ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) squares = add_squares<T>(squares, kept[i], 1.0F);

  float total = row_sum(squares, scratch);
  const float scale = range_scale(total, call.eps);
  if (__any_sync(kWholeWarp, scale != 1.0F)) {
    squares = 0;
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) squares =
        add_squares<T>(squares, kept[i], scale);
    total = row_sum(squares, scratch_again);
  }
  const float root = root_of(total, call.inverse, call.eps, scale);

  const auto write = [&]<bool kRoundsEarly>() {
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
      float w[kPack<T>];
      unpack<T>(w, weights[i]);
      row.store(static_cast<T*>(call.y), call.y_stride, i,
                normalised<T, kRoundsEarly>(kept[i], w, scale, root, call.offset));
    }
  };
  // Why a branch around the loop: one in it would keep its packs from overlapping.
  if (call.rounds_early)
    write.template operator()<true>();
  else
    write.template operator()<false>();
}

}  // namespace

#else

namespace {

Support supports(const Problem& problem, const DeviceProperties&) {
  const bool is_wide = problem.axis("cols") > 1;
  for (const char* name : {"y", "sum", "x", "residual"}) {
    if (!problem.has(name)) continue;
    if (problem.dtype(name) != problem.dtype("x"))
      return unsupported(std::string(name) + " must have x's dtype");
    if (is_wide && problem.arg(name).strides[1] != 1)
      return unsupported(std::string(name) + ": elements of a row must be adjacent");
  }
  if (is_wide && problem.arg("w").strides[0] != 1) return unsupported("w must be contiguous");
  if (problem.dtype("w") != problem.dtype("x") && problem.dtype("w") != DType::f32)
    return unsupported("w must be f32 or have x's dtype");
  return supports_row_blocks(problem);
}

void fill(RowsCall& call, const Arguments& args) {
  const TensorView& y = args["y"];
  const TensorView& sum = args["sum"];
  const TensorView& x = args["x"];
  const TensorView& residual = args["residual"];
  const TensorView& w = args["w"];
  call.y = y.data;
  call.x = x.data;
  call.w = w.data;
  call.y_stride = y.stride(0);
  call.x_stride = x.stride(0);
  call.is_aligned = is_pack_aligned(y) && is_pack_aligned(x);
  call.w_is_aligned = is_pack_aligned(w.data);
  if (!residual.is_present()) return;
  call.sum = sum.data;
  call.residual = residual.data;
  call.sum_stride = sum.stride(0);
  call.residual_stride = residual.stride(0);
  call.is_aligned = call.is_aligned && is_pack_aligned(sum) && is_pack_aligned(residual);
}

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const DType dtype = problem.dtype("x");
  const std::int64_t cols = problem.axis("cols");
  const std::int64_t bytes = cols * info(dtype).unit_bytes;
  const std::int64_t kept = config.at("packs");
  const bool has_residual = problem.has("residual");
  const std::uint32_t threads =
      row_threads((bytes + 15) / 16, kept, most_threads(static_cast<int>(kept), has_residual));
  const LaunchShape shape = row_blocks(problem.axis("rows"), threads);
  const GpuKernel any = find_kernel(sm90_rows_kernels, instance("rows", dtype, kept));
  const GpuKernel whole = find_kernel(
      sm90_rows_kernels, instance("whole", dtype, kept, has_residual ? "true" : "false"));
  const bool can_be_whole =
      bytes % 16 == 0 && bytes / 16 <= kept * threads && problem.dtype("w") == dtype;
  const RowsCall fixed{.rows = problem.axis("rows"),
                       .cols = cols,
                       .eps = static_cast<float>(problem.number("eps")),
                       .inverse = 1.0F / static_cast<float>(problem.axis("cols")),
                       .offset = static_cast<float>(problem.number("weight_offset")),
                       .w_is_f32 = problem.dtype("w") == DType::f32,
                       .rounds_early = problem.option("round") == "early"};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (fixed.rows == 0) return;
    RowsCall call = fixed;
    fill(call, args);
    const bool is_whole = can_be_whole && call.is_aligned && call.w_is_aligned;
    launch(*context.stream, is_whole ? whole : any, shape, call);
  }};
}

}  // namespace

extern const KernelDef sm90_rows;
const KernelDef sm90_rows{
    .op = "rmsnorm",
    .name = "sm90_rows",
    .idea = "a row in the registers of a warp or a block, 16 bytes a load, x read once",
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

#define ROWS_ENTRIES(type, kept)                                                            \
  ROOFTILE_KERNEL_ENTRY(rows<type, kept>), ROOFTILE_KERNEL_ENTRY(whole<type, kept, false>), \
      ROOFTILE_KERNEL_ENTRY(whole<type, kept, true>)
#define ROWS_ENTRIES_OF(type) ROWS_ENTRIES(type, 1), ROWS_ENTRIES(type, 4)
ROOFTILE_KERNEL_TABLE(sm90_rows_kernels, ROWS_ENTRIES_OF(float), ROWS_ENTRIES_OF(bf16),
                      ROWS_ENTRIES_OF(fp16))

}  // namespace rooftile::ops::rmsnorm
