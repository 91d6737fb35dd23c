// SPDX-License-Identifier: Apache-2.0
// Weights in memory of the device that multiplies by them.
#pragma once

#include <optional>

#include "rooftile/device/device.h"
#include "rooftile/model/weights.h"

namespace rooftile {

/// Copies all weights, which lie in mapped files, into one piece of the device's memory and points
/// `weights` there; the values are the same. The files' pages are let go piece by piece
/// as they are copied, so that there is never much more than one copy in memory. Why: a decode
/// reads every weight once a token, and the pages of a mapped file are 4 KiB each, so that it waits
/// for their addresses nearly as long as for their bytes; the device's own memory comes in large
/// pages. Nothing is done, and nothing returned, where the weights would take more than a quarter
/// of the device's memory: then they are read where the file is mapped. Throws
/// Error(out_of_memory).
std::optional<DeviceMemory> move_to_device(Weights& weights, Device& device);

}  // namespace rooftile
