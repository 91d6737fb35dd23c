// SPDX-License-Identifier: Apache-2.0
// The formula as three loops, any strides: the first rung of the ladder, and the kernel for what
// the others do not take.
#include <algorithm>

#include "rooftile/core/expression.h"
#include "rooftile/formats/gguf_blocks.h"
#include "rooftile/formats/int8_blocks.h"
#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"

namespace rooftile::ops::gemm {
namespace {

template <class A, class B>
float dot(const TensorView& a, const TensorView& b, std::int64_t i, std::int64_t j) {
  const A* row = a.as<const A>() + i * a.stride(0);
  const B* column = b.as<const B>() + j * b.stride(1);
  float sum = 0;
  for (std::int64_t p = 0; p < a.extent(1); ++p)
    sum += static_cast<float>(row[p * a.stride(1)]) * static_cast<float>(column[p * b.stride(0)]);
  return sum;
}

// Columns of blocks, and rows that may be rounded to int8 blocks: 256 elements at a time, which is
// whole blocks of every type.
constexpr std::int64_t kChunk = 256;

void load_row(const TensorView& a, std::int64_t i, std::int64_t first, std::int64_t count,
              float* row) {
  for (std::int64_t p = 0; p < count; ++p)
    row[p] = load_float(a, i * a.stride(0) + (first + p) * a.stride(1));
}

void round_to_int8(float* row, std::int64_t count) {
  std::int8_t codes[kChunk];
  float scales[kChunk / kInt8Block];
  quantise_int8_blocks(row, count, codes, scales);
  for (std::int64_t p = 0; p < count; ++p)
    row[p] = static_cast<float>(codes[p]) * scales[p / kInt8Block];
}

template <bool kRounds>
float dot_blocks(const TensorView& a, const TensorView& b, std::int64_t i, std::int64_t j) {
  const DTypeInfo& type = info(b.dtype);
  const auto* column = b.as<const char>() + j * b.stride(1) / type.unit_elements * type.unit_bytes;
  float row[kChunk];
  float weights[kChunk];
  float sum = 0;
  for (std::int64_t first = 0; first < a.extent(1); first += kChunk) {
    const std::int64_t count = std::min(kChunk, a.extent(1) - first);
    load_row(a, i, first, count, row);
    if (kRounds) round_to_int8(row, count);
    dequantise_blocks(b.dtype, column + first / type.unit_elements * type.unit_bytes, count,
                      weights);
    for (std::int64_t p = 0; p < count; ++p) sum += row[p] * weights[p];
  }
  return sum;
}

using Dot = float (*)(const TensorView&, const TensorView&, std::int64_t, std::int64_t);

Dot choose_dot(DType a, DType b, bool rounds_a) {
  if (info(b).is_block()) return rounds_a ? dot_blocks<true> : dot_blocks<false>;
  return with_float_type(a, [&](auto a_type) {
    return with_float_type(
        b, [&](auto b_type) { return Dot{dot<decltype(a_type), decltype(b_type)>}; });
  });
}

void run(const Context& context, const Arguments& args) {
  const TensorView& d = args["d"];
  const TensorView& a = args["a"];
  const TensorView& b = args["b"];
  const TensorView& bias = args["bias"];
  const TensorView& residual = args["residual"];
  const Expression& act = activation(args.problem().option("act"));
  const Dot product = choose_dot(a.dtype, b.dtype, args.problem().option("activations") == "q8");
  context.stream->launch(d.extent(0), [&](std::int64_t i) {
    for (std::int64_t j = 0; j < d.extent(1); ++j) {
      float value = product(a, b, i, j);
      if (bias.is_present()) value += load_float(bias, j * bias.stride(0));
      if (!act.is_identity()) value = static_cast<float>(act(value));
      if (residual.is_present())
        value += load_float(residual, i * residual.stride(0) + j * residual.stride(1));
      store_float(d, i * d.stride(0) + j * d.stride(1), value);
    }
  });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "gemm",
    .name = "cpu_plain",
    .idea = "the formula as three loops, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::gemm
