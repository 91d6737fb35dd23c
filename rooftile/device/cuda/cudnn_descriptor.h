// SPDX-License-Identifier: Apache-2.0
// A descriptor of cuDNN's graph interface: made, given attributes, finalised; frees itself.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "rooftile/device/cuda/cudnn.h"

namespace rooftile {

class CudnnDescriptor {
 public:
  /// Throws Error(device), as all of it does, with what cuDNN says.
  explicit CudnnDescriptor(cudnn::Kind kind) {
    const Cudnn& library = cudnn_library();
    library.check(library.create_descriptor(kind, &descriptor_), "making a descriptor");
  }
  ~CudnnDescriptor() {
    if (descriptor_ != nullptr) cudnn_library().destroy_descriptor(descriptor_);
  }
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  CudnnDescriptor& operator=(CudnnDescriptor&&) = delete;

  [[nodiscard]] cudnn::Descriptor get() const { return descriptor_; }

  template <class T>
  void set(cudnn::Attribute attribute, cudnn::Type type, const T* values, std::int64_t count) {
    const Cudnn& library = cudnn_library();
    library.check(library.set_attribute(descriptor_, attribute, type, count, values),
                  "describing what is wanted");
  }
  template <class T>
  void set(cudnn::Attribute attribute, cudnn::Type type, std::initializer_list<T> values) {
    set(attribute, type, values.begin(), static_cast<std::int64_t>(values.size()));
  }
  void set(cudnn::Attribute attribute, const CudnnDescriptor& part) {
    set(attribute, cudnn::kTypeDescriptor, {part.get()});
  }

  void finalise(const char* doing) {
    cudnn_library().check(cudnn_library().finalize(descriptor_), doing);
  }

  /// One number of a finalised descriptor.
  [[nodiscard]] std::int64_t number(cudnn::Attribute attribute) const {
    const Cudnn& library = cudnn_library();
    std::int64_t value = 0;
    std::int64_t count = 0;
    library.check(
        library.get_attribute(descriptor_, attribute, cudnn::kTypeInt64, 1, &count, &value),
        "asking a descriptor");
    return value;
  }

 private:
  cudnn::Descriptor descriptor_ = nullptr;
};

}  // namespace rooftile
