// SPDX-License-Identifier: Apache-2.0
// Between the structs of c_plugin.h and a KernelDef: c_plugin.cc checks and wraps, c_kernel.cc asks
// and runs.
#pragma once

#include <string>
#include <vector>

#include "rooftile/op/c_plugin.h"
#include "rooftile/op/kernel.h"

namespace rooftile {

/// A KernelDef for each kernel of `plugin`, which it refers to. `code_hash` stands for their code.
/// Throws Error(bad_input) that says which field of which kernel is wrong.
std::vector<KernelDef> wrap_c_plugin(const RooftileCPlugin* plugin, const std::string& code_hash);

/// KernelDef::supports and ::prepare of a checked kernel.
Support ask_c_kernel(const RooftileCKernel& kernel, const Problem& problem,
                     const DeviceProperties& device);
Prepared prepare_c_kernel(const RooftileCKernel& kernel, const Problem& problem, Device& device);

}  // namespace rooftile
