// SPDX-License-Identifier: Apache-2.0
// At most two rows of A: the time is that of reading B, a weight [n, k], of which warps read two
// rows at a time, 16 bytes a lane and several such loads under way; A comes from the first-level
// cache, once for both. What a lane sums, and how the lanes' sums are added, follows from k and the
// configuration alone. A's rows may be normalised on the way: their squares are summed beside the
// products, which the root scales at the end. From sm_80 on.
#pragma once

#include "rooftile/ops/gemm/sm90_gemm.h"
#include "rooftile/tile/elements.h"
#include "rooftile/tile/kernel_table.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/ops/sm90_range.h"
#include "rooftile/tile/ptx/load_store.h"
#include "rooftile/tile/row_reduce.h"
#include "rooftile/tile/unroll.h"
#else
#include <initializer_list>

#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#include "rooftile/ops/row_blocks.h"
#endif

namespace rooftile::ops::gemm {

/// What the kernels' launches have in common.
struct GemvBlock {
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * 32;
  static constexpr int kColumns = 2;   // of D, a warp's
  static constexpr int kUnderWay = 2;  // loads of each row of B, of a thread
  // Why said: ptxas takes as few registers as it can otherwise, and loads one after the other.
  static constexpr int kBlocksAtOnce = 8;
};

/// A row of A as rmsnorm has it: a / sqrt(mean(a^2) + eps) * (w + offset), w [k] in A's type.
struct Rmsnorm {
  const void* w = nullptr;
  float eps = 0;
  float inverse = 0;  // 1 / k
  float offset = 0;
};

#if ROOFTILE_DEVICE_CODE

/// Of the rows of A and a warp's of B; without a norm no squares.
template <int kRows, bool kNormalises>
struct GemvSums {
  static constexpr int kColumns = GemvBlock::kColumns;
  float products[kRows * kColumns] = {};
  float squares[kNormalises ? kRows : 1] = {};

  template <class Function>
  __device__ void each(Function function) {
    ROOFTILE_UNROLL for (int i = 0; i < kRows * kColumns; ++i) function(products[i]);
    if constexpr (kNormalises) ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) function(squares[i]);
  }
  __device__ void add(const GemvSums& other) {
    ROOFTILE_UNROLL for (int i = 0; i < kRows * kColumns; ++i) products[i] += other.products[i];
    if constexpr (kNormalises)
      ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) squares[i] += other.squares[i];
  }
};

/// The kernel. kShare warps have the same rows of B. kIsWhole: A's and B's rows and w are whole
/// aligned packs. Why constants: the loads' addresses differ by them, and need no registers.
template <class T, int kRows, int kShare, bool kIsWhole, bool kNormalises>
__device__ __forceinline__ void gemv_body(const Sm90Call& call, const Rmsnorm& norm) {
  using namespace tile;
  constexpr int kWarps = GemvBlock::kWarps;
  constexpr int kColumns = GemvBlock::kColumns;
  constexpr int kUnderWay = GemvBlock::kUnderWay;
  constexpr int kStep = kShare * kWarp;
  using Sums = GemvSums<kRows, kNormalises>;
  __shared__ Sums scratch[2][kWarps];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const long long j =
      (static_cast<long long>(blockIdx.x) * (kWarps / kShare) + warp / kShare) * kColumns;
  const int packs = static_cast<int>((call.k + kPack<T> - 1) / kPack<T>);
  // Of more rows than there are the last: summed in vain.
  const T* b[kColumns];
  ROOFTILE_UNROLL for (int c = 0; c < kColumns; ++c) b[c] =
      static_cast<const T*>(call.b.data) + (j + c < call.n ? j + c : call.n - 1) * call.b.stride_j;
  const T* a[kRows];
  ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) a[i] =
      static_cast<const T*>(call.a.data) + (i < call.m ? i : call.m - 1) * call.a.stride_i;
  const auto load = [&](const T* row, int p) {
    if constexpr (kIsWhole) return reinterpret_cast<const Pack*>(row)[p];
    const long long at = static_cast<long long>(p) * kPack<T>;
    return load_pack(row + at, call.k - at, false);
  };

  // Over the rows of B; kScales: of A's rows times `scale`, which is rare and need not be fast.
  const auto sum = [&]<bool kScales>(const float(&scale)[kRows], Sums(&of_warp)[kWarps]) {
    Sums sums;
    const auto multiply = [&](const Pack(&weights)[kColumns], int p) {
      float w[kColumns][kPack<T>];
      ROOFTILE_UNROLL for (int c = 0; c < kColumns; ++c) unpack<T>(w[c], weights[c]);
      [[maybe_unused]] float factor[kPack<T>];
      if constexpr (kNormalises) unpack<T>(factor, load(static_cast<const T*>(norm.w), p));
      ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) {
        float x[kPack<T>];
        unpack<T>(x, load(a[i], p));
        ROOFTILE_UNROLL for (int e = 0; e < kPack<T>; ++e) {
          if constexpr (kScales) x[e] = x[e] * scale[i];
          if constexpr (kNormalises) {
            sums.squares[i] = fmaf(x[e], x[e], sums.squares[i]);
            x[e] = x[e] * (factor[e] + norm.offset);
          }
          ROOFTILE_UNROLL for (int c = 0; c < kColumns; ++c) {
            float& product = sums.products[i * kColumns + c];
            product = fmaf(x[e], w[c][e], product);
          }
        }
      }
    };
    int p = warp % kShare * kWarp + lane;
    if constexpr (kIsWhole && !kScales) {
      for (; p < packs - (kUnderWay - 1) * kStep; p += kUnderWay * kStep) {
        Pack weights[kUnderWay][kColumns];
        ROOFTILE_UNROLL for (int u = 0; u < kUnderWay; ++u)
            ROOFTILE_UNROLL for (int c = 0; c < kColumns; ++c) weights[u][c] =
                load_no_l1(reinterpret_cast<const Pack*>(b[c]) + p + u * kStep);
        ROOFTILE_UNROLL for (int u = 0; u < kUnderWay; ++u) multiply(weights[u], p + u * kStep);
      }
    }
    ROOFTILE_NO_UNROLL for (; p < packs; p += kStep) {
      Pack weights[kColumns];
      ROOFTILE_UNROLL for (int c = 0; c < kColumns; ++c) weights[c] = load(b[c], p);
      multiply(weights, p);
    }

    sums.each([](float& value) {
      value = lanes_reduce(value, kWarp, [](float x, float y) { return x + y; });
    });
    if constexpr (kShare > 1) {
      if (lane == 0) of_warp[warp] = sums;
      __syncthreads();
      const int first = warp - warp % kShare;
      sums = of_warp[first];
      ROOFTILE_UNROLL for (int other = 1; other < kShare; ++other) sums.add(of_warp[first + other]);
    }
    return sums;
  };

  float scale[kRows] = {};
  Sums sums = sum.template operator()<false>(scale, scratch[0]);
  if constexpr (kNormalises) {
    bool leaves_range = false;
    ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) {
      scale[i] = range_scale(sums.squares[i], norm.eps);
      leaves_range = leaves_range || scale[i] != 1.0F;
    }
    // Why a vote: all threads must meet in the sums.
    if (__syncthreads_or(leaves_range)) sums = sum.template operator()<true>(scale, scratch[1]);
    ROOFTILE_UNROLL for (int i = 0; i < kRows; ++i) {
      const float root = root_of(sums.squares[i], norm.inverse, norm.eps, scale[i]);
      ROOFTILE_UNROLL for (int c = 0; c < kColumns; ++c) sums.products[i * kColumns + c] *= root;
    }
  }
  if (warp % kShare != 0 || lane >= kRows * kColumns) return;
  float mine = 0;
  ROOFTILE_UNROLL for (int i = 0; i < kRows * kColumns; ++i) mine =
      lane == i ? sums.products[i] : mine;
  const long long row = lane / kColumns;
  const long long column = j + lane % kColumns;
  if (row < call.m && column < call.n)
    store_at(call.d, row, column, finished(call.epilogue, row, column, mine));
}

#else

/// The limits of the kernel, for A [m, k] and B [k, n] in a problem of gemm or one like it.
inline Support supports_gemv(const Problem& problem) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  if (problem.axis("m") > 2) return unsupported("m is at most 2");
  if (problem.dtype("a") != problem.dtype("b")) return unsupported("b must have a's dtype");
  const std::int64_t k = problem.axis("k");
  if (k > kMost) return unsupported("k is at most 2^31 - 1");
  if (k > 1 && (problem.arg("a").strides[1] != 1 || problem.arg("b").strides[0] != 1))
    return unsupported("a must be contiguous along k, and b too (a weight [n, k], layout nt)");
  if (problem.axis("n") > kMost) return unsupported("n is at most 2^31 - 1");
  return supported();
}

/// First the most warps of a row of B of which each has several turns.
inline std::vector<Config> gemv_configs(const Problem& problem, const DeviceProperties&) {
  constexpr std::int64_t kTurns = 2;
  constexpr std::int64_t kBytes = kTurns * GemvBlock::kUnderWay * 32 * 16;
  const std::int64_t row = problem.axis("k") * info(problem.dtype("b")).unit_bytes;
  std::vector<Config> configs;
  for (const std::int64_t share : {1, 2, 4})
    configs.insert(share == 1 || share * kBytes <= row ? configs.begin() : configs.end(),
                   {{{"share", share}}});
  return configs;
}

/// The launch for a problem and configuration.
class Gemv {
 public:
  /// `tables` have the instances "gemv<T, kRows, kShare, kIsWhole>".
  Gemv(std::initializer_list<const KernelTable*> tables, const Problem& problem,
       const Config& config) {
    const std::int64_t share = config.at("share");
    const auto find = [&](bool is_whole) {
      return find_kernel(tables,
                         instance("gemv", problem.dtype("a"), problem.axis("m") <= 1 ? 1 : 2,
                                  std::to_string(share) + (is_whole ? ", true" : ", false")));
    };
    whole_ = find(true);
    any_ = find(false);
    const std::int64_t columns = GemvBlock::kWarps / share * GemvBlock::kColumns;
    const std::int64_t blocks = (problem.axis("n") + columns - 1) / columns;
    shape_ = {.grid = {static_cast<std::uint32_t>(blocks)}, .block = {GemvBlock::kThreads}};
  }

  /// Launches it with `call` and what else it has; `w` is a norm's weight, or null.
  template <class... More>
  void run(Stream& stream, const Arguments& args, const void* w, const Sm90Call& call,
           const More&... more) const {
    if (call.m == 0 || call.n == 0) return;
    const bool is_whole =
        has_whole_packs(args["a"], 0) && has_whole_packs(args["b"], 1) && is_pack_aligned(w);
    launch(stream, is_whole ? whole_ : any_, shape_, call, more...);
  }

 private:
  // Whether the rows along k are whole aligned packs; `outer` is the axis of m or n.
  static bool has_whole_packs(const TensorView& operand, int outer) {
    const std::int64_t bytes = info(operand.dtype).unit_bytes;
    return operand.extent(1 - outer) * bytes % 16 == 0 && is_pack_aligned(operand.data) &&
           (operand.extent(outer) <= 1 || operand.stride(outer) * bytes % 16 == 0);
  }

  GpuKernel whole_{};
  GpuKernel any_{};
  LaunchShape shape_{};
};

#endif

}  // namespace rooftile::ops::gemm

#define GEMV_ENTRIES_OF(type, rows, share)              \
  ROOFTILE_KERNEL_ENTRY(gemv<type, rows, share, true>), \
      ROOFTILE_KERNEL_ENTRY(gemv<type, rows, share, false>)
#define GEMV_ENTRIES(type)                                                               \
  GEMV_ENTRIES_OF(type, 1, 1), GEMV_ENTRIES_OF(type, 1, 2), GEMV_ENTRIES_OF(type, 1, 4), \
      GEMV_ENTRIES_OF(type, 2, 1), GEMV_ENTRIES_OF(type, 2, 2), GEMV_ENTRIES_OF(type, 2, 4)
