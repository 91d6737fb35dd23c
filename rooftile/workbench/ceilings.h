// SPDX-License-Identifier: Apache-2.0
// Measured ceilings: from the device's probes, kept in the user's cache, raised by any kernel that
// proves them too low.
#pragma once

#include <functional>
#include <string>

#include "rooftile/base/api.h"
#include "rooftile/device/device.h"

namespace ROOFTILE_API rooftile {

/// Times every probe; the best of each kind becomes the ceiling. Takes a few seconds; `on_progress`
/// is told the probe and how many of how many.
Ceilings measure_ceilings(
    Device& device,
    const std::function<void(const std::string& probe, int done, int of)>& on_progress = {});

/// The cached ceilings of this device, or measured now and kept. Data sheet figures come with them.
Ceilings ceilings_of(
    Device& device,
    const std::function<void(const std::string& probe, int done, int of)>& on_progress = {});

/// Replaces the cached ceilings of this device.
void remember_ceilings(const Device& device, const Ceilings& ceilings);

/// Measures again and keeps the better of the old and the new for each limit: what a busy machine
/// hid the first time.
void improve_ceilings(Device& device, Ceilings& ceilings);

/// Raises the ceiling that `cost` ran into, if it took `time_us` and that is above it by more than
/// the ceiling's spread. Whether anything was raised.
bool raise_ceiling(Ceilings& ceilings, const Cost& cost, double time_us, const std::string& source);

}  // namespace rooftile
