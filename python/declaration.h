// SPDX-License-Identifier: Apache-2.0
// Declarations of operations and kernels as Python's own dicts and lists: what signatures,
// docstrings and stubs are made of.
#pragma once

#include <nanobind/nanobind.h>

#include "rooftile/op/registry.h"

namespace rooftile::python {

namespace nb = nanobind;

/// {name, summary, formula, source, axes, args, options}. An option that says which strides
/// arguments have by default is marked: a call with arrays, which have their own, does not take it.
nb::dict declaration(const OpDef& op);

/// [{name, idea, target, determinism, code_hash, calls_vendor_library}], in the order of
/// preference.
nb::list kernel_list(const Operation& operation);

}  // namespace rooftile::python
