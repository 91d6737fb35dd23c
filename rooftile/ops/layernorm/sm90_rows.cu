// SPDX-License-Identifier: Apache-2.0
// Layer normalisation with a row in the registers of a warp or a block as f32: x is read once, the
// mean and the squares of the deviations from it are summed one after the other, so that nothing
// cancels. Longer rows than registers hold are read again, from the cache.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/ops/sm90_range.h"
#include "rooftile/tile/octet.h"
#include "rooftile/tile/row_reduce.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/octet_blocks.h"
#include "rooftile/ops/row_blocks.h"
#endif

namespace rooftile::ops::layernorm {

extern const KernelTable sm90_rows_kernels;

namespace {

// Threads of a row: two blocks that keep 4 octets a thread leave it 80 registers.
constexpr int most_threads(int kept) { return kept == 4 ? 384 : 1024; }

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
  double eps = 0;
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

// The thread has octets threadIdx.x + i * blockDim.x of its row, of which it keeps kKept in
// registers; none where rows are not whole aligned octets. Both sum in one order, to the same bits.
template <int kKept>
struct Row {
  static constexpr bool kIsWhole = kKept != 0;
  OctetRow s;  // what is normalised, once it is in memory
  int cols;    // 0 beyond the last row
  int first;
  int step;
  float kept[kIsWhole ? kKept : 1][kOctet];

  __device__ Row(const RowsCall& call, long long r)
      : s(call.residual.data != nullptr ? call.sum : call.x, r, kIsWhole),
        cols(r < call.rows ? call.cols : 0),
        first(static_cast<int>(threadIdx.x) * kOctet),
        step(static_cast<int>(blockDim.x) * kOctet) {}

  // All loads first, then what waits for them.
  __device__ void load_kept(float (&to)[kIsWhole ? kKept : 1][kOctet], const OctetRow& from) const {
    Octet raw[kIsWhole ? kKept : 1];
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
      float again[kOctet];
      load<Reuse::some>(again, s, at);
      visit(again, at);
    }
  }
};

__device__ inline void add_octet(float (&s)[kOctet], const float (&added)[kOctet], Element type) {
  ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) s[j] = round_element(type, s[j] + added[j]);
}

// Writes the sum, and keeps what the row keeps of it.
template <int kKept>
__device__ void add_residual(Row<kKept>& row, const RowsCall& call, const OctetRow& x,
                             const OctetRow& residual) {
  if constexpr (kKept != 0) {
    float added[kKept][kOctet];
    row.load_kept(added, residual);
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
      add_octet(row.kept[i], added[i], call.sum.type);
      const int at = row.first + i * row.step;
      if (at < row.cols) row.store(row.kept[i], row.s, at);
    }
  }
  ROOFTILE_NO_UNROLL for (int at = row.first + kKept * row.step; at < row.cols; at += row.step) {
    float s[kOctet];
    float other[kOctet];
    row.template load<Reuse::none>(s, x, at);
    row.template load<Reuse::none>(other, residual, at);
    add_octet(s, other, call.sum.type);
    row.store(s, row.s, at);
  }
}

template <int kKept>
__device__ float mean_of(Row<kKept>& row, int cols, float scale, float (&scratch)[kMostWarps]) {
  float sum = 0;
  row.for_each([&](const float(&s)[kOctet], int) {
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) sum += s[j] * scale;
  });
  return row_sum(sum, scratch) / static_cast<float>(cols);
}

// The sum of (s * scale - mean)^2.
template <int kKept>
__device__ float squares_of(Row<kKept>& row, float scale, float mean,
                            float (&scratch)[kMostWarps]) {
  float squares = 0;
  row.for_each([&](const float(&s)[kOctet], int at) {
    const int left = row.left(at);
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) {
      const float deviation = j < left ? s[j] * scale - mean : 0.0F;
      squares = fmaf(deviation, deviation, squares);
    }
  });
  return row_sum(squares, scratch);
}

// Eight of w or b, `absent` where there is none: issued by load(), waited for by get().
template <bool kIsWhole>
struct Parameters {
  OctetRow from;
  float absent;
  Octet raw;

  __device__ Parameters(const Matrix& vector, float value)
      : from(vector, 0, kIsWhole), absent(value), raw() {}
  __device__ void load(int at) {
    if (kIsWhole && from.data != nullptr) raw = load_octet<Reuse::some>(from.data, from.type, at);
  }
  __device__ void get(float (&to)[kOctet], int at, int left) const {
    if (from.data == nullptr)
      ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) to[j] = absent;
    else if (kIsWhole)
      unpack(to, raw, from.type);
    else
      from.template load<Reuse::some>(to, at, left);
  }
};

template <int kKept>
__device__ void write(Row<kKept>& row, const RowsCall& call, long long r, float scale, float mean,
                      float root) {
  const OctetRow y(call.y, r, Row<kKept>::kIsWhole);
  Parameters<Row<kKept>::kIsWhole> w(call.w, 1.0F);
  Parameters<Row<kKept>::kIsWhole> b(call.b, 0.0F);
  row.for_each([&](const float(&s)[kOctet], int at) {
    float factor[kOctet];
    float shift[kOctet];
    float v[kOctet];
    w.load(at);
    b.load(at);
    w.get(factor, at, row.left(at));
    b.get(shift, at, row.left(at));
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) v[j] =
        fmaf((s[j] * scale - mean) * root, factor[j], shift[j]);
    row.store(v, y, at);
  });
}

template <int kKept>
__global__ void __launch_bounds__(most_threads(kKept), kKept == 4 ? 2 : 1)
    rows(const RowsCall call) {
  __shared__ float scratch[4][kMostWarps];
  const long long r = static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
  Row<kKept> row(call, r);
  const OctetRow x(call.x, r, Row<kKept>::kIsWhole);
  row.load_kept(row.kept, x);
  if (call.residual.data != nullptr)
    add_residual(row, call, x, OctetRow(call.residual, r, Row<kKept>::kIsWhole));

  float mean = mean_of(row, call.cols, 1.0F, scratch[0]);
  float squares = squares_of(row, 1.0F, mean, scratch[1]);
  float scale = range_scale(squares, call.eps);
  // Deviations that small beside such a mean are 0, and the mean need not bear the scale.
  if (scale > 1.0F && fabsf(mean) > 1.0F) scale = 1.0F;
  // Why a vote: short rows share a warp, and all of it must meet in the sums.
  if (__any_sync(kWholeWarp, scale != 1.0F)) {
    mean = mean_of(row, call.cols, scale, scratch[2]);
    squares = squares_of(row, scale, mean, scratch[3]);
  }
  write(row, call, r, scale, mean, root_of(squares, call.cols, call.eps, scale));
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
  const std::uint32_t threads =
      row_threads(octets_of(problem.axis("cols")), kept, most_threads(static_cast<int>(kept)));
  const LaunchShape shape = row_blocks(problem.axis("rows"), threads);
  const GpuKernel whole = find_kernel(sm90_rows_kernels, "rows<" + std::to_string(kept) + ">");
  const GpuKernel any = find_kernel(sm90_rows_kernels, "rows<0>");
  const RowsCall fixed{.rows = problem.axis("rows"),
                       .cols = static_cast<int>(problem.axis("cols")),
                       .eps = problem.number("eps")};
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
    .idea = "a row in the registers of a warp or a block as f32, x read once; any types, strides",
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

ROOFTILE_KERNEL_TABLE(sm90_rows_kernels, ROOFTILE_KERNEL_ENTRY(rows<0>),
                      ROOFTILE_KERNEL_ENTRY(rows<1>), ROOFTILE_KERNEL_ENTRY(rows<4>))

}  // namespace rooftile::ops::layernorm
