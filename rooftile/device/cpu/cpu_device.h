// SPDX-License-Identifier: Apache-2.0
// The cpu device: our own thread pool, host memory, streams that run what they are given at once.
#pragma once

#include <memory>

#include "rooftile/base/api.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

DeviceFactory cpu_device_factory();

/// A cpu device with `threads` threads, the caller included.
std::unique_ptr<Device> make_cpu_device(int threads);

}  // namespace rooftile
