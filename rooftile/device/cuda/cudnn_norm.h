// SPDX-License-Identifier: Apache-2.0
// cuDNN's RMS normalisation of rows, in the phase of inference: an operation of its graph
// interface, the engines that its heuristics propose for it, and a plan for each that is asked for.
// What it takes was found by asking 9.19: rows that lie packed, in x as in y.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rooftile/device/cuda/cudnn_descriptor.h"

namespace rooftile {

/// y (rows x cols) of x, by the row, packed; w (cols). Sums are f32.
struct CudnnNorm {
  cudnn::DataType type = cudnn::kFloat;  // of x and y
  cudnn::DataType w_type = cudnn::kFloat;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  float eps = 0;  // inside the root

  friend auto operator<=>(const CudnnNorm&, const CudnnNorm&) = default;
};

/// Where a graph is to run: a GPU that cuDNN has started on, or one that is only described (a
/// finalised descriptor of device properties), for which engines can be asked, but nothing runs.
struct CudnnTarget {
  cudnn::Handle handle = nullptr;
  cudnn::Descriptor described = nullptr;
};

/// The operation alone, which needs no GPU: tensors are kept as long as it.
struct CudnnNormOperation {
  explicit CudnnNormOperation(const CudnnNorm& norm);

  CudnnDescriptor x, y, w, eps;
  CudnnDescriptor operation{cudnn::kOperationNormForward};
};

/// An engine of cuDNN for one operation, compiled for its target.
class CudnnNormPlan {
 public:
  CudnnNormPlan(const CudnnNorm& norm, const CudnnTarget& target, const CudnnDescriptor& config);

  [[nodiscard]] std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Asynchronous, thread-safe. All addresses are multiples of 16 bytes.
  void run(CudnnDevice& device, cudaStream_t stream, void* workspace, const void* x, void* y,
           const void* w) const;

 private:
  CudnnDescriptor plan_{cudnn::kExecutionPlan};
  std::int64_t workspace_bytes_ = 0;
  float eps_;  // passed by its address in every run
};

/// The engines for one operation, at most kMost, in cuDNN's order. A plan is made, which takes the
/// time of a compilation, when it is first asked for, and kept.
class CudnnNormEngines {
 public:
  static constexpr std::size_t kMost = 8;

  /// Throws Error(device) with cuDNN's reason where it has none.
  CudnnNormEngines(const CudnnNorm& norm, const CudnnTarget& target);

  [[nodiscard]] std::size_t count() const { return configs_.size(); }
  /// Throws Error(device).
  [[nodiscard]] std::shared_ptr<const CudnnNormPlan> plan(std::size_t number);

 private:
  void add(cudnn::HeuristicMode mode);

  CudnnNorm norm_;
  CudnnTarget target_;
  CudnnNormOperation operation_;
  CudnnDescriptor graph_{cudnn::kOperationGraph};
  std::vector<CudnnDescriptor> configs_;
  std::vector<std::int64_t> engines_;  // of each configuration, by cuDNN's number
  std::mutex mutex_;
  std::vector<std::shared_ptr<const CudnnNormPlan>> plans_;
};

/// Those for this operation on this GPU, kept for the next who asks: a few dozen operations.
std::shared_ptr<CudnnNormEngines> cudnn_norm_engines(CudnnDevice& device, const CudnnNorm& norm);

}  // namespace rooftile
