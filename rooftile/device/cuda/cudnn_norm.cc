// SPDX-License-Identifier: Apache-2.0
// How an operation is described follows NVIDIA's documentation of the graph interface
// (CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR) and what its own C++ layer sets: x as
// [rows, cols, 1, 1], w as [1, cols, 1, 1], eps as a scalar on the host.
#include "rooftile/device/cuda/cudnn_norm.h"

#include <algorithm>
#include <map>
#include <string>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

enum Id : std::int64_t { kX = 1, kY, kW, kEps };
constexpr std::int64_t kAlignment = 16;
constexpr std::size_t kMostKept = 64;

CudnnDescriptor tensor(Id id, cudnn::DataType type, std::int64_t rows, std::int64_t cols) {
  CudnnDescriptor made(cudnn::kTensor);
  made.set(cudnn::kTensorUniqueId, cudnn::kTypeInt64, {std::int64_t{id}});
  made.set(cudnn::kTensorDataType, cudnn::kTypeDataType, {type});
  made.set(cudnn::kTensorDimensions, cudnn::kTypeInt64,
           {rows, cols, std::int64_t{1}, std::int64_t{1}});
  made.set(cudnn::kTensorStrides, cudnn::kTypeInt64, {cols, std::int64_t{1}, cols, cols});
  made.set(cudnn::kTensorByteAlignment, cudnn::kTypeInt64, {kAlignment});
  if (id == kEps) made.set(cudnn::kTensorIsByValue, cudnn::kTypeBoolean, {true});
  made.finalise("describing a tensor");
  return made;
}

void aim(CudnnDescriptor& descriptor, const CudnnTarget& target, cudnn::Attribute handle,
         cudnn::Attribute described) {
  if (target.handle != nullptr)
    descriptor.set(handle, cudnn::kTypeHandle, {target.handle});
  else
    descriptor.set(described, cudnn::kTypeDescriptor, {target.described});
}

// The engine's number in cuDNN's list for the operation.
std::int64_t engine_of(const CudnnDescriptor& config) {
  const Cudnn& library = cudnn_library();
  const CudnnDescriptor engine(cudnn::kEngine);
  cudnn::Descriptor filled = engine.get();
  std::int64_t count = 0;
  library.check(library.get_attribute(config.get(), cudnn::kEngineConfigEngine,
                                      cudnn::kTypeDescriptor, 1, &count, &filled),
                "asking for an engine");
  return engine.number(cudnn::kEngineGlobalIndex);
}

std::vector<CudnnDescriptor> proposed(const CudnnDescriptor& graph, const CudnnTarget& target,
                                      cudnn::HeuristicMode mode) {
  const Cudnn& library = cudnn_library();
  CudnnDescriptor heuristics(cudnn::kEngineHeuristics);
  heuristics.set(cudnn::kHeuristicsOperationGraph, graph);
  heuristics.set(cudnn::kHeuristicsMode, cudnn::kTypeHeuristicMode, {mode});
  if (target.handle == nullptr)
    heuristics.set(cudnn::kHeuristicsDeviceProperties, cudnn::kTypeDescriptor, {target.described});
  heuristics.finalise("asking its heuristics");
  std::vector<CudnnDescriptor> configs;
  std::vector<cudnn::Descriptor> filled;
  for (std::size_t i = 0; i < CudnnNormEngines::kMost; ++i)
    filled.push_back(configs.emplace_back(cudnn::kEngineConfig).get());
  std::int64_t count = 0;
  library.check(
      library.get_attribute(heuristics.get(), cudnn::kHeuristicsResults, cudnn::kTypeDescriptor,
                            std::ssize(filled), &count, filled.data()),
      "asking its heuristics");
  while (std::ssize(configs) > std::max<std::int64_t>(count, 0)) configs.pop_back();
  return configs;
}

}  // namespace

CudnnNormOperation::CudnnNormOperation(const CudnnNorm& norm)
    : x(tensor(kX, norm.type, norm.rows, norm.cols)),
      y(tensor(kY, norm.type, norm.rows, norm.cols)),
      w(tensor(kW, norm.w_type, 1, norm.cols)),
      eps(tensor(kEps, cudnn::kFloat, 1, 1)) {
  operation.set(cudnn::kNormMode, cudnn::kTypeNormMode, {cudnn::kRmsNorm});
  operation.set(cudnn::kNormPhase, cudnn::kTypeNormPhase, {cudnn::kInference});
  operation.set(cudnn::kNormX, x);
  operation.set(cudnn::kNormY, y);
  operation.set(cudnn::kNormScale, w);
  operation.set(cudnn::kNormEpsilon, eps);
  operation.finalise("describing the normalisation");
}

CudnnNormPlan::CudnnNormPlan(const CudnnNorm& norm, const CudnnTarget& target,
                             const CudnnDescriptor& config)
    : eps_(norm.eps) {
  aim(plan_, target, cudnn::kPlanHandle, cudnn::kPlanDeviceProperties);
  plan_.set(cudnn::kPlanEngineConfig, config);
  plan_.finalise("compiling an engine");
  workspace_bytes_ = plan_.number(cudnn::kPlanWorkspaceSize);
}

void CudnnNormPlan::run(CudnnDevice& device, cudaStream_t stream, void* workspace, const void* x,
                        void* y, const void* w) const {
  const std::int64_t ids[]{kX, kY, kW, kEps};
  const void* const data[]{x, y, w, &eps_};
  const std::int64_t count = std::ssize(ids);
  CudnnDescriptor pack(cudnn::kVariantPack);
  pack.set(cudnn::kPackUniqueIds, cudnn::kTypeInt64, ids, count);
  pack.set(cudnn::kPackDataPointers, cudnn::kTypeVoidPointer, data, count);
  pack.set(cudnn::kPackWorkspace, cudnn::kTypeVoidPointer, {workspace});
  pack.finalise("passing tensors");
  const CudnnTurn turn(device, stream);
  cudnn_library().check(cudnn_library().execute(device.handle, plan_.get(), pack.get()),
                        "normalising");
}

CudnnNormEngines::CudnnNormEngines(const CudnnNorm& norm, const CudnnTarget& target)
    : norm_(norm), target_(target), operation_(norm) {
  if (target.handle != nullptr)
    graph_.set(cudnn::kGraphHandle, cudnn::kTypeHandle, {target.handle});
  graph_.set(cudnn::kGraphOperations, operation_.operation);
  graph_.finalise("describing the graph");
  // Its first choice first; then what else there is, which may be faster.
  add(cudnn::kHeuristicA);
  add(cudnn::kHeuristicFallback);
  if (configs_.empty()) {
    const std::string words = cudnn_library().last_words();
    throw Error(ErrorCode::device,
                "cuDNN has no engine for this" + (words.empty() ? "" : ": " + words));
  }
  plans_.resize(configs_.size());
}

void CudnnNormEngines::add(cudnn::HeuristicMode mode) {
  const std::vector<std::int64_t> before = engines_;
  for (CudnnDescriptor& config : proposed(graph_, target_, mode)) {
    const std::int64_t engine = engine_of(config);
    if (configs_.size() == kMost || std::ranges::find(before, engine) != before.end()) continue;
    configs_.push_back(std::move(config));
    engines_.push_back(engine);
  }
}

std::shared_ptr<const CudnnNormPlan> CudnnNormEngines::plan(std::size_t number) {
  const std::lock_guard lock(mutex_);
  if (!plans_.at(number))
    plans_[number] = std::make_shared<const CudnnNormPlan>(norm_, target_, configs_[number]);
  return plans_[number];
}

std::shared_ptr<CudnnNormEngines> cudnn_norm_engines(CudnnDevice& device, const CudnnNorm& norm) {
  using Key = std::pair<int, CudnnNorm>;
  static std::mutex mutex;
  // Never destroyed: at exit cuDNN may be gone before it.
  static auto& kept = *new std::map<Key, std::shared_ptr<CudnnNormEngines>>;
  const std::lock_guard lock(mutex);
  const Key key{device.context.index(), norm};
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  if (kept.size() >= kMostKept) kept.clear();  // plans in use live on
  const CudnnTurn turn(device, nullptr);
  auto made = std::make_shared<CudnnNormEngines>(norm, CudnnTarget{.handle = device.handle});
  kept.emplace(key, made);
  return made;
}

}  // namespace rooftile
