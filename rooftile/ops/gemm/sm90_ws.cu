// SPDX-License-Identifier: Apache-2.0
// Warp-specialised: one thread of a producer warpgroup copies tiles of A and B by TMA through a
// ring of stages; two consumer warpgroups multiply them with wgmma, and store D in bf16 through
// swizzled shared memory by TMA while the producer is ahead with the next tile. Persistent: a block
// takes one tile after another. Sources of the ideas: NVIDIA CUTLASS, "Efficient GEMM in CUDA"
// (warp specialisation, persistent tiles); P. Andersch and others, "Fast CUDA kernels for Hopper",
// 2024.
#include "rooftile/formats/bf16.h"
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/tensor_map.h"
#if ROOFTILE_DEVICE_CODE
#include "rooftile/hardware/swizzle.h"
#include "rooftile/tile/elements.h"
#include "rooftile/tile/fragment.h"
#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/bulk_group.h"
#include "rooftile/tile/ptx/fence.h"
#include "rooftile/tile/ptx/mbarrier.h"
#include "rooftile/tile/ptx/named_barrier.h"
#include "rooftile/tile/ptx/setmaxnreg.h"
#include "rooftile/tile/ptx/tma.h"
#include "rooftile/tile/ptx/wgmma.h"
#else
#include <algorithm>

#include "rooftile/device/gpu_kernel.h"
#include "rooftile/device/tensor_map.h"
#include "rooftile/ops/gemm/sm90_host.h"
#endif

namespace rooftile::ops::gemm {

#if !ROOFTILE_DEVICE_CODE
extern const KernelTable sm90_ws_kernels;
#endif

namespace {

constexpr int kBlockM = 128;
constexpr int kBlockK = 64;  // a row of 128 bytes: one period of the swizzle
constexpr int kConsumers = 2;
constexpr int kThreads = 128 * (1 + kConsumers);
constexpr int kRowBytes = 128;
constexpr int kStoreColumns = 64;  // of a box of D: 128 bytes
constexpr int kAlignment = 1024;   // the swizzle's pattern

/// Bytes of shared memory, and where each part lies.
template <int kBlockN, int kStages>
struct Shared {
  static constexpr int kTileA = kBlockM * kRowBytes;
  static constexpr int kTileB = kBlockN * kRowBytes;
  static constexpr int kB = kStages * kTileA;
  static constexpr int kD = kB + kStages * kTileB;
  static constexpr int kStoreBox = 64 * kRowBytes;  // 64 rows of one consumer
  static constexpr int kStoreOfConsumer = kBlockN / kStoreColumns * kStoreBox;
  static constexpr int kFull = kD + kConsumers * kStoreOfConsumer;
  static constexpr int kEmpty = kFull + kStages * 8;
  static constexpr int kBytes = kEmpty + kStages * 8;
};

/// Neighbouring blocks take tiles that share rows of A or columns of B: groups of kGroup rows of
/// tiles, column by column, so that both stay in L2.
struct TileOrder {
  static constexpr int kGroup = 16;
  int tiles_m;
  int tiles_n;
  struct Tile {
    int m, n;
  };
  ROOFTILE_HD constexpr int count() const { return tiles_m * tiles_n; }
  ROOFTILE_HD constexpr Tile at(int number) const {
    const int group = number / (kGroup * tiles_n);
    const int first = group * kGroup;
    const int rows = tiles_m - first < kGroup ? tiles_m - first : kGroup;
    const int within = number - first * tiles_n;
    return {first + within % rows, within / rows};
  }
};

#if ROOFTILE_DEVICE_CODE

/// A stage of the ring and the parity of its next phase.
struct Ring {
  int stage = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void advance(int stages) {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

template <int kBlockN, int kStages>
__device__ __forceinline__ void produce(unsigned char* shared, const TensorMap* a,
                                        const TensorMap* b, TileOrder order, int steps) {
  using S = Shared<kBlockN, kStages>;
  auto* const full = reinterpret_cast<Mbarrier*>(shared + S::kFull);
  auto* const empty = reinterpret_cast<Mbarrier*>(shared + S::kEmpty);
  Ring ring;
  for (int number = static_cast<int>(blockIdx.x); number < order.count();
       number += static_cast<int>(gridDim.x)) {
    const TileOrder::Tile tile = order.at(number);
    for (int step = 0; step < steps; ++step) {
      mbarrier_wait(&empty[ring.stage], ring.parity ^ 1);
      mbarrier_arrive_expect_tx(&full[ring.stage], S::kTileA + S::kTileB);
      tma_load(shared + ring.stage * S::kTileA, a, &full[ring.stage],
               box_at(step * kBlockK, tile.m * kBlockM));
      tma_load(shared + S::kB + ring.stage * S::kTileB, b, &full[ring.stage],
               box_at(step * kBlockK, tile.n * kBlockN));
      ring.advance(kStages);
    }
  }
}

/// The warpgroup's 64 rows of the tile from its registers to its boxes of shared memory.
template <int kRegisters>
__device__ __forceinline__ void store_tile(unsigned char* boxes, const float (&sum)[kRegisters],
                                           int thread) {
  ROOFTILE_UNROLL for (int i = 0; i < kRegisters; i += 2) {
    const FragmentElement at = wgmma_accumulator(thread, i);
    const uint32_t offset = swizzled(Swizzle::bytes128, static_cast<uint32_t>(at.row),
                                     static_cast<uint32_t>(at.column % kStoreColumns * 2));
    *reinterpret_cast<uint32_t*>(boxes + at.column / kStoreColumns * 64 * kRowBytes + offset) =
        tile::PackOf<bf16>::pack(&sum[i]);
  }
}

template <int kBlockN, int kStages>
__device__ __forceinline__ void consume(unsigned char* shared, const TensorMap* d, TileOrder order,
                                        int steps, int consumer) {
  using S = Shared<kBlockN, kStages>;
  using Mma = Wgmma<bf16, bf16, float, kBlockN>;
  auto* const full = reinterpret_cast<Mbarrier*>(shared + S::kFull);
  auto* const empty = reinterpret_cast<Mbarrier*>(shared + S::kEmpty);
  unsigned char* const boxes = shared + S::kD + consumer * S::kStoreOfConsumer;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const bool is_leader = thread == 0;
  Ring ring;
  float sum[Mma::kRegisters];
  for (int number = static_cast<int>(blockIdx.x); number < order.count();
       number += static_cast<int>(gridDim.x)) {
    int previous = -1;
    for (int step = 0; step < steps; ++step) {
      mbarrier_wait(&full[ring.stage], ring.parity);
      const uint64_t of_a =
          wgmma_descriptor(shared + ring.stage * S::kTileA + consumer * 64 * kRowBytes,
                           k_major_rows(Swizzle::bytes128));
      const uint64_t of_b = wgmma_descriptor(shared + S::kB + ring.stage * S::kTileB,
                                             k_major_rows(Swizzle::bytes128));
      wgmma_fence(sum);
      ROOFTILE_UNROLL for (int j = 0; j < kBlockK / Mma::kK; ++j)
          Mma::ss(sum, advanced(of_a, 32 * j), advanced(of_b, 32 * j), step != 0 || j != 0);
      wgmma_commit_group();
      wgmma_wait_group<1>(sum);  // the step before this one has read its stage
      if (previous >= 0 && is_leader) mbarrier_arrive(&empty[previous]);
      previous = ring.stage;
      ring.advance(kStages);
    }
    wgmma_wait_group<0>(sum);
    if (is_leader) {
      mbarrier_arrive(&empty[previous]);
      bulk_wait_read<0>();  // the store of the tile before has read the boxes
    }
    named_barrier_sync(1 + consumer, 128);
    store_tile(boxes, sum, thread);
    fence_proxy_async_shared();
    named_barrier_sync(1 + consumer, 128);
    if (is_leader) {
      const TileOrder::Tile tile = order.at(number);
      ROOFTILE_UNROLL for (int box = 0; box < kBlockN / kStoreColumns; ++box) tma_store(
          d, box_at(tile.n * kBlockN + box * kStoreColumns, tile.m * kBlockM + consumer * 64),
          boxes + box * S::kStoreBox);
      bulk_commit();
    }
  }
  if (is_leader) bulk_wait<0>();
}

template <int kBlockN, int kStages>
__global__ void __launch_bounds__(kThreads, 1)
    ws(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
       const __grid_constant__ TensorMap d, TileOrder order, int steps) {
  using S = Shared<kBlockN, kStages>;
  static_assert(S::kBytes + kAlignment <= 227 * 1024, "more than a block can have");
  ROOFTILE_DYNAMIC_SHARED(raw);
  unsigned char* const shared = raw + (kAlignment - shared_address(raw) % kAlignment) % kAlignment;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(reinterpret_cast<Mbarrier*>(shared + S::kFull) + s, 1);
      mbarrier_init(reinterpret_cast<Mbarrier*>(shared + S::kEmpty) + s, kConsumers);
    }
    fence_mbarrier_init();
    tensor_map_prefetch(&a);
    tensor_map_prefetch(&b);
    tensor_map_prefetch(&d);
  }
  __syncthreads();
  const int warpgroup = static_cast<int>(threadIdx.x) / 128;
  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) produce<kBlockN, kStages>(shared, &a, &b, order, steps);
  } else {
    setmaxnreg_inc<232>();
    consume<kBlockN, kStages>(shared, &d, order, steps, warpgroup - 1);
  }
}

#else

std::string instance(std::int64_t block_n, std::int64_t stages) {
  return "ws<" + std::to_string(block_n) + ", " + std::to_string(stages) + ">";
}

std::int64_t shared_bytes(std::int64_t block_n) {
  return kAlignment + (block_n == 256 ? Shared<256, 3>::kBytes : Shared<128, 4>::kBytes);
}

Support supports(const Problem& problem, const DeviceProperties&) {
  for (const char* name : {"d", "a", "b"})
    if (problem.dtype(name) != DType::bf16) return unsupported(std::string(name) + " must be bf16");
  for (const char* name : {"bias", "residual"})
    if (problem.has(name)) return unsupported(std::string(name) + " is not fused yet");
  if (problem.option("act") != "none") return unsupported("act is not fused yet");
  for (const char* axis : {"n", "k"})
    if (problem.axis(axis) % 8 != 0)
      return unsupported(std::string(axis) +
                         " must be a multiple of 8: TMA moves 16 bytes at once");
  if (problem.axis("k") == 0) return unsupported("k is 0: there is nothing to copy");
  const auto check = [&](const char* name, int inner) {
    const ArgChoice& arg = problem.arg(name);
    if (arg.strides[inner] != 1)
      return std::string(name) + " must be contiguous along its inner axis";
    if (arg.strides[1 - inner] % 8 != 0 && arg.shape[1 - inner] > 1)
      return std::string(name) + ": TMA needs rows that are multiples of 16 bytes apart";
    if (arg.offset % 8 != 0)
      return std::string(name) + ": TMA needs an address aligned to 16 bytes";
    return std::string();
  };
  for (std::string reason : {check("d", 1), check("a", 1), check("b", 0)})
    if (!reason.empty()) return unsupported(std::move(reason));
  return supported();
}

/// Rows along `outer`, elements of a row along the other axis.
TensorMapSpec rows_of(const TensorView& view, int outer, int box_rows, int box_columns) {
  TensorMapSpec spec;
  spec.data = view.data;
  spec.dtype = DType::bf16;
  spec.extent = {view.extent(1 - outer), view.extent(outer)};
  const std::int64_t stride = view.extent(outer) > 1 ? view.stride(outer) * 2 : 16;
  spec.stride_bytes = {2, stride};
  spec.box = {box_columns, box_rows};
  spec.swizzle = Swizzle::bytes128;
  return spec;
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const std::int64_t block_n = config.at("block_n");
  const GpuKernel kernel = find_kernel(sm90_ws_kernels, instance(block_n, config.at("stages")));
  const auto tiles = [](std::int64_t extent, std::int64_t size) {
    return static_cast<int>((extent + size - 1) / size);
  };
  const TileOrder order{tiles(problem.axis("m"), kBlockM), tiles(problem.axis("n"), block_n)};
  const int steps = tiles(problem.axis("k"), kBlockK);
  const auto blocks =
      static_cast<std::uint32_t>(std::min(order.count(), device.properties().compute_units));
  const LaunchShape shape{
      .grid = {blocks}, .block = {kThreads}, .dynamic_shared_bytes = shared_bytes(block_n)};
  return {.run = [=, &device](const Context& context, const Arguments& args) {
    if (blocks == 0) return;
    const TensorMap a = make_tensor_map(device, rows_of(args["a"], 0, kBlockM, kBlockK));
    const TensorMap b =
        make_tensor_map(device, rows_of(args["b"], 1, static_cast<int>(block_n), kBlockK));
    const TensorMap d = make_tensor_map(device, rows_of(args["d"], 0, 64, kStoreColumns));
    launch(*context.stream, kernel, shape, a, b, d, order, steps);
  }};
}
#endif

}  // namespace

#if !ROOFTILE_DEVICE_CODE
extern const KernelDef sm90_ws;
const KernelDef sm90_ws{
    .op = "gemm",
    .name = "sm90_ws",
    .idea =
        "persistent, warp-specialised: TMA ring, wgmma, D through swizzled shared memory (CUTLASS)",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .configs =
        [](const Problem&, const DeviceProperties&) {
          return std::vector<Config>{{{{"block_n", 256}, {"stages", 3}}},
                                     {{{"block_n", 128}, {"stages", 4}}}};
        },
    .prepare = prepare,
};
#endif

ROOFTILE_KERNEL_TABLE(sm90_ws_kernels, ROOFTILE_KERNEL_ENTRY(ws<256, 3>),
                      ROOFTILE_KERNEL_ENTRY(ws<128, 4>))

}  // namespace rooftile::ops::gemm
