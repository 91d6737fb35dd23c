// SPDX-License-Identifier: Apache-2.0
// A token's cosines and sines in a table in shared memory, which its heads share. A thread has its
// first elements under way while the block fills the table.
#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/matrix.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/ops/rope/sm90_turn.h"
#include "rooftile/tile/octet.h"
#else
#include <memory>

#include "rooftile/op/kernel.h"
#include "rooftile/ops/octet_blocks.h"
#include "rooftile/ops/rope/frequencies.h"
#endif

namespace rooftile::ops::rope {

extern const KernelTable sm90_table_kernels;

namespace {

constexpr int kThreads = 256;

/// [tokens, heads, head_dim]; strides in elements.
struct Heads {
  void* data = nullptr;
  long long token_stride = 0, head_stride = 0, stride = 0;
  tile::Element type = tile::Element::f32;
};

struct TableCall {
  Heads y{};
  Heads x{};
  const int* positions = nullptr;
  const float* freq_factors = nullptr;  // null: none
  const double* turns = nullptr;        // [pairs], radians a position
  long long position_stride = 0, factor_stride = 0;
  int heads = 0, head_dim = 0, pairs = 0;
  int heads_of_block = 0;
  float factor = 1;
  bool is_half = true;
  bool copies_rest = true;  // of a head, behind the pairs
};

}  // namespace

#if ROOFTILE_DEVICE_CODE

namespace {

using namespace tile;

__device__ inline void fill(Turn* table, const TableCall& call, long long token) {
  const int threads = static_cast<int>(blockDim.x);
  const double position = call.positions[token * call.position_stride];
  for (int i = static_cast<int>(threadIdx.x); i < call.pairs; i += threads) {
    double angle = position * call.turns[i];
    if (call.freq_factors != nullptr)
      angle = angle / static_cast<double>(call.freq_factors[i * call.factor_stride]);
    const Turn turn = turn_of(angle, call.factor);
    table[i].cosine = turn.cosine;
    table[i].sine = turn.sine;
  }
}

__device__ inline void rotate(float& a, float& b, const Turn& turn) {
  const float first = fmaf(a, turn.cosine, -(b * turn.sine));
  b = fmaf(b, turn.cosine, a * turn.sine);
  a = first;
}

// Where element c of head h of this block's token stands.
__device__ inline long long place(const Heads& heads, long long token, int h, int c) {
  return token * heads.token_stride + h * heads.head_stride + c * heads.stride;
}

// Eight pairs of a head: two octets, of the halves, or one after the other.
struct Unit {
  int head;
  int pair;
  int first, second;  // elements

  __device__ Unit(const TableCall& call, int head_0, int number) {
    const int units = call.pairs / kOctet;
    head = head_0 + number / units;
    pair = number % units * kOctet;
    first = call.is_half ? pair : 2 * pair;
    second = call.is_half ? pair + call.pairs : first + kOctet;
  }
  __device__ void load(Octet& a, Octet& b, const Heads& x, long long token) const {
    a = load_octet(x.data, x.type, place(x, token, head, first));
    b = load_octet(x.data, x.type, place(x, token, head, second));
  }
  __device__ void finish(const Octet& a, const Octet& b, const TableCall& call, long long token,
                         const Turn* table) const {
    float v[2][kOctet];
    unpack(v[0], a, call.x.type);
    unpack(v[1], b, call.x.type);
    if (call.is_half) {
      ROOFTILE_UNROLL for (int j = 0; j < kOctet; ++j) rotate(v[0][j], v[1][j], table[pair + j]);
    } else {
      ROOFTILE_UNROLL for (int j = 0; j < kOctet; j += 2) {
        rotate(v[0][j], v[0][j + 1], table[pair + j / 2]);
        rotate(v[1][j], v[1][j + 1], table[pair + (j + kOctet) / 2]);
      }
    }
    store_octet(call.y.data, call.y.type, place(call.y, token, head, first), v[0]);
    store_octet(call.y.data, call.y.type, place(call.y, token, head, second), v[1]);
  }
};

// Heads of whole aligned octets, a multiple of 8 pairs.
__global__ void __launch_bounds__(kThreads, 4) whole(const TableCall call) {
  ROOFTILE_DYNAMIC_SHARED(memory);
  Turn* table = reinterpret_cast<Turn*>(memory);
  const int threads = static_cast<int>(blockDim.x);
  const long long token = blockIdx.x;
  const int head_0 = static_cast<int>(blockIdx.y) * call.heads_of_block;
  const int heads = min(call.heads - head_0, call.heads_of_block);
  const int units = heads * (call.pairs / kOctet);
  int number = static_cast<int>(threadIdx.x);
  Octet a{};
  Octet b{};
  if (number < units) Unit(call, head_0, number).load(a, b, call.x, token);
  fill(table, call, token);
  __syncthreads();
  ROOFTILE_NO_UNROLL while (number < units) {
    Unit(call, head_0, number).finish(a, b, call, token, table);
    number += threads;
    if (number < units) Unit(call, head_0, number).load(a, b, call.x, token);
  }
  if (!call.copies_rest) return;
  const int rest = (call.head_dim - 2 * call.pairs) / kOctet;
  ROOFTILE_NO_UNROLL for (int i = static_cast<int>(threadIdx.x); i < heads * rest; i += threads) {
    const int h = head_0 + i / rest;
    const int c = 2 * call.pairs + i % rest * kOctet;
    float v[kOctet];
    unpack(v, load_octet(call.x.data, call.x.type, place(call.x, token, h, c)), call.x.type);
    store_octet(call.y.data, call.y.type, place(call.y, token, h, c), v);
  }
}

// Any heads, a pair at a time.
__global__ void __launch_bounds__(kThreads) any(const TableCall call) {
  ROOFTILE_DYNAMIC_SHARED(memory);
  Turn* table = reinterpret_cast<Turn*>(memory);
  const int threads = static_cast<int>(blockDim.x);
  const long long token = blockIdx.x;
  const int head_0 = static_cast<int>(blockIdx.y) * call.heads_of_block;
  const int heads = min(call.heads - head_0, call.heads_of_block);
  fill(table, call, token);
  __syncthreads();
  const Heads& x = call.x;
  const Heads& y = call.y;
  for (int i = static_cast<int>(threadIdx.x); i < heads * call.pairs; i += threads) {
    const int h = head_0 + i / call.pairs;
    const int pair = i % call.pairs;
    const int first = call.is_half ? pair : 2 * pair;
    const int second = call.is_half ? pair + call.pairs : first + 1;
    float a = load_element(x.data, x.type, place(x, token, h, first));
    float b = load_element(x.data, x.type, place(x, token, h, second));
    rotate(a, b, table[pair]);
    store_element(y.data, y.type, place(y, token, h, first), a);
    store_element(y.data, y.type, place(y, token, h, second), b);
  }
  if (!call.copies_rest) return;
  const int rest = call.head_dim - 2 * call.pairs;
  for (int i = static_cast<int>(threadIdx.x); i < heads * rest; i += threads) {
    const int h = head_0 + i / rest;
    const int c = 2 * call.pairs + i % rest;
    store_element(y.data, y.type, place(y, token, h, c),
                  load_element(x.data, x.type, place(x, token, h, c)));
  }
}

}  // namespace

#else

namespace {

// 32 KB of shared memory, and far beyond any model.
constexpr std::int64_t kMostPairs = 4096;

Heads heads_of(const TensorView& view) {
  return {.data = view.data,
          .token_stride = view.stride(0),
          .head_stride = view.stride(1),
          .stride = view.stride(2),
          .type = element_of(view.dtype)};
}

Support supports(const Problem& problem, const DeviceProperties&) {
  if (rotary_of(problem) > 2 * kMostPairs)
    return unsupported("rotates at most " + std::to_string(2 * kMostPairs) + " elements of a head");
  if (problem.axis("tokens") > (std::int64_t{1} << 31) - 1)
    return unsupported("tokens: at most 2^31 - 1");
  if (problem.axis("heads") > 65535) return unsupported("heads: at most 65535");
  if (problem.axis("head_dim") > 32768) return unsupported("head_dim: at most 32768");
  return supported();
}

// The frequencies on the device.
std::shared_ptr<const DeviceMemory> upload(Device& device, const std::vector<double>& turns) {
  const auto bytes = static_cast<std::int64_t>(turns.size() * sizeof(double));
  auto memory = std::make_shared<DeviceMemory>(device, bytes);
  const auto stream = device.make_stream();
  device.copy_to_device(*stream, memory->data(), turns.data(), bytes);
  stream->synchronise();
  return memory;
}

// A block takes as many heads as give each of 256 threads 8 pairs, and has as many as that needs.
LaunchShape shape_of(const Problem& problem, const TableCall& call) {
  constexpr std::int64_t kWarp = 32;
  const std::int64_t units = call.heads_of_block * std::int64_t{call.pairs} / 8;
  const std::int64_t warps = std::clamp<std::int64_t>((units + kWarp - 1) / kWarp, 1, 8);
  const std::int64_t groups = (call.heads + call.heads_of_block - 1) / call.heads_of_block;
  return {.grid = {.x = static_cast<std::uint32_t>(problem.axis("tokens")),
                   .y = static_cast<std::uint32_t>(groups)},
          .block = {.x = static_cast<std::uint32_t>(warps * kWarp)},
          .dynamic_shared_bytes = call.pairs * std::int64_t{2 * sizeof(float)}};
}

TableCall call_of(const Problem& problem) {
  const std::int64_t pairs = rotary_of(problem) / 2;
  const std::int64_t heads = problem.axis("heads");
  const std::int64_t fitting =
      std::max<std::int64_t>(1, kThreads * 8 / std::max<std::int64_t>(pairs, 8));
  return {.position_stride = problem.arg("positions").strides[0],
          .factor_stride = problem.has("freq_factors") ? problem.arg("freq_factors").strides[0] : 0,
          .heads = static_cast<int>(heads),
          .head_dim = static_cast<int>(problem.axis("head_dim")),
          .pairs = static_cast<int>(pairs),
          .heads_of_block = static_cast<int>(std::min(fitting, std::max<std::int64_t>(heads, 1))),
          .factor = static_cast<float>(attention_factor(problem)),
          .is_half = problem.option("pairing") == "half"};
}

Prepared prepare(const Problem& problem, Device& device, const Config&) {
  const GpuKernel whole = find_kernel(sm90_table_kernels, "whole");
  const GpuKernel any = find_kernel(sm90_table_kernels, "any");
  const TableCall fixed = call_of(problem);
  const LaunchShape shape = shape_of(problem, fixed);
  const auto turns = upload(device, frequencies(problem));
  return {.run = [=](const Context& context, const Arguments& args) {
    if (shape.grid.count() == 0) return;
    const TensorView& y = args["y"];
    const TensorView& x = args["x"];
    TableCall call = fixed;
    call.y = heads_of(y);
    call.x = heads_of(x);
    call.positions = args["positions"].as<const int>();
    call.freq_factors = args["freq_factors"].as<const float>();
    call.turns = static_cast<const double*>(turns->data());
    call.copies_rest = y.data != x.data;
    const bool is_whole =
        call.pairs % 8 == 0 && call.head_dim % 8 == 0 && is_octet_aligned(y) && is_octet_aligned(x);
    launch(*context.stream, is_whole ? whole : any, shape, call);
  }};
}

}  // namespace

extern const KernelDef sm90_table;
const KernelDef sm90_table{
    .op = "rope",
    .name = "sm90_table",
    .idea = "a token's sines and cosines in shared memory for all heads, angles reduced in double",
    .target = Target::sm90,
    .determinism = Determinism::batch_invariant,
    .supports = supports,
    .prepare = prepare,
};

#endif

ROOFTILE_KERNEL_TABLE(sm90_table_kernels, ROOFTILE_KERNEL_ENTRY(whole), ROOFTILE_KERNEL_ENTRY(any))

}  // namespace rooftile::ops::rope
