// SPDX-License-Identifier: Apache-2.0
// A stream that waits for the host: what is launched meanwhile runs without gaps. Source of the
// idea: NVIDIA nvbench's blocking kernel.
#pragma once

#include <cstdint>
#include <memory>

#include "rooftile/device/cuda/context.h"
#include "rooftile/device/device.h"

namespace rooftile {

/// A number in host memory that kernels see.
class HoldCounter {
 public:
  explicit HoldCounter(CudaContext& context);
  ~HoldCounter();
  HoldCounter(const HoldCounter&) = delete;
  HoldCounter& operator=(const HoldCounter&) = delete;

  /// As Stream::hold(). One at a time.
  [[nodiscard]] std::unique_ptr<Hold> hold(Stream& stream);

 private:
  CudaContext& context_;
  std::uint32_t* released_ = nullptr;  // how many holds are over
  std::uint32_t started_ = 0;
};

}  // namespace rooftile
