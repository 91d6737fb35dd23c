// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/gemm/sm90_host.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rooftile/device/cpu/activation.h"

namespace rooftile::ops::gemm {
namespace {

std::optional<tile::Element> element(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return tile::Element::f32;
    case DType::bf16:
      return tile::Element::bf16;
    case DType::fp16:
      return tile::Element::fp16;
    default:
      return std::nullopt;
  }
}

}  // namespace

MatrixView view_of(const Problem& problem, const char* name) {
  if (!problem.has(name)) return {};
  const ArgChoice& arg = problem.arg(name);
  MatrixView view;
  view.type = element(arg.dtype).value();
  view.stride_i = arg.shape.rank() == 2 ? arg.strides[0] : 0;
  view.stride_j = arg.strides[arg.shape.rank() - 1];
  return view;
}

Support supports_sm90(const Problem& problem) {
  for (const char* name : {"d", "a", "b", "bias", "residual"})
    if (problem.has(name) && !element(problem.dtype(name)))
      return unsupported(std::string(name) + " is " +
                         std::string(rooftile::name(problem.dtype(name))) +
                         ": f32, bf16 and fp16 only");
  if (problem.option("activations") != "exact") return unsupported("activations=exact only");
  return supported();
}

std::vector<Config> fastest_first(std::vector<std::pair<double, Config> > estimates) {
  std::ranges::stable_sort(estimates, {}, [](const auto& entry) { return entry.first; });
  std::vector<Config> sorted;
  for (auto& [time, config] : estimates) sorted.push_back(std::move(config));
  return sorted;
}

bool stores_pairs(const MatrixView& d) {
  const std::uintptr_t bytes = d.type == tile::Element::f32 ? 8 : 4;
  return d.stride_j == 1 && d.stride_i % 2 == 0 &&
         reinterpret_cast<std::uintptr_t>(d.data) % bytes == 0;
}

Sm90Call sm90_call(const Problem& problem) {
  Sm90Call call;
  call.d = view_of(problem, "d");
  call.a = view_of(problem, "a");
  call.b = view_of(problem, "b");
  call.epilogue.bias = view_of(problem, "bias");
  call.epilogue.residual = view_of(problem, "residual");
  call.m = problem.axis("m");
  call.n = problem.axis("n");
  call.k = problem.axis("k");
  call.epilogue.act = act_of(problem.option("act"));
  return call;
}

Sm90Call with_arguments(Sm90Call call, const Arguments& args) {
  call.d.data = args["d"].data;
  call.a.data = args["a"].data;
  call.b.data = args["b"].data;
  call.epilogue.bias.data = args["bias"].data;
  call.epilogue.residual.data = args["residual"].data;
  return call;
}

}  // namespace rooftile::ops::gemm
