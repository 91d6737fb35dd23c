// SPDX-License-Identifier: Apache-2.0
// One GPU as the CUDA runtime numbers it: made current for each call, and every error of a call
// turned into ours. An error that breaks the process's context poisons it: from then on every call
// throws what broke it, since CUDA would only repeat the same code.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <string>

namespace rooftile {

/// "cudaErrorIllegalAddress, an illegal memory access was encountered"
std::string description(cudaError_t status);

class CudaContext {
 public:
  explicit CudaContext(int index) : index_(index), id_("cuda:" + std::to_string(index)) {}

  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] const std::string& id() const { return id_; }

  /// Throws unless `status` is cudaSuccess. `doing` says what failed: "copying to the host".
  void check(cudaError_t status, const char* doing) {
    if (status != cudaSuccess) fail(status, doing);
  }
  /// Throws Error(device), or Error(out_of_memory) where that is what `status` says, or
  /// Error(unsupported) where it says that a graph is being captured.
  [[noreturn]] void fail(cudaError_t status, const std::string& doing);

  /// Throws Error(device) with what broke this device earlier.
  void require_working() const;

 private:
  int index_;
  std::string id_;
  std::atomic<bool> is_broken_{false};
  mutable std::mutex mutex_;
  std::string what_broke_it_;
};

/// Makes a device current on this thread while it lives, then the one that was: the caller's own
/// use of CUDA notices nothing. Throws Error(device) for a broken device.
class CurrentDevice {
 public:
  explicit CurrentDevice(CudaContext& context);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
  int index_;
};

}  // namespace rooftile
