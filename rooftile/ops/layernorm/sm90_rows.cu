// SPDX-License-Identifier: Apache-2.0
// Layer normalisation with a row in the registers of a warp or a block as f32: x is read once, the
// mean and the squares of the deviations from it are summed one after the other, so that nothing
// cancels. Longer rows than registers hold are read again, from the cache. Where all are of one
// type of 16 bits the row stays packed, and w and b are asked for before the sums: to the same
// bits.
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

// Threads of a row: two blocks that keep 4 octets a thread leave it 80 registers, or 64 packed.
constexpr int most_threads(int kept, bool is_packed) {
  return kept != 4 ? 1024 : is_packed ? 512 : 384;
}

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

// Eight elements in registers: in f32, or as they are in memory where their type T is known.
template <class T>
struct KeptOctet {
  static constexpr bool kIsPacked = true;
  uint4 bits;
  __device__ void set(const Octet& raw, Element) { bits = raw.low; }
  __device__ void set(const float (&v)[kOctet]) { bits = pack<T>(v); }
  __device__ void get(float (&v)[kOctet]) const { unpack<T>(v, bits); }
};
template <>
struct KeptOctet<void> {
  static constexpr bool kIsPacked = false;
  float values[kOctet];
  __device__ void set(const Octet& raw, Element type) { unpack(values, raw, type); }
  __device__ void set(const float (&v)[kOctet]) {
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) values[j] = v[j];
  }
  __device__ void get(float (&v)[kOctet]) const {
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) v[j] = values[j];
  }
};

template <class T>
constexpr Element kElementOf = Element::f32;
template <>
constexpr Element kElementOf<bf16> = Element::bf16;
template <>
constexpr Element kElementOf<fp16> = Element::fp16;

// A row of a matrix whose type is T, where it is known.
template <class T>
__device__ inline OctetRow octet_row(const Matrix& matrix, long long r, bool is_whole) {
  OctetRow row(matrix, r, is_whole);
  if constexpr (KeptOctet<T>::kIsPacked) row.type = kElementOf<T>;
  return row;
}

// The thread has octets threadIdx.x + i * blockDim.x of its row, of which it keeps kKept in
// registers; none where rows are not whole aligned octets. All sum in one order, to the same bits.
template <int kKept, class T>
struct Row {
  static constexpr bool kIsWhole = kKept != 0;
  OctetRow s;  // what is normalised, once it is in memory
  int cols;    // 0 beyond the last row
  int first;
  int step;
  static constexpr int kHeld = kIsWhole ? kKept : 1;
  KeptOctet<T> kept[kHeld];

  __device__ Row(const RowsCall& call, long long r)
      : s(octet_row<T>(call.residual.data != nullptr ? call.sum : call.x, r, kIsWhole)),
        cols(r < call.rows ? call.cols : 0),
        first(static_cast<int>(threadIdx.x) * kOctet),
        step(static_cast<int>(blockDim.x) * kOctet) {}

  // All loads first, then what waits for them.
  __device__ void load_kept(KeptOctet<T> (&to)[kHeld], const OctetRow& from) const {
    Octet raw[kHeld];
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
      raw[i] = Octet{};
      if (first + i * step < cols)
        raw[i] = load_octet(from.data, from.type, from.start + first + i * step);
    }
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) to[i].set(raw[i], from.type);
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

  // visit(octet, column, number) in the same order each time; beyond the kept ones from memory.
  template <class Visit>
  __device__ void for_each(Visit visit) {
    float octet[kOctet];
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) if (first + i * step < cols) {
      kept[i].get(octet);
      visit(octet, first + i * step, i);
    }
    ROOFTILE_NO_UNROLL for (int at = first + kKept * step; at < cols; at += step) {
      load<Reuse::some>(octet, s, at);
      visit(octet, at, kHeld);
    }
  }
};

__device__ inline void add_octet(float (&s)[kOctet], const float (&added)[kOctet], Element type) {
  ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) s[j] = round_element(type, s[j] + added[j]);
}

// Writes the sum, and keeps what the row keeps of it.
template <int kKept, class T>
__device__ void add_residual(Row<kKept, T>& row, const OctetRow& x, const OctetRow& residual) {
  if constexpr (kKept != 0) {
    KeptOctet<T> added[kKept];
    row.load_kept(added, residual);
    ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
      float s[kOctet];
      float other[kOctet];
      row.kept[i].get(s);
      added[i].get(other);
      add_octet(s, other, row.s.type);
      row.kept[i].set(s);
      const int at = row.first + i * row.step;
      if (at < row.cols) row.store(s, row.s, at);
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

template <int kKept, class T>
__device__ float mean_of(Row<kKept, T>& row, int cols, float scale, float (&scratch)[kMostWarps]) {
  float sum = 0;
  row.for_each([&](const float(&s)[kOctet], int, int) {
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) sum += s[j] * scale;
  });
  return row_sum(sum, scratch) / static_cast<float>(cols);
}

// The sum of (s * scale - mean)^2.
template <int kKept, class T>
__device__ float squares_of(Row<kKept, T>& row, float scale, float mean,
                            float (&scratch)[kMostWarps]) {
  float squares = 0;
  row.for_each([&](const float(&s)[kOctet], int at, int) {
    const int left = row.left(at);
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) {
      const float deviation = j < left ? s[j] * scale - mean : 0.0F;
      squares = fmaf(deviation, deviation, squares);
    }
  });
  return row_sum(squares, scratch);
}

// w or b, `absent` where there is none. Where rows are packed its octets are asked for at once, as
// many as the row keeps; else each when it is needed.
template <int kKept, class T>
struct Parameters {
  static constexpr bool kIsWhole = kKept != 0;
  static constexpr bool kIsAsked = kIsWhole && KeptOctet<T>::kIsPacked;
  OctetRow from;
  float absent;
  Octet asked[kIsAsked ? kKept : 1];

  __device__ Parameters(const Matrix& vector, float value, const Row<kKept, T>& row)
      : from(octet_row<T>(vector, 0, kIsWhole)), absent(value), asked() {
    if constexpr (kIsAsked)
      if (from.data != nullptr) ROOFTILE_UNROLL for (int i = 0; i < kKept; ++i) {
          const int at = row.first + i * row.step;
          if (at < row.cols) asked[i] = load_octet<Reuse::some>(from.data, from.type, at);
        }
  }

  __device__ void get(float (&to)[kOctet], int at, int number, int left) const {
    if (from.data == nullptr)
      ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) to[j] = absent;
    else if (kIsAsked && number < kKept)
      unpack(to, asked[kIsAsked ? number : 0], from.type);
    else if (kIsWhole)
      unpack(to, load_octet<Reuse::some>(from.data, from.type, at), from.type);
    else
      from.template load<Reuse::some>(to, at, left);
  }
};

template <int kKept, class T>
__device__ void write(Row<kKept, T>& row, const OctetRow& y, const Parameters<kKept, T>& w,
                      const Parameters<kKept, T>& b, float scale, float mean, float root) {
  row.for_each([&](const float(&s)[kOctet], int at, int number) {
    float factor[kOctet];
    float shift[kOctet];
    float v[kOctet];
    w.get(factor, at, number, row.left(at));
    b.get(shift, at, number, row.left(at));
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) v[j] =
        fmaf((s[j] * scale - mean) * root, factor[j], shift[j]);
    row.store(v, y, at);
  });
}

template <int kKept, class T>
__global__ void __launch_bounds__(most_threads(kKept, KeptOctet<T>::kIsPacked), kKept == 4 ? 2 : 1)
    rows(const RowsCall call) {
  __shared__ float scratch[4][kMostWarps];
  constexpr bool kIsWhole = Row<kKept, T>::kIsWhole;
  const long long r = static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
  Row<kKept, T> row(call, r);
  const OctetRow x = octet_row<T>(call.x, r, kIsWhole);
  row.load_kept(row.kept, x);
  const Parameters<kKept, T> w(call.w, 1.0F, row);
  const Parameters<kKept, T> b(call.b, 0.0F, row);
  if (call.residual.data != nullptr) add_residual(row, x, octet_row<T>(call.residual, r, kIsWhole));

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
  write(row, octet_row<T>(call.y, r, kIsWhole), w, b, scale, mean,
        root_of(squares, call.cols, call.eps, scale));
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

/// The type of 16 bits of all arguments; none where they differ.
std::string packed_type(const Problem& problem) {
  const DType dtype = problem.dtype("x");
  if (dtype != DType::bf16 && dtype != DType::fp16) return "";
  for (const ArgChoice& arg : problem.args)
    if (arg.is_present && arg.dtype != dtype) return "";
  return std::string(name(dtype));
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
  const std::string type = packed_type(problem);
  const std::uint32_t threads = row_threads(octets_of(problem.axis("cols")), kept,
                                            most_threads(static_cast<int>(kept), !type.empty()));
  const LaunchShape shape = row_blocks(problem.axis("rows"), threads);
  const GpuKernel whole = find_kernel(sm90_rows_kernels, "rows<" + std::to_string(kept) + ", " +
                                                             (type.empty() ? "void" : type) + ">");
  const GpuKernel any = find_kernel(sm90_rows_kernels, "rows<0, void>");
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

#define ROWS_ENTRY(...) ROOFTILE_KERNEL_ENTRY(rows<__VA_ARGS__>)
ROOFTILE_KERNEL_TABLE(sm90_rows_kernels, ROWS_ENTRY(0, void), ROWS_ENTRY(1, void),
                      ROWS_ENTRY(4, void), ROWS_ENTRY(1, bf16), ROWS_ENTRY(4, bf16),
                      ROWS_ENTRY(1, fp16), ROWS_ENTRY(4, fp16))

}  // namespace rooftile::ops::layernorm
