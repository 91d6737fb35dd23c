// SPDX-License-Identifier: Apache-2.0
// Rows of a table by number, eight elements at a time of any types and strides. Nothing beyond the
// table is read, whatever the ids are.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/octet.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/octet_blocks.h"
#endif

namespace rooftile::ops::embedding {

extern const KernelTable sm90_rows_kernels;

namespace {

struct RowsCall {
  tile::Matrix y{};
  tile::Matrix table{};
  const int* ids = nullptr;
  long long ids_stride = 0;
  long long rows = 0, cols = 0, vocab = 0;
  float scale = 1;
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

// A thread takes kEach octets of a row, blockDim.x octets apart; 0: one of any row.
template <int kEach>
__global__ void __launch_bounds__(256, 4) vector(const RowsCall call) {
  constexpr int kOctets = kEach == 0 ? 1 : kEach;
  const int step = static_cast<int>(blockDim.x) * kOctet;
  const long long first =
      static_cast<long long>(blockIdx.x) * kOctets * step + static_cast<int>(threadIdx.x) * kOctet;
  const long long rows_of_grid = static_cast<long long>(gridDim.y) * blockDim.y;
  ROOFTILE_NO_UNROLL for (long long r =
                              static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y;
                          r < call.rows; r += rows_of_grid) {
    const long long id = call.ids[r * call.ids_stride];
    const bool is_there = id >= 0 && id < call.vocab;
    const OctetRow from(call.table, is_there ? id : 0, kEach != 0);
    const OctetRow to(call.y, r, kEach != 0);
    Octet raw[kOctets];
    if constexpr (kEach != 0)
      ROOFTILE_UNROLL for (int i = 0; i < kOctets;
                           ++i) if (is_there && first + i * step < call.cols) raw[i] =
          load_octet(from.data, from.type, from.start + first + i * step);
    ROOFTILE_UNROLL for (int i = 0; i < kOctets; ++i) {
      const long long left = call.cols - first - i * step;
      if (left <= 0) break;
      float v[kOctet];
      if constexpr (kEach != 0)
        unpack(v, raw[i], from.type);
      else if (is_there)
        from.load(v, first, left);
      ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) v[j] =
          is_there ? v[j] * call.scale : __uint_as_float(0x7fffffffU);
      if constexpr (kEach != 0)
        store_octet(to.data, to.type, to.start + first + i * step, v);
      else
        to.store(v, first, left);
    }
  }
}

}  // namespace

#else

namespace {

Support supports(const Problem& problem, const DeviceProperties& properties) {
  if (info(problem.dtype("table")).is_block())
    return unsupported("table must be f32, bf16 or fp16");
  return supports_octet_blocks(problem, properties);
}

Prepared prepare(const Problem& problem, Device&, const Config& config) {
  const OctetKernels kernels{
      .whole =
          find_kernel(sm90_rows_kernels, "vector<" + std::to_string(config.at("octets")) + ">"),
      .any = find_kernel(sm90_rows_kernels, "vector<0>")};
  const OctetBlocks blocks = octet_blocks(problem, {}, config.at("octets"));
  // The kernel of any rows takes one octet a thread.
  const OctetBlocks single = octet_blocks(problem, {}, 1);
  const RowsCall fixed{.rows = problem.axis("rows"),
                       .cols = problem.axis("cols"),
                       .vocab = problem.axis("vocab"),
                       .scale = static_cast<float>(problem.number("scale"))};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (blocks.is_empty()) return;
    RowsCall call = fixed;
    call.y = matrix_of(args["y"]);
    call.table = matrix_of(args["table"]);
    call.ids = args["ids"].as<const int>();
    call.ids_stride = args["ids"].stride(0);
    const bool is_whole = has_whole_octets(blocks, args["y"]) && is_octet_aligned(args["table"]);
    launch(*context.stream, is_whole ? kernels.whole : kernels.any,
           is_whole ? blocks.shape : single.shape, call);
  }};
}

}  // namespace

extern const KernelDef sm90_rows;
const KernelDef sm90_rows{
    .op = "embedding",
    .name = "sm90_rows",
    .idea = "8 elements at a time of any types and strides",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .configs = [](const Problem&, const DeviceProperties&) { return octet_configs(2); },
    .prepare = prepare,
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_rows_kernels, ROOFTILE_KERNEL_ENTRY(vector<0>),
                      ROOFTILE_KERNEL_ENTRY(vector<1>), ROOFTILE_KERNEL_ENTRY(vector<2>))

}  // namespace rooftile::ops::embedding
