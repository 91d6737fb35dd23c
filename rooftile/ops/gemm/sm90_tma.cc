// SPDX-License-Identifier: Apache-2.0
// Operands and results of gemm as TMA sees them.
#include <string>

#include "rooftile/ops/gemm/sm90_host.h"
#include "rooftile/ops/gemm/sm90_mainloop.h"

namespace rooftile::ops::gemm {
namespace {

constexpr std::int64_t kTmaBytes = 16;  // rows lie at multiples of it
constexpr std::int64_t kMostExtent = std::int64_t{1} << 31;

/// Bytes from one row to the next; where there is no next, any that TMA takes.
std::int64_t row_bytes(const ArgChoice& arg, int inner) {
  const int outer = 1 - inner;
  return arg.shape[outer] > 1 ? arg.strides[outer] * info(arg.dtype).unit_bytes : kTmaBytes;
}

}  // namespace

std::string tma_reason(const ArgChoice& arg, int inner) {
  const std::string name = arg.name;
  if (arg.shape[inner] > 1 && arg.strides[inner] != 1)
    return name + " must be contiguous along one of its axes";
  const std::int64_t bytes = row_bytes(arg, inner);
  if (bytes <= 0 || bytes % kTmaBytes != 0)
    return name + ": TMA needs rows that are a multiple of 16 bytes apart, these are " +
           std::to_string(bytes);
  if (arg.offset * info(arg.dtype).unit_bytes % kTmaBytes != 0)
    return name + ": TMA needs an address aligned to 16 bytes";
  return "";
}

// D's rows must also end at such a multiple: TMA writes no less.
bool can_store_d(const Problem& problem) {
  const ArgChoice& d = problem.arg("d");
  return d.dtype == problem.dtype("a") && tma_reason(d, 1).empty() &&
         d.shape[1] * info(d.dtype).unit_bytes % kTmaBytes == 0;
}

namespace {

TensorMapSpec spec_of(const TensorView& view, int inner) {
  TensorMapSpec spec;
  spec.data = view.data;
  spec.dtype = view.dtype;
  spec.extent = {view.extent(inner), view.extent(1 - inner)};
  const std::int64_t bytes = info(view.dtype).unit_bytes;
  spec.stride_bytes = {bytes,
                       view.extent(1 - inner) > 1 ? view.stride(1 - inner) * bytes : kTmaBytes};
  spec.swizzle = Swizzle::bytes128;
  return spec;
}

}  // namespace

OperandLayouts layouts_of(const Problem& problem) {
  const ArgChoice& a = problem.arg("a");
  const ArgChoice& b = problem.arg("b");
  // A matrix of one row or column is contiguous along both: that which TMA can copy.
  const auto is_along = [](const ArgChoice& arg, int inner) {
    return tma_reason(arg, inner).empty();
  };
  return {is_along(a, 1) || !is_along(a, 0), is_along(b, 0) || !is_along(b, 1)};
}

std::string OperandLayouts::majors() const {
  const auto major = [](bool is_k) { return std::string(is_k ? "Major::k" : "Major::mn"); };
  return major(a_is_k) + ", " + major(b_is_k);
}

Support supports_16_bits(const Problem& problem, std::initializer_list<const char*> rights) {
  const DType dtype = problem.dtype("a");
  if (dtype != DType::bf16 && dtype != DType::fp16) return unsupported("a must be bf16 or fp16");
  for (const char* right : rights)
    if (problem.dtype(right) != dtype)
      return unsupported(std::string(right) + " must have a's dtype");
  return supported();
}

Support supports_tma_extents(const Problem& problem) {
  if (problem.axis("k") == 0) return unsupported("k is 0: there is nothing to copy");
  for (const char* axis : {"m", "n", "k"})
    if (problem.axis(axis) >= kMostExtent)
      return unsupported(std::string(axis) + " must be below 2^31");
  return supported();
}

Support supports_tma(const Problem& problem) {
  if (Support types = supports_16_bits(problem, {"b"}); !types) return types;
  if (Support general = supports_sm90(problem); !general) return general;
  if (Support extents = supports_tma_extents(problem); !extents) return extents;
  const OperandLayouts layouts = layouts_of(problem);
  std::string reason = tma_reason(problem.arg("a"), layouts.a_is_k ? 1 : 0);
  if (reason.empty()) reason = tma_reason(problem.arg("b"), layouts.b_is_k ? 0 : 1);
  return reason.empty() ? supported() : unsupported(std::move(reason));
}

Support supports_tma_along_k(const Problem& problem) {
  if (Support general = supports_tma(problem); !general) return general;
  if (!layouts_of(problem).is_nt())
    return unsupported("a must be contiguous along k, and b too (a weight [n, k], layout nt)");
  return supported();
}

Output output_of(const Problem& problem) {
  const Sm90Call call = sm90_call(problem);
  Output output{.d = call.d, .epilogue = call.epilogue, .m = call.m, .n = call.n};
  if (!can_store_d(problem)) return output;
  if (!problem.has("residual"))
    output.finish =
        problem.has("bias") || call.epilogue.act != Act::none ? Finish::columns : Finish::plain;
  else if (problem.dtype("residual") == problem.dtype("d") &&
           tma_reason(problem.arg("residual"), 1).empty() &&
           problem.arg("residual").strides[1] == 1)
    output.finish = Finish::residual;
  return output;
}

Output with_arguments(Output output, const Arguments& args) {
  output.d.data = args["d"].data;
  output.epilogue.bias.data = args["bias"].data;
  output.epilogue.residual.data = args["residual"].data;
  output.stores_pairs = stores_pairs(output.d);
  return output;
}

TensorMap operand_map(Device& device, const TensorView& operand, int outer, bool is_k, int rows) {
  TensorMapSpec spec = spec_of(operand, is_k ? 1 - outer : outer);
  spec.box = {kStepK, is_k ? rows : kStepK};
  return make_tensor_map(device, spec);
}

TensorMap output_map(Device& device, const TensorView& d) {
  TensorMapSpec spec = spec_of(d, 1);
  spec.box = {static_cast<std::int32_t>(128 / info(d.dtype).unit_bytes), kBoxRows};
  return make_tensor_map(device, spec);
}

}  // namespace rooftile::ops::gemm
