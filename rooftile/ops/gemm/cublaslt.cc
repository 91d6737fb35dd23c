// SPDX-License-Identifier: Apache-2.0
// NVIDIA's cuBLASLt, loaded at run time: the yardstick of matrix products on its GPUs. Which of its
// algorithms runs is fixed in prepare(): the configurations are what its heuristic proposes, in its
// order.
#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/ops/gemm/cublaslt_call.h"
#if ROOFTILE_WITH_CUDA
#include "rooftile/device/cuda/cublaslt.h"
#include "rooftile/ops/gemm/cuda/cublaslt_descriptors.h"
#endif

namespace rooftile::ops::gemm {
namespace {

#if ROOFTILE_WITH_CUDA && ROOFTILE_HAS_CUBLASLT

constexpr int kMostCandidates = 8;

CublasLtDevice& device_of(const DeviceProperties& properties) {
  constexpr std::string_view kFamily = "cuda:";
  int index = 0;
  const char* const end = properties.id.data() + properties.id.size();
  std::from_chars(properties.id.data() + kFamily.size(), end, index);
  return cublaslt_device(index);
}

// What the heuristic proposes, the fastest by its own estimate first. Empty: it has nothing.
std::vector<cublasLtMatmulHeuristicResult_t> candidates_of(CublasLtDescriptors& all,
                                                           CublasLtDevice& device) {
  const CurrentDevice current(device.context);
  std::vector<cublasLtMatmulHeuristicResult_t> found(kMostCandidates);
  int count = 0;
  const cublasStatus_t status = cublaslt_library().get_heuristic(
      device.handle, &all.matmul, &all.b, &all.a, &all.residual, &all.d, &all.preference,
      kMostCandidates, found.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)
    count = 0;
  else
    cublaslt_library().check(status, "choosing an algorithm");
  found.resize(static_cast<std::size_t>(std::clamp(count, 0, kMostCandidates)));
  std::erase_if(found, [](const auto& each) { return each.state != CUBLAS_STATUS_SUCCESS; });
  return found;
}

std::vector<cublasLtMatmulHeuristicResult_t> candidates_of(const Problem& problem,
                                                           const DeviceProperties& properties) {
  CublasLtDescriptors all = cublaslt_descriptors(cublaslt_call(problem));
  return candidates_of(all, device_of(properties));
}

Support takes(const Problem& problem, const DeviceProperties& properties) {
  if (!properties.id.starts_with("cuda:"))
    return unsupported("no vendor's library runs on " + properties.id);
  if (Support same = takes_cublaslt(problem); !same) return same;
  if (const std::string& reason = cublaslt_library().reason; !reason.empty())
    return unsupported(reason);
  try {
    if (!candidates_of(problem, properties).empty()) return supported();
  } catch (const Error& error) {  // it does not start here: kernels of our own may
    return unsupported(error.what());
  }
  return unsupported("cuBLASLt has no algorithm for these types, layouts and alignments");
}

// The version, since it decides what a number means: a tuned record of another one is not used.
std::vector<Config> configs(const Problem& problem, const DeviceProperties& properties) {
  std::vector<Config> list;
  const auto count = static_cast<std::int64_t>(candidates_of(problem, properties).size());
  for (std::int64_t i = 0; i < count; ++i)
    list.push_back(
        {{{"candidate", i}, {"cublaslt", static_cast<std::int64_t>(cublaslt_library().version)}}});
  return list;
}

void check_alignment(const char* name, const TensorView& view, std::int64_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uintptr_t>(alignment) != 0)
    fail_input(std::string(name) + ": its address is no multiple of " + std::to_string(alignment) +
               " bytes, for which gemm/cublaslt was prepared");
}

void check_alignments(const CublasLtCall& call, const Arguments& args) {
  check_alignment("d", args["d"], call.d.alignment);
  check_alignment("a", args["a"], call.a.alignment);
  check_alignment("b", args["b"], call.b.alignment);
  if (call.has_bias) check_alignment("bias", args["bias"], call.bias_alignment);
  if (call.has_residual) check_alignment("residual", args["residual"], call.residual.alignment);
}

Prepared prepare(const Problem& problem, Device& device, const Config& config) {
  const CublasLtCall call = cublaslt_call(problem);
  CublasLtDevice& gpu = device_of(device.properties());
  const auto all = std::make_shared<CublasLtDescriptors>(cublaslt_descriptors(call));
  const auto candidates = candidates_of(*all, gpu);
  const auto number = static_cast<std::size_t>(config.at("candidate"));
  if (number >= candidates.size())
    throw Error(ErrorCode::unsupported, "gemm/cublaslt: candidate " + std::to_string(number) +
                                            " of " + std::to_string(candidates.size()));
  const cublasLtMatmulHeuristicResult_t chosen = candidates[number];
  const auto run = [=, &gpu](const Context& context, const Arguments& args) {
    check_alignments(call, args);
    const CurrentDevice current(gpu.context);
    const float one = 1;
    const float beta = call.has_residual ? 1.0F : 0.0F;
    cublasLtMatmulDescOpaque_t matmul{};  // of this run: it holds the address of the bias
    describe_cublaslt_product(matmul, call, args["bias"].data);
    const void* c = call.has_residual ? args["residual"].data : args["d"].data;
    cublaslt_library().check(
        cublaslt_library().matmul(gpu.handle, &matmul, &one, args["b"].data, &all->b,
                                  args["a"].data, &all->a, &beta, c, &all->residual, args["d"].data,
                                  &all->d, &chosen.algo, context.workspace, chosen.workspaceSize,
                                  static_cast<cudaStream_t>(context.stream->native())),
        "multiplying");
  };
  return {.run = run, .workspace_bytes = static_cast<std::int64_t>(chosen.workspaceSize)};
}

#else

Support takes(const Problem&, const DeviceProperties&) {
  return unsupported("built without cuBLASLt (ROOFTILE_WITH_CUDA, cublasLt.h)");
}

std::vector<Config> configs(const Problem&, const DeviceProperties&) { return {}; }

Prepared prepare(const Problem&, Device&, const Config&) {
  throw Error(ErrorCode::unsupported, "built without cuBLASLt (ROOFTILE_WITH_CUDA, cublasLt.h)");
}

#endif

}  // namespace

extern const KernelDef cublaslt;
const KernelDef cublaslt{
    .op = "gemm",
    .name = "cublaslt",
    .idea = "NVIDIA's cuBLASLt, sums in f32, the algorithm fixed when it is prepared",
    .target = Target::sm90,
    .calls_vendor_library = true,
    // cuBLAS's documentation, "Results Reproducibility": the same bits every run on one kind of
    // GPU.
    .determinism = Determinism::repeatable,
    .supports = takes,
    .configs = configs,
    .prepare = prepare,
};

}  // namespace rooftile::ops::gemm
