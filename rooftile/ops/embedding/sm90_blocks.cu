// SPDX-License-Identifier: Apache-2.0
// Rows of a table in GGUF blocks by number, each thread decoding eight neighbours through the
// block's decoder of formats/.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/formats/gguf_q2_k.h"
#include "rooftile/formats/gguf_q3_k.h"
#include "rooftile/formats/gguf_q4.h"
#include "rooftile/formats/gguf_q4_k.h"
#include "rooftile/formats/gguf_q5.h"
#include "rooftile/formats/gguf_q5_k.h"
#include "rooftile/formats/gguf_q6_k.h"
#include "rooftile/formats/gguf_q8.h"
#include "rooftile/tile/octet.h"
#else
#include "rooftile/op/kernel.h"
#include "rooftile/ops/octet_blocks.h"
#endif

namespace rooftile::ops::embedding {

extern const KernelTable sm90_blocks_kernels;

namespace {

struct BlocksCall {
  tile::Matrix y{};
  const void* table = nullptr;
  long long row_blocks = 0;  // from row to row of the table
  const int* ids = nullptr;
  long long ids_stride = 0;
  long long rows = 0, cols = 0, vocab = 0;
  float scale = 1;
  bool is_vector = false;  // y
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

template <class Block>
__global__ void __launch_bounds__(256) blocks(const BlocksCall call) {
  const long long c = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * kOctet;
  if (c >= call.cols) return;
  const long long rows_of_grid = static_cast<long long>(gridDim.y) * blockDim.y;
  for (long long r = static_cast<long long>(blockIdx.y) * blockDim.y + threadIdx.y; r < call.rows;
       r += rows_of_grid) {
    const long long id = call.ids[r * call.ids_stride];
    const bool is_there = id >= 0 && id < call.vocab;
    const Block& block = static_cast<const Block*>(
        call.table)[(is_there ? id : 0) * call.row_blocks + c / Block::kElements];
    const int first = static_cast<int>(c % Block::kElements);
    float v[kOctet];
    ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) {
      v[j] = __uint_as_float(0x7fffffffU);
      if (is_there) v[j] = block.value(first + j) * call.scale;
    }
    OctetRow(call.y, r, call.is_vector).store(v, c, call.cols - c);
  }
}

}  // namespace

#else

namespace {

Support supports(const Problem& problem, const DeviceProperties& properties) {
  if (!info(problem.dtype("table")).is_block()) return unsupported("table must be in GGUF blocks");
  if (problem.axis("cols") > 1 && problem.arg("table").strides[1] != 1)
    return unsupported("table: elements of a row must be adjacent");
  return supports_octet_blocks(problem, properties);
}

Prepared prepare(const Problem& problem, Device&, const Config&) {
  const DType dtype = problem.dtype("table");
  const GpuKernel kernel =
      find_kernel(sm90_blocks_kernels, "blocks<" + std::string(name(dtype)) + ">");
  const OctetBlocks grid = octet_blocks(problem, {}, 1);
  const BlocksCall fixed{.row_blocks = problem.arg("table").strides[0] / info(dtype).unit_elements,
                         .rows = problem.axis("rows"),
                         .cols = problem.axis("cols"),
                         .vocab = problem.axis("vocab"),
                         .scale = static_cast<float>(problem.number("scale"))};
  return {.run = [=](const Context& context, const Arguments& args) {
    if (grid.is_empty()) return;
    BlocksCall call = fixed;
    call.y = matrix_of(args["y"]);
    call.table = args["table"].data;
    call.ids = args["ids"].as<const int>();
    call.ids_stride = args["ids"].stride(0);
    call.is_vector = is_octet_aligned(args["y"]);
    launch(*context.stream, kernel, grid.shape, call);
  }};
}

}  // namespace

extern const KernelDef sm90_blocks;
const KernelDef sm90_blocks{
    .op = "embedding",
    .name = "sm90_blocks",
    .idea = "a table in GGUF blocks, 8 neighbours a thread through the block's decoder",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_blocks_kernels, ROOFTILE_KERNEL_ENTRY(blocks<q4_0>),
                      ROOFTILE_KERNEL_ENTRY(blocks<q4_1>), ROOFTILE_KERNEL_ENTRY(blocks<q5_0>),
                      ROOFTILE_KERNEL_ENTRY(blocks<q5_1>), ROOFTILE_KERNEL_ENTRY(blocks<q8_0>),
                      ROOFTILE_KERNEL_ENTRY(blocks<q2_k>), ROOFTILE_KERNEL_ENTRY(blocks<q3_k>),
                      ROOFTILE_KERNEL_ENTRY(blocks<q4_k>), ROOFTILE_KERNEL_ENTRY(blocks<q5_k>),
                      ROOFTILE_KERNEL_ENTRY(blocks<q6_k>))

}  // namespace rooftile::ops::embedding
