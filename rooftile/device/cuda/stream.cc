// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/stream.h"

#include "rooftile/base/error.h"
#include "rooftile/device/cuda/graph.h"

namespace rooftile {

cudaStream_t native_stream(const Device& device, const Stream& stream) {
  if (&stream.device() != &device)
    fail_input("a stream of " + stream.device().properties().id + " was given to " +
               device.properties().id);
  return static_cast<cudaStream_t>(stream.native());
}

CudaStream::CudaStream(Device& device, CudaContext& context, CudaKernels& kernels)
    : device_(device), context_(context), kernels_(kernels) {
  const CurrentDevice current(context_);
  // Not the default stream, nor one that waits for it: other users of CUDA in this process go on.
  context_.check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
}

CudaStream::CudaStream(Device& device, CudaContext& context, CudaKernels& kernels,
                       cudaStream_t borrowed)
    : device_(device), context_(context), kernels_(kernels), stream_(borrowed), is_ours_(false) {}

CudaStream::~CudaStream() {
  if (is_ours_) (void)cudaStreamDestroy(stream_);
}

void CudaStream::launch(std::int64_t, FunctionRef<void(std::int64_t)>) {
  throw Error(ErrorCode::unsupported, context_.id() + " runs no host code");
}

void CudaStream::launch_kernel(const GpuKernel& kernel, const LaunchShape& shape, void** args) {
  const CurrentDevice current(context_);
  kernels_.launch(stream_, kernel, shape, args);
}

std::unique_ptr<Graph> CudaStream::capture(const std::function<void()>& launches) {
  return capture_cuda_graph(device_, context_, stream_, launches);
}

bool CudaStream::is_capturing() const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  context_.check(cudaStreamIsCapturing(stream_, &status), "asking whether a stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

std::unique_ptr<Hold> CudaStream::hold() {
  if (!holds_) holds_ = std::make_unique<HoldCounter>(context_);
  return holds_->hold(*this);
}

void CudaStream::synchronise() {
  const CurrentDevice current(context_);
  context_.check(cudaStreamSynchronize(stream_), "waiting for a stream");
}

CudaEvent::CudaEvent(Device& device, CudaContext& context) : device_(device), context_(context) {
  const CurrentDevice current(context_);
  context_.check(cudaEventCreate(&event_), "making an event");
}

CudaEvent::~CudaEvent() { (void)cudaEventDestroy(event_); }

void CudaEvent::record(Stream& stream) {
  const CurrentDevice current(context_);
  context_.check(cudaEventRecord(event_, native_stream(device_, stream)), "recording an event");
  is_recorded_ = true;
}

double CudaEvent::elapsed_us(const Event& start) const {
  const auto* from = dynamic_cast<const CudaEvent*>(&start);
  if (from == nullptr || &from->device_ != &device_)
    fail_input("the time between events of two devices");
  if (!is_recorded_ || !from->is_recorded_)
    fail_input("the time of an event that was not recorded");
  const CurrentDevice current(context_);
  context_.check(cudaEventSynchronize(event_), "waiting for an event");
  float ms = 0;
  context_.check(cudaEventElapsedTime(&ms, from->event_, event_), "reading an event's time");
  return double{ms} * 1000;
}

}  // namespace rooftile
