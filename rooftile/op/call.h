// SPDX-License-Identifier: Apache-2.0
// The typed calls' way in: tensors and options to a plan, made once for each kind of call and kept.
#pragma once

#include <span>
#include <string_view>

#include "rooftile/base/api.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/registry.h"

namespace ROOFTILE_API rooftile {

/// Runs `op`, "OP" or "OP/KERNEL", on `views` (one for each declared argument in order, absent ones
/// without data): binds, chooses and prepares at the first call with these dtypes, shapes, strides
/// and options on this device, and looks the plan up after that. Plans and their workspaces belong
/// to the calling thread and, where streams have handles of a runtime, to the stream; those that a
/// graph was captured of are kept until the program ends. Engines that count nanoseconds prepare a
/// Plan themselves.
void call(const Registry& registry, std::string_view op, Stream& stream,
          std::span<const TensorView> views, std::span<const OptionValue> options);

}  // namespace rooftile
