// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's management library tells of a GPU: clocks, power, temperature. It comes with the
// driver and is loaded when first asked; where it is missing, nothing is told.
#pragma once

#include <string>

#include "rooftile/device/device.h"

namespace rooftile {

/// The driver's version, "580.159.04"; empty when not told.
std::string nvml_driver_version();

/// The state of the GPU at this address of the PCI bus, "0000:1B:00.0".
DeviceState nvml_state(const std::string& pci_bus_id);

}  // namespace rooftile
