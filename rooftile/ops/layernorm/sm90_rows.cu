// SPDX-License-Identifier: Apache-2.0
// Layer normalisation with a row in the registers of a warp or a block: x is read once, the mean
// and the squares of the deviations from it are summed one after the other, so that nothing
// cancels; both of what is left when the row's first element is taken off, unless all is of one
// type of 16 bits, which has no digits that an f32 could lose beside a large mean. Longer rows than
// registers hold are read again, from the cache.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/ops/sm90_range.h"
#include "rooftile/tile/octet.h"
#include "rooftile/tile/row_packs.h"
#include "rooftile/tile/row_reduce.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/octet_blocks.h"
#include "rooftile/ops/row_blocks.h"
#endif

namespace rooftile::ops::layernorm {

extern const KernelTable sm90_rows_kernels;

namespace {

// Threads of a row: more would leave too few registers to keep 4 octets in f32.
constexpr int most_threads(int kept) { return kept == 4 ? 512 : 1024; }

/// s = x, or sum = x + residual.
struct RowsCall {
  tile::Matrix y{};
  tile::Matrix sum{};
  tile::Matrix x{};
  tile::Matrix residual{};  // without data: none
  tile::Matrix w{};         // without data: 1
  tile::Matrix b{};         // without data: 0
  long long rows = 0;
  int cols = 0;
  float eps = 0;
  float inverse = 0;       // 1 / cols
  bool has_pivot = false;  // the first element is taken off
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

// The thread has octets threadIdx.x + i * blockDim.x of its row, of which it keeps kKept in
// registers; none where rows are not whole aligned octets. All sum in one order, to the same bits.
template <int kKept>
struct Row {
  static constexpr bool kIsWhole = kKept != 0;
  OctetRow s;  // what is normalised, once it is in memory
  int cols;    // 0 beyond the last row
  int first;
  int step;
  static constexpr int kHeld = kIsWhole ? kKept : 1;
  using Octets = float[kHeld][kOctet];
  Octets kept;

  __device__ Row(const RowsCall& call, long long r)
      : s(call.residual.data != nullptr ? call.sum : call.x, r, kIsWhole),
        cols(r < call.rows ? call.cols : 0),
        first(static_cast<int>(threadIdx.x) * kOctet),
        step(static_cast<int>(blockDim.x) * kOctet) {}

  // All loads first, then what waits for them.
  __device__ void load_kept(Octets& to, const OctetRow& from) const {
    Octet raw[kHeld];
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
      raw[i] = Octet{};
      if (first + i * step < cols)
        raw[i] = load_octet(from.data, from.type, from.start + first + i * step);
    }
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) unpack(to[i], raw[i], from.type);
  }

  template <Reuse kReuse>
  __device__ void load(float (&to)[kOctet], const OctetRow& from, int at) const {
    if constexpr (kIsWhole)
      unpack(to, load_octet<kReuse>(from.data, from.type, from.start + at), from.type);
    else
      from.load<kReuse>(to, at, cols - at);
  }
  __device__ void store(const float (&from)[kOctet], const OctetRow& to, int at) const {
    if constexpr (kIsWhole)
      store_octet(to.data, to.type, to.start + at, from);
    else
      to.store(from, at, cols - at);
  }
  // How many elements of the octet at this column the row has.
  __device__ int left(int at) const { return kIsWhole || cols - at > kOctet ? kOctet : cols - at; }

  // visit(octet, column) in the same order each time; beyond the kept ones from memory.
  template <class Visit>
  __device__ void for_each(Visit visit) {
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) if (first + i * step < cols)
        visit(kept[i], first + i * step);
    ROOFTILE_NO_UNROLL for (int at = first + kKept * step; at < cols; at += step) {
      float octet[kOctet];
      load<Reuse::some>(octet, s, at);
      visit(octet, at);
    }
  }
};

__device__ inline void add_octet(float (&s)[kOctet], const float (&added)[kOctet], Element type) {
  ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) s[j] = round_element(type, s[j] + added[j]);
}

// Writes the sum, and keeps what the row keeps of it.
template <int kKept>
__device__ void add_residual(Row<kKept>& row, const OctetRow& x, const OctetRow& residual) {
  if constexpr (kKept != 0) {
    typename Row<kKept>::Octets added;
    row.load_kept(added, residual);
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
      add_octet(row.kept[i], added[i], row.s.type);
      const int at = row.first + i * row.step;
      if (at < row.cols) row.store(row.kept[i], row.s, at);
    }
  }
  ROOFTILE_NO_UNROLL for (int at = row.first + kKept * row.step; at < row.cols; at += row.step) {
    float s[kOctet];
    float other[kOctet];
    row.template load<Reuse::none>(s, x, at);
    row.template load<Reuse::none>(other, residual, at);
    add_octet(s, other, row.s.type);
    row.store(s, row.s, at);
  }
}

// The row's first element, from the thread that has it. It is at most sqrt(cols) standard
// deviations from the mean, so that an error of what is left without it is relative to the
// deviations.
template <int kKept>
__device__ float pivot_of(const Row<kKept>& row, float (&scratch)[kMostWarps]) {
  float pivot = 0;
  if (threadIdx.x == 0 && row.cols > 0)
    pivot = kKept != 0 ? row.kept[0][0] : load_element(row.s.data, row.s.type, row.s.start);
  return row_sum(pivot, scratch);
}

// Of s * scale - pivot.
template <int kKept>
__device__ float mean_of(Row<kKept>& row, float inverse, float scale, float pivot,
                         float (&scratch)[kMostWarps]) {
  float sum = 0;
  row.for_each([&](const float(&s)[kOctet], int at) {
    const int left = row.left(at);
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) sum += j < left ? s[j] * scale - pivot : 0.0F;
  });
  return row_sum(sum, scratch) * inverse;
}

// The sum of (s * scale - pivot - mean)^2.
template <int kKept>
__device__ float squares_of(Row<kKept>& row, float scale, float pivot, float mean,
                            float (&scratch)[kMostWarps]) {
  float squares = 0;
  row.for_each([&](const float(&s)[kOctet], int at) {
    const int left = row.left(at);
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) {
      const float deviation = j < left ? s[j] * scale - pivot - mean : 0.0F;
      squares = fmaf(deviation, deviation, squares);
    }
  });
  return row_sum(squares, scratch);
}

// w or b at this octet of the row, `absent` where there is none.
template <int kKept>
__device__ void load_parameter(float (&to)[kOctet], const Row<kKept>& row, const OctetRow& from,
                               float absent, int at) {
  if (from.data == nullptr)
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) to[j] = absent;
  else if constexpr (Row<kKept>::kIsWhole)
    unpack(to, load_octet<Reuse::some>(from.data, from.type, at), from.type);
  else
    from.template load<Reuse::some>(to, at, row.left(at));
}

// Sums of scaled rows: what the scale is, and what they are then.
struct Moments {
  float scale, mean, squares;
};

// From mean_of(scale, scratch) and squares_of(scale, mean, scratch), each over the whole row, less
// `pivot`. kHasBlock: no other row is in the block.
template <bool kHasBlock, class MeanOf, class SquaresOf>
__device__ Moments moments(float eps, float pivot, MeanOf mean_of, SquaresOf squares_of) {
  __shared__ float scratch[4][kMostWarps];
  Moments found{1.0F, mean_of(1.0F, scratch[0]), 0.0F};
  found.squares = squares_of(1.0F, found.mean, scratch[1]);
  found.scale = range_scale(found.squares, eps);
  // Deviations that small beside such a mean are 0, and the mean need not bear the scale.
  if (found.scale > 1.0F && fmaxf(fabsf(found.mean), fabsf(pivot)) > 1.0F) found.scale = 1.0F;
  // Why a vote: short rows share a warp, and all of it must meet in the sums.
  const bool is_scaled = found.scale != 1.0F;
  if (kHasBlock ? is_scaled : __any_sync(kWholeWarp, is_scaled)) {
    found.mean = mean_of(found.scale, scratch[2]);
    found.squares = squares_of(found.scale, found.mean, scratch[3]);
  }
  return found;
}

template <int kKept>
__global__ void __launch_bounds__(most_threads(kKept)) rows(const RowsCall call) {
  constexpr bool kIsWhole = Row<kKept>::kIsWhole;
  const long long r = static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
  Row<kKept> row(call, r);
  const OctetRow x(call.x, r, kIsWhole);
  row.load_kept(row.kept, x);
  if (call.residual.data != nullptr) add_residual(row, x, OctetRow(call.residual, r, kIsWhole));

  __shared__ float scratch_of_pivot[kMostWarps];
  const float pivot = call.has_pivot ? pivot_of(row, scratch_of_pivot) : 0.0F;
  const Moments found = moments<false>(
      call.eps, pivot,
      [&](float scale, auto& scratch) {
        return mean_of(row, call.inverse, scale, pivot * scale, scratch);
      },
      [&](float scale, float mean, auto& scratch) {
        return squares_of(row, scale, pivot * scale, mean, scratch);
      });
  const float root = root_of(found.squares, call.inverse, call.eps, found.scale);

  const OctetRow y(call.y, r, kIsWhole);
  const OctetRow w(call.w, 0, kIsWhole);
  const OctetRow b(call.b, 0, kIsWhole);
  row.for_each([&](const float(&s)[kOctet], int at) {
    float factor[kOctet];
    float shift[kOctet];
    float v[kOctet];
    load_parameter(factor, row, w, 1.0F, at);
    load_parameter(shift, row, b, 0.0F, at);
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) v[j] =
        fmaf((s[j] * found.scale - pivot * found.scale - found.mean) * root, factor[j], shift[j]);
    row.store(v, y, at);
  });
}

// w or b at pack i of the row, `absent` where there is none.
template <class T, int kKept, bool kFills>
__device__ void load_parameter(float (&to)[kOctet], const RowPacks<kKept, kFills>& row, int i,
                               const Matrix& from, float absent) {
  if (from.data != nullptr && row.has(i)) {
    const Pack pack = static_cast<const Pack*>(from.data)[row.at(i)];
    unpack<T>(to, pack);
  } else {
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) to[j] = absent;
  }
}

// The same of rows that RowPacks can hold, all of one type of 16 bits: to the same bits. Why an
// instance without parameters: fewer registers, and loads that can be under way earlier.
template <class T, int kKept, bool kFills, bool kHasResidual, bool kHasParameters>
__global__ void __launch_bounds__(most_threads(kKept), kKept == 4 ? 2 : 1)
    whole(const RowsCall call) {
  static_assert(kPack<T> == kOctet);
  const RowPacks<kKept, kFills> row(call.rows, call.cols / kOctet);
  Pack kept[kKept];
  row.load(kept, static_cast<const T*>(call.x.data), call.x.row_stride);
  if constexpr (kHasResidual) {
    Pack other[kKept];
    row.load(other, static_cast<const T*>(call.residual.data), call.residual.row_stride);
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
      float s[kOctet];
      float added[kOctet];
      unpack<T>(s, kept[i]);
      unpack<T>(added, other[i]);
      ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) s[j] = s[j] + added[j];
      kept[i] = pack<T>(s);
      row.store(static_cast<T*>(call.sum.data), call.sum.row_stride, i, kept[i]);
    }
  }

  const Moments found = moments<kFills>(
      call.eps, 0.0F,
      [&](float scale, auto& scratch) {
        float sum = 0;
        ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
          float s[kOctet];
          unpack<T>(s, kept[i]);
          ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) sum += s[j] * scale;
        }
        keep_packed(kept);
        return row_sum(sum, scratch) * call.inverse;
      },
      [&](float scale, float mean, auto& scratch) {
        float squares = 0;
        ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) if (row.has(i)) {
          float s[kOctet];
          unpack<T>(s, kept[i]);
          ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) {
            const float deviation = s[j] * scale - mean;
            squares = fmaf(deviation, deviation, squares);
          }
        }
        keep_packed(kept);
        return row_sum(squares, scratch);
      });
  const float root = root_of(found.squares, call.inverse, call.eps, found.scale);

  // w and b not before the sums, and of two packs at a time: registers for more rows under way are
  // worth more.
  constexpr int kAtOnce = kKept == 1 ? 1 : 2;
  ROOFTILE_UNROLL for (int first = 0; first < kKept; first += kAtOnce) {
    float factor[kAtOnce][kOctet];
    float shift[kAtOnce][kOctet];
    ROOFTILE_UNROLL for (int i = 0; i < kAtOnce; ++i) {
      const Matrix none{};
      load_parameter<T>(factor[i], row, first + i, kHasParameters ? call.w : none, 1.0F);
      load_parameter<T>(shift[i], row, first + i, kHasParameters ? call.b : none, 0.0F);
    }
    ROOFTILE_UNROLL for (int i = 0; i < kAtOnce; ++i) {
      float v[kOctet];
      unpack<T>(v, kept[first + i]);
      ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) v[j] =
          fmaf(fmaf(v[j], found.scale, -found.mean) * root, factor[i][j], shift[i][j]);
      row.store(static_cast<T*>(call.y.data), call.y.row_stride, first + i, pack<T>(v));
    }
  }
}

}  // namespace

#else

namespace {

RowsCall call_of(const RowsCall& fixed, const Arguments& args) {
  RowsCall call = fixed;
  call.y = matrix_of(args["y"]);
  call.x = matrix_of(args["x"]);
  if (args["residual"].is_present()) {
    call.sum = matrix_of(args["sum"]);
    call.residual = matrix_of(args["residual"]);
  }
  if (args["w"].is_present()) call.w = matrix_of(args["w"]);
  if (args["b"].is_present()) call.b = matrix_of(args["b"]);
  return call;
}

bool has_whole_octets(const Arguments& args) {
  if (args["x"].extent(1) % 8 != 0) return false;
  for (const char* name : {"y", "sum", "x", "residual", "w", "b"})
    if (!is_octet_aligned(args[name])) return false;
  return true;
}

Support supports(const Problem& problem, const DeviceProperties&) {
  if (problem.axis("cols") > 1 << 30) return unsupported("cols: at most 2^30");
  return supports_row_blocks(problem);
}

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const std::int64_t kept = config.at("octets");
  const std::int64_t octets = octets_of(problem.axis("cols"));
  const std::uint32_t threads = row_threads(octets, kept, most_threads(static_cast<int>(kept)));
  const LaunchShape shape = row_blocks(problem.axis("rows"), threads);
  const std::string type = packed_type(problem);
  const std::string number = std::to_string(kept);
  const bool has_parameters = problem.has("w") || problem.has("b");
  const GpuKernel whole = find_kernel(
      sm90_rows_kernels, type == "void" || octets > kept * threads
                             ? "rows<" + number + ">"
                             : "whole<" + type + ", " + number + ", " + fills(shape, octets, kept) +
                                   (problem.has("residual") ? ", true" : ", false") +
                                   (has_parameters ? ", true>" : ", false>"));
  const GpuKernel any = find_kernel(sm90_rows_kernels, "rows<0>");
  const RowsCall fixed{.rows = problem.axis("rows"),
                       .cols = static_cast<int>(problem.axis("cols")),
                       .eps = static_cast<float>(problem.number("eps")),
                       .inverse = 1.0F / static_cast<float>(problem.axis("cols")),
                       .has_pivot = type == "void"};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (fixed.rows == 0) return;
    launch(*context.stream, has_whole_octets(args) ? whole : any, shape, call_of(fixed, args));
  }};
}

}  // namespace

extern const KernelDef sm90_rows;
const KernelDef sm90_rows{
    .op = "layernorm",
    .name = "sm90_rows",
    .idea = "a row in the registers of a warp or a block, x read once; any types, strides",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .configs =
        [](const Problem& problem, const DeviceProperties&) {
          return kept_configs("octets", octets_of(problem.axis("cols")));
        },
    .prepare = prepare,
};

#endif

#define WHOLE_ENTRY(...) ROOFTILE_KERNEL_ENTRY(whole<__VA_ARGS__>)
#define WHOLE_ENTRIES(type, kept, fills)                                                     \
  WHOLE_ENTRY(type, kept, fills, false, false), WHOLE_ENTRY(type, kept, fills, false, true), \
      WHOLE_ENTRY(type, kept, fills, true, false), WHOLE_ENTRY(type, kept, fills, true, true)
#define WHOLE_ENTRIES_OF(type) \
  WHOLE_ENTRIES(type, 1, false), WHOLE_ENTRIES(type, 4, false), WHOLE_ENTRIES(type, 4, true)
ROOFTILE_KERNEL_TABLE(sm90_rows_kernels, ROOFTILE_KERNEL_ENTRY(rows<0>),
                      ROOFTILE_KERNEL_ENTRY(rows<1>), ROOFTILE_KERNEL_ENTRY(rows<4>),
                      WHOLE_ENTRIES_OF(bf16), WHOLE_ENTRIES_OF(fp16))

}  // namespace rooftile::ops::layernorm
