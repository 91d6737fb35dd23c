// SPDX-License-Identifier: Apache-2.0
// The portable kernel: tensor cores by mma.sync, tiles through a ring of cp.async, from sm_80 on.
// It takes bf16 and fp16 of any strides, so what TMA cannot copy comes here: where 16 bytes cannot
// be copied at once, the same elements come one at a time. Source of the idea: NVIDIA CUTLASS,
// "Efficient GEMM in CUDA" (multistage pipeline, swizzled shared memory).
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"
#include "rooftile/ops/gemm/sm90_gemm.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/tile_order.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/hardware/swizzle.h"
#include "rooftile/tile/fragment.h"
#include "rooftile/tile/ptx/cp_async.h"
#include "rooftile/tile/ptx/ldmatrix.h"
#include "rooftile/tile/ptx/mma.h"
#include "rooftile/tile/unroll.h"
#else
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/ops/gemm/sm90_host.h"
#endif

namespace rooftile::ops::gemm {

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm80_mma_kernels;
#endif

namespace {

constexpr int kTile = 128;  // of m and n
constexpr int kDepth = 32;  // of k
constexpr int kStages = 4;
constexpr int kThreads = 256;
constexpr int kWarpRows = 64;  // a warp's part of the tile
constexpr int kWarpColumns = 32;
constexpr int kTileBytes = kTile * kDepth * 2;
constexpr int kSharedBytes = kStages * 2 * kTileBytes;

/// An operand: `outer` counts m or n.
struct Operand {
  const uint16_t* data = nullptr;
  long long outer_stride = 0;
  long long k_stride = 0;
  long long outer = 0;
  bool is_aligned = false;  // 16 bytes along the contiguous axis may be copied at once
};

struct MmaCall {
  Operand a, b;
  MatrixView d;
  Epilogue epilogue;
  long long m = 0, n = 0, k = 0;
  bool stores_pairs = false;
  tile::GroupedTiles order;
};

#if ROOFTILE_DEVICE_CODE

/// How the tile of an operand lies in shared memory: chunks of 16 bytes along its contiguous axis.
///
///   k-major    128 rows of 64 bytes
///   mn-major   two halves of 64 columns: in each 32 rows of 128 bytes, one for each k
template <Major kMajor>
struct OperandTile {
  static constexpr bool kIsK = kMajor == Major::k;
  static constexpr int kChunks = kTileBytes / 16;

  static __device__ __forceinline__ uint32_t offset(int outer, int k) {
    if constexpr (kIsK)
      return swizzled(Swizzle::bytes64, static_cast<uint32_t>(outer), static_cast<uint32_t>(k * 2));
    return static_cast<uint32_t>(outer / 64 * kDepth * 128) +
           swizzled(Swizzle::bytes128, static_cast<uint32_t>(k),
                    static_cast<uint32_t>(outer % 64 * 2));
  }

  /// The chunk's elements as they are in memory, zeros where there are none.
  static __device__ inline tile::Pack gather(const Operand& operand, long long outer, long long k,
                                             long long k_end) {
    tile::Pack pack = make_uint4(0, 0, 0, 0);
    ROOFTILE_NO_UNROLL for (int e = 0; e < 8; ++e) {
      const long long at_outer = outer + (kIsK ? 0 : e);
      const long long at_k = k + (kIsK ? e : 0);
      uint32_t element = 0;
      if (at_outer < operand.outer && at_k < k_end)
        element = operand.data[at_outer * operand.outer_stride + at_k * operand.k_stride];
      pack = tile::shifted<bf16>(pack, element);
    }
    return pack;
  }

  static __device__ __forceinline__ void load(unsigned char* tile, const Operand& operand,
                                              long long first, long long first_k, long long k_end) {
    ROOFTILE_UNROLL for (int i = 0; i < kChunks / kThreads; ++i) {
      const int chunk = static_cast<int>(threadIdx.x) + i * kThreads;
      const int outer = kIsK ? chunk / (kDepth / 8) : chunk % (kTile / 8) * 8;
      const int k = kIsK ? chunk % (kDepth / 8) * 8 : chunk / (kTile / 8);
      unsigned char* const to = tile + offset(outer, k);
      if (!operand.is_aligned) {
        *reinterpret_cast<tile::Pack*>(to) = gather(operand, first + outer, first_k + k, k_end);
        continue;
      }
      const bool is_inside = first + outer < operand.outer && first_k + k < k_end;
      const long long left =
          kIsK ? k_end - first_k - k : operand.outer - first - outer;  // elements of the chunk
      const long long bytes = !is_inside ? 0 : left < 8 ? left * 2 : 16;
      const uint16_t* const from = is_inside
                                       ? operand.data + (first + outer) * operand.outer_stride +
                                             (first_k + k) * operand.k_stride
                                       : operand.data;
      cp_async_cg(to, from, static_cast<uint32_t>(bytes));
    }
  }

  /// Four matrices of 8 x 8: of A both halves of 16 rows, then of k; of B both halves of k, then of
  /// 16 columns.
  static __device__ __forceinline__ void fragments(uint32_t (&r)[4], const unsigned char* tile,
                                                   int outer, int k, bool is_a) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int matrix = lane / 8;
    const int outer_half = is_a ? matrix % 2 : matrix / 2;
    const int k_half = is_a ? matrix / 2 : matrix % 2;
    if constexpr (kIsK)
      ldmatrix(r, tile + offset(outer + outer_half * 8 + lane % 8, k + k_half * 8));
    else
      ldmatrix<Transpose::yes>(r, tile + offset(outer + outer_half * 8, k + k_half * 8 + lane % 8));
  }
};

constexpr int kPairs = kTile / 2;  // of a row of the tile
static_assert(kTile * kTile * 4 <= kSharedBytes, "the sums must fit");

/// Where two sums lie: rows are shifted so that the accumulators of a warp fall into all banks.
__device__ __forceinline__ int pair_of(int row, int pair) {
  return row * kPairs + (pair ^ row % 8 * 4);
}

template <class T, Major kMajorA, Major kMajorB>
__global__ void __launch_bounds__(kThreads) mma(const MmaCall call) {
  using TileA = OperandTile<kMajorA>;
  using TileB = OperandTile<kMajorB>;
  using Instruction = Mma<T, T, float, 16>;
  ROOFTILE_DYNAMIC_SHARED(shared);
  const tile::GroupedTiles::Tile tile = call.order.at(static_cast<int>(blockIdx.x));
  const long long first_m = static_cast<long long>(tile.row) * kTile;
  const long long first_n = static_cast<long long>(tile.column) * kTile;
  const auto steps = static_cast<int>((call.k + kDepth - 1) / kDepth);
  const auto load_step = [&](int step) {
    if (step < steps) {
      unsigned char* const stage = shared + step % kStages * 2 * kTileBytes;
      const long long first_k = static_cast<long long>(step) * kDepth;
      TileA::load(stage, call.a, first_m, first_k, call.k);
      TileB::load(stage + kTileBytes, call.b, first_n, first_k, call.k);
    }
    cp_async_commit();  // an empty group too: the count of groups is that of steps
  };

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_m = warp / (kTile / kWarpColumns) * kWarpRows;
  const int warp_n = warp % (kTile / kWarpColumns) * kWarpColumns;
  float sum[kWarpRows / 16][kWarpColumns / 8][4] = {};
  for (int step = 0; step < kStages - 1; ++step) load_step(step);
  for (int step = 0; step < steps; ++step) {
    cp_async_wait<kStages - 2>();
    __syncthreads();  // the stage is there for all, and the one before it has been read
    load_step(step + kStages - 1);
    const unsigned char* const stage = shared + step % kStages * 2 * kTileBytes;
    ROOFTILE_UNROLL for (int k = 0; k < kDepth; k += 16) {
      uint32_t a[kWarpRows / 16][4];
      uint32_t b[kWarpColumns / 16][4];
      ROOFTILE_UNROLL for (int i = 0; i < kWarpRows / 16; ++i)
          TileA::fragments(a[i], stage, warp_m + i * 16, k, true);
      ROOFTILE_UNROLL for (int j = 0; j < kWarpColumns / 16; ++j)
          TileB::fragments(b[j], stage + kTileBytes, warp_n + j * 16, k, false);
      ROOFTILE_UNROLL for (int i = 0; i < kWarpRows / 16; ++i)
          ROOFTILE_UNROLL for (int j = 0; j < kWarpColumns / 8; ++j) {
        const uint32_t half[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
        Instruction::run(sum[i][j], a[i], half, sum[i][j]);
      }
    }
  }
  cp_async_wait<0>();
  __syncthreads();  // the ring is free: the sums go through it, so that D is written row by row

  auto* const sums = reinterpret_cast<float2*>(shared);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  ROOFTILE_UNROLL for (int i = 0; i < kWarpRows / 16; ++i)
      ROOFTILE_UNROLL for (int j = 0; j < kWarpColumns / 8; ++j)
          ROOFTILE_UNROLL for (int e = 0; e < 4; e += 2) {
    const FragmentElement at = mma_accumulator(lane, e);
    sums[pair_of(warp_m + i * 16 + at.row, (warp_n + j * 8 + at.column) / 2)] =
        make_float2(sum[i][j][e], sum[i][j][e + 1]);
  }
  __syncthreads();
  ROOFTILE_NO_UNROLL for (int p = static_cast<int>(threadIdx.x); p < kTile * kPairs;
                          p += kThreads) {
    const int row = p / kPairs;
    const long long i = first_m + row;
    const long long j = first_n + p % kPairs * 2;
    if (i >= call.m || j >= call.n) continue;
    const float2 sum_of_two = sums[pair_of(row, p % kPairs)];
    finish_and_store_two(call.d, call.epilogue, i, j, call.n, call.stores_pairs, sum_of_two);
  }
}

#else

Support supports(const Problem& problem, const DeviceProperties&) {
  if (Support types = supports_16_bits(problem, {"b"}); !types) return types;
  return supports_sm90(problem);
}

/// `outer_axis` is that of m or n.
Operand operand_of(const TensorView& view, int outer_axis, bool is_k_major) {
  const int k_axis = 1 - outer_axis;
  Operand operand;
  operand.data = static_cast<const std::uint16_t*>(view.data);
  operand.outer_stride = view.stride(outer_axis);
  operand.k_stride = view.stride(k_axis);
  operand.outer = view.extent(outer_axis);
  const int inner = is_k_major ? k_axis : outer_axis;
  operand.is_aligned = (view.stride(inner) == 1 || view.extent(inner) == 1) &&
                       (view.stride(1 - inner) % 8 == 0 || view.extent(1 - inner) == 1) &&
                       reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
  return operand;
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const Sm90Call call = sm90_call(problem);
  const OperandLayouts layouts = layouts_of(problem);
  const GpuKernel kernel =
      find_kernel(sm80_mma_kernels,
                  "mma<" + std::string(name(problem.dtype("a"))) + ", " + layouts.majors() + ">");
  MmaCall fixed;
  fixed.m = call.m;
  fixed.n = call.n;
  fixed.k = call.k;
  fixed.order = {tiles_of(call.m, kTile), tiles_of(call.n, kTile), 8};
  const LaunchShape shape{.grid = {static_cast<std::uint32_t>(fixed.order.count())},
                          .block = {kThreads},
                          .dynamic_shared_bytes = kSharedBytes};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (fixed.order.count() == 0) return;
    const Sm90Call now = with_arguments(call, args);
    MmaCall bound = fixed;
    bound.d = now.d;
    bound.epilogue = now.epilogue;
    bound.stores_pairs = stores_pairs(now.d);
    bound.a = operand_of(args["a"], 0, layouts.a_is_k);
    bound.b = operand_of(args["b"], 1, layouts.b_is_k);
    launch(*context.stream, kernel, shape, bound);
  }};
}

#endif

}  // namespace

#if !ROOFTILE_DEVICE_CODE
extern const KernelDef sm80_mma;
const KernelDef sm80_mma{
    .op = "gemm",
    .name = "sm80_mma",
    .idea = "mma.sync on tiles that cp.async brings, any strides; runs from sm_80 on (CUTLASS)",
    .target = Target::sm80,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};
#endif

#define MMA_ENTRIES(type)                                    \
  ROOFTILE_KERNEL_ENTRY(mma<type, Major::k, Major::k>),      \
      ROOFTILE_KERNEL_ENTRY(mma<type, Major::k, Major::mn>), \
      ROOFTILE_KERNEL_ENTRY(mma<type, Major::mn, Major::k>), \
      ROOFTILE_KERNEL_ENTRY(mma<type, Major::mn, Major::mn>)
ROOFTILE_KERNEL_TABLE(sm80_mma_kernels, MMA_ENTRIES(bf16), MMA_ENTRIES(fp16))

}  // namespace rooftile::ops::gemm
