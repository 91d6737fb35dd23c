// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/memory.h"

#include <algorithm>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

constexpr std::uintptr_t kAlignment = 4096;

void* aligned(void* start) {
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

/// While it lives, this thread may allocate and free although a graph is being captured, here or by
/// another thread: a kernel's workspace is no part of the graph. PyTorch allocates so as well.
class DuringCaptures {
 public:
  DuringCaptures() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~DuringCaptures() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  DuringCaptures(const DuringCaptures&) = delete;
  DuringCaptures& operator=(const DuringCaptures&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace

CudaMemory::~CudaMemory() {
  for (const auto& [memory, start] : starts_) (void)cudaFree(start);
}

void* CudaMemory::allocate_unaligned(std::int64_t bytes, std::int64_t wanted) {
  void* start = nullptr;
  const cudaError_t status = cudaMalloc(&start, static_cast<std::size_t>(bytes));
  if (status == cudaSuccess) return start;
  const std::string what =
      std::to_string(wanted) + " bytes (" + bytes_text(static_cast<double>(wanted)) + ")";
  if (status != cudaErrorMemoryAllocation) context_.fail(status, "allocating " + what);
  (void)cudaGetLastError();
  std::size_t available = 0;
  std::size_t all = 0;
  context_.check(cudaMemGetInfo(&available, &all), "asking for the free memory");
  throw Error(ErrorCode::out_of_memory, context_.id() + ": cannot allocate " + what + ": " +
                                            bytes_text(static_cast<double>(available)) + " of " +
                                            bytes_text(static_cast<double>(all)) + " are free");
}

// CUDA aligns small allocations to less than a page, large ones to more: room to align in is taken
// only when it turns out to be needed.
void* CudaMemory::allocate(std::int64_t bytes) {
  if (bytes < 0)
    throw Error(ErrorCode::out_of_memory,
                context_.id() + ": cannot allocate " + std::to_string(bytes) + " bytes");
  const CurrentDevice current(context_);
  const DuringCaptures relaxed;
  const std::int64_t size = std::clamp<std::int64_t>(bytes, 1, std::int64_t{1} << 62);
  void* start = allocate_unaligned(size, bytes);
  if (aligned(start) != start) {
    context_.check(cudaFree(start), "freeing memory");
    start = allocate_unaligned(size + static_cast<std::int64_t>(kAlignment), bytes);
  }
  const std::lock_guard lock(mutex_);
  starts_[aligned(start)] = start;
  return aligned(start);
}

void CudaMemory::release(void* memory) noexcept {
  void* start = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = starts_.find(memory);
    if (found == starts_.end()) return;
    start = found->second;
    starts_.erase(found);
  }
  try {
    const CurrentDevice current(context_);
    const DuringCaptures relaxed;
    if (cudaFree(start) != cudaSuccess) (void)cudaGetLastError();
  } catch (const Error&) {
    return;  // a broken device has no memory to give back
  }
}

}  // namespace rooftile
