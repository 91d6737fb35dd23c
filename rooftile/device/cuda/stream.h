// SPDX-License-Identifier: Apache-2.0
// Streams and events of one GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "rooftile/device/cuda/context.h"
#include "rooftile/device/cuda/hold.h"
#include "rooftile/device/cuda/launch.h"
#include "rooftile/device/device.h"

namespace rooftile {

class CudaStream final : public Stream {
 public:
  CudaStream(Device& device, CudaContext& context, CudaKernels& kernels);
  /// Borrows a stream, as cudaStreamLegacy or one that the caller made and destroys.
  CudaStream(Device& device, CudaContext& context, CudaKernels& kernels, cudaStream_t borrowed);
  ~CudaStream() override;

  [[nodiscard]] Device& device() const override { return device_; }
  void launch(std::int64_t blocks, FunctionRef<void(std::int64_t)> block) override;
  void launch_kernel(const GpuKernel& kernel, const LaunchShape& shape, void** args) override;
  [[nodiscard]] std::unique_ptr<Graph> capture(const std::function<void()>& launches) override;
  [[nodiscard]] bool is_capturing() const override;
  [[nodiscard]] std::unique_ptr<Hold> hold() override;
  void synchronise() override;
  [[nodiscard]] void* native() const override { return stream_; }

 private:
  Device& device_;
  CudaContext& context_;
  CudaKernels& kernels_;
  cudaStream_t stream_ = nullptr;
  bool is_ours_ = true;
  std::unique_ptr<HoldCounter> holds_;  // made by the first
};

class CudaEvent final : public Event {
 public:
  CudaEvent(Device& device, CudaContext& context);
  ~CudaEvent() override;

  void record(Stream& stream) override;
  /// To half a microsecond, as cudaEventElapsedTime.
  [[nodiscard]] double elapsed_us(const Event& start) const override;

 private:
  Device& device_;
  CudaContext& context_;
  cudaEvent_t event_ = nullptr;
  bool is_recorded_ = false;
};

/// The cudaStream_t of a stream of `device`. Throws Error(bad_input) for another device's.
cudaStream_t native_stream(const Device& device, const Stream& stream);

}  // namespace rooftile
