// SPDX-License-Identifier: Apache-2.0
// The simulated GPUs: "sim:h200", "sim:h100". They run the kernels of .cu files on the host's cores
// with the GPU's bits, check what they do and count it. What is wrong in a kernel makes
// synchronise() throw Error(device) with the findings; take_launches() has everything.
#pragma once

#include <memory>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/device/device.h"
#include "rooftile/device/sim/sim_launch.h"

namespace ROOFTILE_API rooftile {

class SimDevice : public Device {
 public:
  /// For the launches that follow.
  virtual void set_options(const SimOptions& options) = 0;
  [[nodiscard]] virtual const SimOptions& options() const = 0;
  /// The launches since the last call, oldest first.
  virtual std::vector<SimLaunch> take_launches() = 0;
};

DeviceFactory sim_device_factory();

/// Throws Error(bad_input) for a GPU that the hardware table lacks, Error(unsupported) for one that
/// the simulator does not model.
std::unique_ptr<SimDevice> make_sim_device(const std::string& gpu);

}  // namespace rooftile
