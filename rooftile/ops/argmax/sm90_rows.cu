// SPDX-License-Identifier: Apache-2.0
// The largest element of a thread's octets, looked for by its octet's maximum alone; then of the
// row's threads, of a long row the blocks of a cluster. Exact, so any order gives the same index.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/octet.h"
#include "rooftile/tile/ptx/cluster.h"
#include "rooftile/tile/row_reduce.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/octet_blocks.h"
#include "rooftile/ops/row_blocks.h"
#endif

namespace rooftile::ops::argmax {

extern const KernelTable sm90_rows_kernels;

namespace {

constexpr int kEach = 4;  // octets that a thread has under way
constexpr int kMostThreads = 512;

struct RowsCall {
  int* ids = nullptr;
  long long ids_stride = 0;
  tile::Matrix x{};
  long long rows = 0;
  int cols = 0;
  int shares = 1;  // of a row, each a block of a cluster
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

// A value and its index as one number, the greater the better: ties go to the lower index, and 0 is
// no element at all.
using Key = unsigned long long;

__device__ inline Key key_of(float value, int index) {
  const uint32_t bits = __float_as_uint(value + 0.0F);  // -0 as 0
  const uint32_t ordered = bits >> 31 != 0 ? ~bits : bits | 0x80000000U;
  return static_cast<Key>(ordered) << 32 | (0xffffffffU - static_cast<uint32_t>(index));
}

struct Best {
  float value = -HUGE_VALF;
  int index = -1;

  // Elements at c, c + apart, …, in the order of indices from call to call.
  __device__ void add(const float (&v)[kOctet], int c, int apart) {
    float most = v[0];
    ROOFTILE_UNROLL for (int j = 1; j < kOctet; ++j) most = fmaxf(most, v[j]);  // drops NaN
    if (!(most > value)) return;
    value = most;
    int at = kOctet - 1;
    ROOFTILE_UNROLL for (int j = kOctet - 2; j >= 0; --j) if (v[j] == most) at = j;
    index = c + at * apart;
  }
};

// Second pass: whether an element is a number is all that counts, of the `left` that are there.
__device__ inline void tell_numbers(float (&v)[kOctet], int left = kOctet) {
  ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) v[j] =
      j < left && v[j] == v[j] ? 0.0F : -HUGE_VALF;
}

// The best of share `share` of a row of whole aligned octets.
template <bool kNumbers>
__device__ Best best_of_octets(const RowsCall& call, long long start, int cols, int share) {
  Best best;
  const int step = static_cast<int>(blockDim.x) * kOctet;
  const int stride = call.shares * kEach * step;
  ROOFTILE_NO_UNROLL for (int c = share * kEach * step + static_cast<int>(threadIdx.x) * kOctet;
                          c < cols; c += stride) {
    Octet raw[kEach];
    ROOFTILE_UNROLL for (int i = 0; i < kEach; ++i) if (c + i * step < cols) raw[i] =
        load_octet(call.x.data, call.x.type, start + c + i * step);
    ROOFTILE_UNROLL for (int i = 0; i < kEach; ++i) if (c + i * step < cols) {
      float v[kOctet];
      unpack(v, raw[i], call.x.type);
      if (kNumbers) tell_numbers(v);
      best.add(v, c + i * step, 1);
    }
  }
  return best;
}

// The same of any row: neighbouring threads have neighbouring elements.
template <bool kNumbers>
__device__ Best best_of_elements(const RowsCall& call, long long start, int cols, int share) {
  Best best;
  const int apart = static_cast<int>(blockDim.x);
  ROOFTILE_NO_UNROLL for (int c = share * kOctet * apart + static_cast<int>(threadIdx.x); c < cols;
                          c += call.shares * kOctet * apart) {
    float v[kOctet];
    const int left = (cols - c + apart - 1) / apart;
    gather_octet(v, call.x.data, call.x.type, start + c * call.x.col_stride,
                 apart * call.x.col_stride, left, -HUGE_VALF);
    if (kNumbers) tell_numbers(v, left);
    best.add(v, c, apart);
  }
  return best;
}

// The greatest key of the row's threads in all its blocks; `shared` is for this call alone. A row
// of several shares is the only one of its blocks.
struct Exchange {
  Key scratch[kMostWarps];
  Key of_block;
};
__device__ inline Key row_key(Key key, int shares, Exchange& shared) {
  const auto greater = [](Key a, Key b) { return a > b ? a : b; };
  key = row_reduce(key, Key{0}, shared.scratch, greater);
  if (shares == 1) return key;
  if (threadIdx.x == 0) shared.of_block = key;
  cluster_sync();
  for (int share = 0; share < shares; ++share)
    key = greater(key, *map_shared(&shared.of_block, static_cast<uint32_t>(share)));
  return key;
}

template <bool kWhole, bool kNumbers>
__device__ Key key_of_row(const RowsCall& call, long long r, int share, Exchange& shared) {
  const int cols = r < call.rows ? call.cols : 0;
  const long long start = r * call.x.row_stride;
  const Best best = kWhole ? best_of_octets<kNumbers>(call, start, cols, share)
                           : best_of_elements<kNumbers>(call, start, cols, share);
  return row_key(best.index < 0 ? 0 : key_of(best.value, best.index), call.shares, shared);
}

template <bool kWhole>
__global__ void __launch_bounds__(kMostThreads, 2) rows(const RowsCall call) {
  __shared__ Exchange shared[2];
  const int share = static_cast<int>(blockIdx.x % static_cast<unsigned>(call.shares));
  const long long r =
      static_cast<long long>(blockIdx.x / static_cast<unsigned>(call.shares)) * blockDim.y +
      threadIdx.y;
  Key key = key_of_row<kWhole, false>(call, r, share, shared[0]);
  // Nothing above minus infinity: the first number is the answer. Short rows share a warp, and all
  // of it must meet.
  if (__any_sync(kWholeWarp, key == 0)) {
    const Key number = key_of_row<kWhole, true>(call, r, share, shared[1]);
    if (key == 0) key = number;
  }
  if (share == 0 && threadIdx.x == 0 && r < call.rows)
    call.ids[r * call.ids_stride] =
        key == 0 ? 0 : static_cast<int>(0xffffffffU - static_cast<uint32_t>(key));
  if (call.shares > 1) cluster_meet();  // others may still read this block's memory
}

}  // namespace

#else

namespace {

constexpr std::int64_t kMostShares = 8;  // blocks of a portable cluster

// Blocks to a row: enough that few long rows occupy the GPU, each with work for its threads.
std::int64_t shares_of(const Problem& problem, int compute_units) {
  constexpr std::int64_t kBlocksOfUnit = 4;
  const std::int64_t octets_of_block = kMostThreads * kEach;
  const std::int64_t rounds =
      (octets_of(problem.axis("cols")) + octets_of_block - 1) / octets_of_block;
  const std::int64_t rows = std::max<std::int64_t>(problem.axis("rows"), 1);
  const std::int64_t wanted = std::min(rounds, compute_units * kBlocksOfUnit / rows);
  std::int64_t shares = 1;
  while (shares * 2 <= std::min(wanted, kMostShares)) shares *= 2;
  return shares;
}

std::vector<Config> configs(const Problem& problem, const DeviceProperties& properties) {
  const std::int64_t best = shares_of(problem, properties.compute_units);
  std::vector<Config> list{{.values = {{"shares", best}}}};
  for (const std::int64_t other : {1, 4, 8})
    if (other != best && octets_of(problem.axis("cols")) >= other * kMostThreads)
      list.push_back({.values = {{"shares", other}}});
  return list;
}

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("cols") > 1 << 30) return unsupported("cols: at most 2^30");
  if (problem.axis("rows") > ((std::int64_t{1} << 31) - 1) / kMostShares)
    return unsupported("rows: at most 2^28 - 1");
  return supported();
}

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const std::int64_t shares = config.at("shares");
  LaunchShape shape = row_blocks(problem.axis("rows"),
                                 row_threads(octets_of(problem.axis("cols")), kEach, kMostThreads));
  shape.grid.x *= static_cast<std::uint32_t>(shares);
  shape.cluster.x = static_cast<std::uint32_t>(shares);
  const GpuKernel whole = find_kernel(sm90_rows_kernels, "rows<true>");
  const GpuKernel any = find_kernel(sm90_rows_kernels, "rows<false>");
  const RowsCall fixed{.rows = problem.axis("rows"),
                       .cols = static_cast<int>(problem.axis("cols")),
                       .shares = static_cast<int>(shares)};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (fixed.rows == 0) return;
    const TensorView& x = args["x"];
    RowsCall call = fixed;
    call.ids = args["ids"].as<int>();
    call.ids_stride = args["ids"].stride(0);
    call.x = matrix_of(x);
    const bool is_whole = fixed.cols % 8 == 0 && is_octet_aligned(x);
    launch(*context.stream, is_whole ? whole : any, shape, call);
  }};
}

}  // namespace

extern const KernelDef sm90_rows;
const KernelDef sm90_rows{
    .op = "argmax",
    .name = "sm90_rows",
    .idea = "maxima of octets, indices only of new ones; a long row by a cluster of blocks",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .configs = configs,
    .prepare = prepare,
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_rows_kernels, ROOFTILE_KERNEL_ENTRY(rows<true>),
                      ROOFTILE_KERNEL_ENTRY(rows<false>))

}  // namespace rooftile::ops::argmax
