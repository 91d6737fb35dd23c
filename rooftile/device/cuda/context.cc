// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/context.h"

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

// Of a stream whose launches are being captured: they say what may not be done then, and break
// nothing.
bool is_of_capture(cudaError_t status) {
  return status >= cudaErrorStreamCaptureUnsupported && status <= cudaErrorStreamCaptureWrongThread;
}

// Of errors, only those that broke the context come again from a call that does nothing.
bool is_context_broken() {
  const cudaError_t status = cudaStreamQuery(cudaStreamPerThread);
  (void)cudaGetLastError();
  return status != cudaSuccess && status != cudaErrorNotReady && !is_of_capture(status);
}

}  // namespace

std::string description(cudaError_t status) {
  return std::string(cudaGetErrorName(status)) + ", " + cudaGetErrorString(status);
}

void CudaContext::fail(cudaError_t status, const std::string& doing) {
  (void)cudaGetLastError();  // or a later call would be blamed for this error
  std::string message = id_ + ": " + doing + ": " + description(status);
  if (status == cudaErrorMemoryAllocation) throw Error(ErrorCode::out_of_memory, message);
  if (is_of_capture(status))
    throw Error(ErrorCode::unsupported,
                message +
                    ": a graph is being captured, and only launches can be; what waits, "
                    "copies or uses a stream of its own cannot");
  if (is_context_broken()) {
    message += " (by this or an earlier launch; nothing runs on " + id_ +
               " any more until the program is started again)";
    const std::lock_guard lock(mutex_);
    if (!is_broken_) what_broke_it_ = message;
    is_broken_ = true;
  }
  throw Error(ErrorCode::device, message);
}

void CudaContext::require_working() const {
  if (!is_broken_) return;
  const std::lock_guard lock(mutex_);
  throw Error(ErrorCode::device, what_broke_it_);
}

CurrentDevice::CurrentDevice(CudaContext& context) : index_(context.index()) {
  context.require_working();
  context.check(cudaGetDevice(&before_), "asking for the current device");
  if (before_ != index_) context.check(cudaSetDevice(index_), "making it the current device");
}

CurrentDevice::~CurrentDevice() {
  if (before_ != index_) (void)cudaSetDevice(before_);
}

}  // namespace rooftile
