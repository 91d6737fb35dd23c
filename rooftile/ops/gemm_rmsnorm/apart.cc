// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/gemm_rmsnorm/apart.h"

#include <memory>
#include <string>
#include <utility>

#include "rooftile/op/dispatch.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile::ops::gemm_rmsnorm {
namespace {

constexpr std::int64_t kAlignment = 256;  // of a workspace

std::string strides(const Problem& problem, const char* arg) {
  const Dims& of = problem.arg(arg).strides;
  std::string text;
  for (const std::int64_t stride : of) text += (text.empty() ? "" : ",") + std::to_string(stride);
  return text;
}

std::string dtype(const Problem& problem, const char* arg) {
  return std::string(name(problem.dtype(arg)));
}

Problem norm_of(const Problem& problem) {
  return catalogue().bind("rmsnorm rows=" + std::to_string(problem.axis("m")) +
                          " cols=" + std::to_string(problem.axis("k")) +
                          " x=" + dtype(problem, "a") + " x.stride=" + strides(problem, "a") +
                          " w=" + dtype(problem, "w") + " w.stride=" + strides(problem, "w") +
                          " eps=" + std::string(problem.option("eps")) +
                          " weight_offset=" + std::string(problem.option("weight_offset")));
}

Problem product_of(const Problem& problem) {
  return catalogue().bind("gemm m=" + std::to_string(problem.axis("m")) +
                          " n=" + std::to_string(problem.axis("n")) +
                          " k=" + std::to_string(problem.axis("k")) + " a=" + dtype(problem, "a") +
                          " b=" + dtype(problem, "b") + " b.stride=" + strides(problem, "b") +
                          " d=" + dtype(problem, "d") + " d.stride=" + strides(problem, "d"));
}

/// The first of our kernels for it, or why there is none.
std::pair<const KernelDef*, std::string> ours(const Problem& problem,
                                              const DeviceProperties& device) {
  std::string reasons = problem.op + ":";
  for (const KernelDef* kernel : catalogue().operation(problem.op).kernels) {
    if (kernel->calls_vendor_library) continue;
    const Support support = rooftile::supports(*kernel, problem, device);
    if (support) return {kernel, ""};
    reasons += " " + kernel->name + ": " + support.reason + ";";
  }
  return {nullptr, reasons};
}

/// The kernel that ours() finds, with the tuned configuration if there is one.
Plan plan_of(Problem problem, Device& device) {
  problem.kernel = ours(problem, device.properties()).first->name;
  return rooftile::prepare(catalogue(), problem, device);
}

}  // namespace

Support supports_apart(const Problem& problem, const DeviceProperties& device) {
  for (const Problem& part : {norm_of(problem), product_of(problem)})
    if (const auto [kernel, reasons] = ours(part, device); kernel == nullptr)
      return unsupported(reasons);
  return supported();
}

Prepared prepare_apart(const Problem& problem, Device& device, const Config&) {
  const auto norm = std::make_shared<const Plan>(plan_of(norm_of(problem), device));
  const auto product = std::make_shared<const Plan>(plan_of(product_of(problem), device));
  const auto aligned = [](std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  };
  const std::int64_t rows_bytes =
      aligned(problem.axis("m") * problem.axis("k") * info(problem.dtype("a")).unit_bytes);
  const std::int64_t norm_bytes = aligned(norm->workspace_bytes());
  return {.run =
              [=](const Context& context, const Arguments& args) {
                auto* const rows = static_cast<std::byte*>(context.workspace);
                const TensorView& a = args["a"];
                const TensorView y = TensorView::contiguous(rows, a.dtype, a.shape);
                Context part = context;
                part.workspace = rows + rows_bytes;
                const TensorView of_norm[]{y, {}, a, {}, args["w"]};
                norm->run(part, of_norm);
                part.workspace = rows + rows_bytes + norm_bytes;
                const TensorView of_product[]{args["d"], y, args["b"], {}, {}};
                product->run(part, of_product);
              },
          .workspace_bytes = rows_bytes + norm_bytes + product->workspace_bytes()};
}

}  // namespace rooftile::ops::gemm_rmsnorm
