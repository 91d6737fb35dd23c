// SPDX-License-Identifier: Apache-2.0
// NVIDIA's cuDNN 9, loaded when it is first asked for: nothing links to it, and the same program
// starts where there is none, or only parts of one.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "rooftile/device/cuda/context.h"
#include "rooftile/device/cuda/cudnn_api.h"

namespace rooftile {

struct Cudnn {
  cudnn::GetVersion* get_version = nullptr;
  cudnn::GetErrorString* error_string = nullptr;
  cudnn::GetLastErrorString* last_error = nullptr;
  cudnn::Create* create = nullptr;
  cudnn::SetStream* set_stream = nullptr;
  cudnn::BackendCreateDescriptor* create_descriptor = nullptr;
  cudnn::BackendDestroyDescriptor* destroy_descriptor = nullptr;
  cudnn::BackendSetAttribute* set_attribute = nullptr;
  cudnn::BackendGetAttribute* get_attribute = nullptr;
  cudnn::BackendFinalize* finalize = nullptr;
  cudnn::BackendExecute* execute = nullptr;
  cudnn::CreateTensorDescriptor* create_tensor = nullptr;
  cudnn::DestroyTensorDescriptor* destroy_tensor = nullptr;
  cudnn::SetTensor4dDescriptorEx* set_tensor = nullptr;
  cudnn::SoftmaxForward* softmax_forward = nullptr;
  std::size_t version = 0;  // 91900 is 9.19.0
  std::string reason{};     // why it cannot be used; empty: it can

  /// Throws Error(device) with the name of the status and cuDNN's own words on it, unless it is a
  /// success. `doing` says what failed: "normalising".
  void check(cudnn::Status status, const char* doing) const;
  /// What cuDNN has to say of this thread's calls since it was last asked, on one line; may be
  /// empty.
  [[nodiscard]] std::string last_words() const;
};

/// How a library and its functions are found: dlopen() and dlsym(), or a test's.
struct LibrarySource {
  void* (*open)(const char* name) = nullptr;
  void* (*find)(void* library, const char* symbol) = nullptr;
};

/// libcudnn.so.9 and those that it loads by itself.
Cudnn load_cudnn(const LibrarySource& source);

/// That of this process, looked for once.
const Cudnn& cudnn_library();

/// One GPU as cuDNN knows it, kept with its handle until the process ends.
struct CudnnDevice {
  explicit CudnnDevice(int index) : context(index) {}

  CudaContext context;
  cudnn::Handle handle = nullptr;
  std::mutex turn;  // a handle has one stream at a time
};

/// `index` as the CUDA runtime counts. Throws Error(device) where the library does not start on it.
CudnnDevice& cudnn_device(int index);

/// While it lives, the device is current, and its handle is this thread's and puts work on
/// `stream`.
class CudnnTurn {
 public:
  CudnnTurn(CudnnDevice& device, cudaStream_t stream)
      : current_(device.context), lock_(device.turn) {
    cudnn_library().check(cudnn_library().set_stream(device.handle, stream), "choosing a stream");
  }

 private:
  CurrentDevice current_;
  std::lock_guard<std::mutex> lock_;
};

}  // namespace rooftile
