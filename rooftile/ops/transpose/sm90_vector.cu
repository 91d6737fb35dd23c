// SPDX-License-Identifier: Apache-2.0
// Tiles whose rows are 128 bytes, 32 or 64 elements, moved 16 bytes at a time: a warp reads and
// writes whole lines. In shared memory the 16-byte chunks of a row are permuted by exclusive or
// with the row's group, which neither side's accesses conflict on. Two 16-bit elements are read as
// one word and sorted in registers.
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/ops/transpose/sm90_call.h"
#include "rooftile/tile/elements.h"
#include "rooftile/tile/unroll.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/transpose/sm90_tiles.h"
#endif

namespace rooftile::ops::transpose {

extern const KernelTable sm90_vector_kernels;

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

constexpr int kThreads = 256;
constexpr int kChunks = 8;  // of 16 bytes in a row of the tile
constexpr int kWords = 4;   // in a chunk
constexpr int kRowWords = kChunks * kWords;

// Word `word` of row `row` of a tile of T.
template <class T>
__device__ int place(int row, int word) {
  return row * kRowWords +
         (((word / kWords) ^ (row / kPack<T> % kChunks)) * kWords + word % kWords);
}

// Half `half` of each of two words as one.
__device__ uint32_t joined(uint32_t low, uint32_t high, int half) {
  return __byte_perm(low, high, half == 0 ? 0x5410U : 0x7632U);
}

// Packs of rows of y from the same word of kPack<T> rows of x.
__device__ void columns(Pack (&to)[1], const uint32_t (&word)[4]) {
  to[0] = make_uint4(word[0], word[1], word[2], word[3]);
}
__device__ void columns(Pack (&to)[2], const uint32_t (&word)[8]) {
  ROOFTILE_UNROLL for (int half = 0; half < 2; ++half) to[half] =
      make_uint4(joined(word[0], word[1], half), joined(word[2], word[3], half),
                 joined(word[4], word[5], half), joined(word[6], word[7], half));
}

template <class T>
__device__ void transpose_packs(const TileCall& call, uint32_t* tile) {
  constexpr int kSide = kChunks * kPack<T>;
  constexpr int kLoads = kSide * kChunks / kThreads;
  constexpr int kOfWord = 4 / static_cast<int>(sizeof(T));
  const long long tile_row = blockIdx.x / call.tiles_of_row;
  const long long first_r = tile_row * kSide;
  const long long first_c = (blockIdx.x - tile_row * call.tiles_of_row) * kSide;
  const int t = static_cast<int>(threadIdx.x);

  const int chunk = t % kChunks;
  const long long left = call.cols - first_c - chunk * kPack<T>;
  const T* x = static_cast<const T*>(call.x) + first_r * call.x_stride + first_c + chunk * kPack<T>;
  Pack loaded[kLoads];
  ROOFTILE_UNROLL for (int i = 0; i < kLoads; ++i) {
    const int row = t / kChunks + i * (kThreads / kChunks);
    loaded[i] =
        load_pack(x + row * call.x_stride, first_r + row < call.rows ? left : 0, call.x_is_aligned);
  }
  ROOFTILE_UNROLL for (int i = 0; i < kLoads; ++i) *
      reinterpret_cast<Pack*>(
          tile + place<T>(t / kChunks + i * (kThreads / kChunks), chunk * kWords)) = loaded[i];
  __syncthreads();

  // The thread's packs of y: of rows c, from rows r of x.
  const int r = t % kChunks * kPack<T>;
  const int word_index = t / kChunks;
  uint32_t word[kPack<T>];
  ROOFTILE_UNROLL for (int j = 0; j < kPack<T>; ++j) word[j] = tile[place<T>(r + j, word_index)];
  Pack packs[kOfWord];
  columns(packs, word);
  ROOFTILE_UNROLL for (int i = 0; i < kOfWord; ++i) {
    const long long c = first_c + word_index * kOfWord + i;
    if (c < call.cols)
      store_pack(static_cast<T*>(call.y) + c * call.y_stride + first_r + r, packs[i],
                 call.rows - first_r - r, call.y_is_aligned);
  }
}

template <class Bits>
__global__ void __launch_bounds__(kThreads) vector(const TileCall call) {
  using T = std::conditional_t<sizeof(Bits) == 4, float, bf16>;
  __shared__ Pack tile[kChunks * kPack<T> * kChunks];
  transpose_packs<T>(call, reinterpret_cast<uint32_t*>(tile));
}

}  // namespace

#else

namespace {

std::int64_t side(const Problem& problem) { return 128 / info(problem.dtype("x")).unit_bytes; }

}  // namespace

extern const KernelDef sm90_vector;
const KernelDef sm90_vector{
    .op = "transpose",
    .name = "sm90_vector",
    .idea = "tiles of 128-byte rows moved 16 bytes at a time, chunks permuted in shared memory",
    .target = Target::sm90,
    .determinism = Determinism::repeatable,
    .supports = [](const Problem& problem,
                   const DeviceProperties&) { return supports_rows(problem, side(problem)); },
    .prepare =
        [](const Problem& problem, Device&, const Config&) {
          return prepare_tiles(sm90_vector_kernels, "vector", problem, side(problem), {256});
        },
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_vector_kernels, ROOFTILE_KERNEL_ENTRY(vector<unsigned>),
                      ROOFTILE_KERNEL_ENTRY(vector<unsigned short>))

}  // namespace rooftile::ops::transpose
