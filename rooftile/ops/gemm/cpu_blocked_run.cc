// SPDX-License-Identifier: Apache-2.0
// The loops of the blocked multiplication around packing, register kernel and epilogue.
#include <algorithm>

#include "rooftile/ops/gemm/cpu_blocked.h"
#include "rooftile/ops/gemm/cpu_pack.h"

namespace rooftile::ops::gemm {
namespace {

// One call in flight: the plan, and where its packed parts lie.
struct Run {
  const GemmCall& call;
  const BlockedPlan& plan;
  PackFn pack;
  float* a;  // one chunk: [k block][panel of mr rows][unit][mr]
  float* b;  // if shared: [column block][k block][panel of nr columns][unit][nr]
  char* slots;
  std::int64_t first_row;   // of this chunk
  std::int64_t chunk_rows;  // rows it has

  [[nodiscard]] std::int64_t units(std::int64_t k_block) const {
    return std::min(plan.block_units, plan.units - k_block * plan.block_units);
  }
  [[nodiscard]] std::int64_t cols(std::int64_t col_block) const {
    return std::min(plan.nc, call.n - col_block * plan.nc);
  }
  // Padded to whole panels.
  [[nodiscard]] std::int64_t width(std::int64_t col_block) const {
    return ceil_div(cols(col_block), plan.micro.nr) * plan.micro.nr;
  }
  // Where the packed rows of A from `row` of the chunk on begin; `row` is a multiple of mr.
  [[nodiscard]] float* packed_a(std::int64_t k_block, std::int64_t row) const {
    return a + plan.chunk_rows * k_block * plan.block_units + row * units(k_block);
  }
  [[nodiscard]] float* packed_b(std::int64_t col_block, std::int64_t k_block) const {
    return b + col_block * plan.nc * plan.units + width(col_block) * k_block * plan.block_units;
  }
};

// Elements along k in a block, and the first of them.
std::int64_t first_k(const Run& run, std::int64_t k_block) {
  return k_block * run.plan.block_units * (run.plan.micro.unit == PackUnit::bf16_pair ? 2 : 1);
}
std::int64_t num_ks(const Run& run, std::int64_t k_block) {
  return std::min(first_k(run, k_block + 1), run.call.k) - first_k(run, k_block);
}

void pack_a(const Run& run, std::int64_t k_block, std::int64_t row, std::int64_t rows) {
  const Matrix& a = run.call.a;
  run.pack({.data = at(a.data, a.dtype,
                       (run.first_row + row) * a.row_stride + first_k(run, k_block) * a.col_stride),
            .dtype = a.dtype,
            .lane_stride = a.row_stride,
            .k_stride = a.col_stride,
            .lanes = rows,
            .ks = num_ks(run, k_block),
            .width = run.plan.micro.mr,
            .panels = run.packed_a(k_block, row)},
           run.plan.micro.unit);
}

void pack_b(const Run& run, std::int64_t k_block, std::int64_t col_block, float* panels) {
  const Matrix& b = run.call.b;
  if (info(b.dtype).is_block())
    return pack_blocks({.data = at(b.data, b.dtype, col_block * run.plan.nc * b.col_stride),
                        .dtype = b.dtype,
                        .lane_stride = b.col_stride,
                        .k_stride = 1,
                        .lanes = run.cols(col_block),
                        .ks = num_ks(run, k_block),
                        .width = run.plan.micro.nr,
                        .panels = panels,
                        .first_k = first_k(run, k_block)},
                       run.pack);
  run.pack(
      {.data = at(b.data, b.dtype,
                  first_k(run, k_block) * b.row_stride + col_block * run.plan.nc * b.col_stride),
       .dtype = b.dtype,
       .lane_stride = b.col_stride,
       .k_stride = b.row_stride,
       .lanes = run.cols(col_block),
       .ks = num_ks(run, k_block),
       .width = run.plan.micro.nr,
       .panels = panels},
      run.plan.micro.unit);
}

// All of the chunk's A, and B with the first chunk if it is shared.
void pack_shared(const Run& run, Launch launch) {
  const BlockedPlan& plan = run.plan;
  const std::int64_t row_groups = ceil_div(run.chunk_rows, plan.mc);
  const std::int64_t a_jobs = row_groups * plan.k_blocks;
  const bool with_b = plan.shares_b && run.first_row == 0;
  const std::int64_t b_jobs = with_b ? plan.col_blocks * plan.k_blocks : 0;
  share_out(launch, plan.workers, a_jobs + b_jobs, [&](std::int64_t, std::int64_t job) {
    if (job < b_jobs) {
      const std::int64_t col_block = job / plan.k_blocks;
      const std::int64_t k_block = job % plan.k_blocks;
      return pack_b(run, k_block, col_block, run.packed_b(col_block, k_block));
    }
    const std::int64_t row = (job - b_jobs) / plan.k_blocks * plan.mc;
    pack_a(run, (job - b_jobs) % plan.k_blocks, row, std::min(plan.mc, run.chunk_rows - row));
  });
}

// What the tiles of a column panel fetch early: B's next block of k, where its rows are contiguous.
// (Where its columns are, the next block lies behind this one, and the prefetcher knows.)
struct Ahead {
  const char* first = nullptr;  // column 0 of the block; nothing if null
  std::int64_t row_bytes = 0;
  std::int64_t element_bytes = 0;
  std::int64_t rows = 0;
};

Ahead rows_ahead(const Run& run, std::int64_t k_block, std::int64_t col_block) {
  const Matrix& b = run.call.b;
  if (info(b.dtype).is_block()) return {};
  if (run.plan.shares_b || b.col_stride != 1 || k_block + 1 >= run.plan.k_blocks) return {};
  const std::int64_t element_bytes = b.dtype == DType::f32 ? 4 : 2;
  return {.first = at(b.data, b.dtype,
                      first_k(run, k_block + 1) * b.row_stride + col_block * run.plan.nc),
          .row_bytes = b.row_stride * element_bytes,
          .element_bytes = element_bytes,
          .rows = num_ks(run, k_block + 1)};
}

// C[rows, width] (+)= A . B for one block of k.   A: [rows][kc] in cache, B: [kc][width]
void multiply_block(const Run& run, std::int64_t k_block, std::int64_t row, std::int64_t rows,
                    std::int64_t width, const float* b, float* c, const Ahead& ahead) {
  const MicroKernel& micro = run.plan.micro;
  const std::int64_t units = run.units(k_block);
  for (std::int64_t j = 0; j < width; j += micro.nr) {
    std::int64_t row_ahead = 0;
    for (std::int64_t i = 0; i < rows; i += micro.mr, row_ahead += units / 2) {
      const bool fetches = ahead.first != nullptr && row_ahead < ahead.rows;
      micro.run(
          static_cast<int>(std::min<std::int64_t>(micro.mr, rows - i)),
          {.units = units,
           .a = run.packed_a(k_block, row + i),
           .b = b + j * units,
           .c = c + i * run.plan.nc + j,
           .ldc = run.plan.nc,
           .accumulate = k_block > 0,
           .ahead = fetches ? ahead.first + row_ahead * ahead.row_bytes + j * ahead.element_bytes
                            : static_cast<const void*>(b),
           .ahead_stride = fetches ? ahead.row_bytes : 0});
    }
  }
}

// One block of D: all of k, then the epilogue.
void run_task(const Run& run, std::int64_t worker, std::int64_t task) {
  const BlockedPlan& plan = run.plan;
  char* slot = run.slots + worker * plan.slot_bytes;
  auto* own_b = reinterpret_cast<float*>(slot);
  auto* c = reinterpret_cast<float*>(slot + plan.slot_b_bytes);  // [row_block][nc]
  const std::int64_t col_block = task / plan.row_blocks;
  const std::int64_t first = task % plan.row_blocks * plan.row_block;
  const std::int64_t last = std::min(first + plan.row_block, run.chunk_rows);
  if (first >= last) return;  // the last chunk may have fewer row blocks
  const std::int64_t width = run.width(col_block);
  for (std::int64_t k_block = 0; k_block < plan.k_blocks; ++k_block) {
    const float* b = own_b;
    if (plan.shares_b)
      b = run.packed_b(col_block, k_block);
    else
      pack_b(run, k_block, col_block, own_b);
    Ahead ahead = rows_ahead(run, k_block, col_block);
    for (std::int64_t row = first; row < last; row += plan.mc) {
      const std::int64_t rows = std::min(plan.mc, last - row);
      float* block = c + (row - first) * plan.nc;
      multiply_block(run, k_block, row, rows, width, b, block, ahead);
      ahead = {};
      if (k_block + 1 == plan.k_blocks)
        finish_block(run.call, {.acc = block,
                                .ld = plan.nc,
                                .row = run.first_row + row,
                                .col = col_block * plan.nc,
                                .rows = rows,
                                .cols = run.cols(col_block)});
    }
  }
}

}  // namespace

void run_blocked(const GemmCall& call, const BlockedPlan& plan, void* workspace, Launch launch) {
  if (call.m == 0 || call.n == 0) return;
  auto* memory = static_cast<char*>(workspace);
  Run run{.call = call,
          .plan = plan,
          .pack = choose_pack(cpu_isa()),
          .a = reinterpret_cast<float*>(memory),
          .b = reinterpret_cast<float*>(memory + plan.a_bytes),
          .slots = memory + plan.a_bytes + plan.b_bytes,
          .first_row = 0,
          .chunk_rows = 0};
  for (; run.first_row < call.m; run.first_row += plan.chunk_rows) {
    run.chunk_rows = std::min(plan.chunk_rows, call.m - run.first_row);
    pack_shared(run, launch);
    share_out(launch, plan.workers, plan.row_blocks * plan.col_blocks,
              [&](std::int64_t worker, std::int64_t task) { run_task(run, worker, task); });
  }
}

}  // namespace rooftile::ops::gemm
