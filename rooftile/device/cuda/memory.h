// SPDX-License-Identifier: Apache-2.0
// Memory of one GPU, aligned to pages as every device's is.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "rooftile/device/cuda/context.h"

namespace rooftile {

class CudaMemory {
 public:
  explicit CudaMemory(CudaContext& context) : context_(context) {}
  ~CudaMemory();
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  /// As Device::allocate().
  void* allocate(std::int64_t bytes);
  /// Frees what allocate() gave, after all work of the device; anything else is left alone.
  void release(void* memory) noexcept;

 private:
  void* allocate_unaligned(std::int64_t bytes, std::int64_t wanted);

  CudaContext& context_;
  std::mutex mutex_;
  std::unordered_map<void*, void*> starts_;  // of what cudaMalloc gave, by what allocate() did
};

}  // namespace rooftile
