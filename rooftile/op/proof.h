// SPDX-License-Identifier: Apache-2.0
// Proofs: which kernels have passed verify on which kind of device. A proof holds for the machine
// code that was verified and the version of the case set; when either changes it is stale.
#pragma once

#include <string>

#include "rooftile/base/api.h"
#include "rooftile/op/kernel.h"
#include "rooftile/op/registry.h"

namespace ROOFTILE_API rooftile {

/// Hash of the machine code of the module (program, library or plugin) that defines `kernel`. The
/// whole module counts: a kernel calls code outside its own file, so this errs on the safe side.
std::string code_hash(const KernelDef& kernel);

/// Hash of the code and the constants, those of GPUs among them, of the module that holds
/// `address`. What lies in none, as a kernel made at run time, has the code of this library.
std::string module_hash(const void* address);

enum class ProofState : std::uint8_t { none, stale, current };
std::string_view name(ProofState state);

/// Whether `kernel` has passed its operation's edge set on devices of this kind.
ProofState proof_state(const OpDef& op, const KernelDef& kernel, const DeviceProperties& device);

/// Remembers that it has, or (`passed` false) that it has not.
void remember_proof(const OpDef& op, const KernelDef& kernel, const DeviceProperties& device,
                    bool passed);

}  // namespace rooftile
