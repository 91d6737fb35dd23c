// SPDX-License-Identifier: Apache-2.0
// A call from Python: arrays and options to the library's own call(), on the caller's stream.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "rooftile/op/registry.h"

namespace rooftile::python {

namespace nb = nanobind;

/// What a Python function passes on. `arrays` and `options` have one entry for each that the
/// operation declares, in its order. Of arrays, None is absent, and True an optional output that is
/// to be allocated. Of options, None is the default.
struct Request {
  const Operation* operation;
  nb::tuple arrays;
  nb::tuple options;
  nb::object out;  // the outputs that are always there: None, one array, or a tuple of them
};

/// Runs a request and gives its outputs: one array, a tuple of them, or None where all are updated
/// in place. `kernel` is a kernel's name or empty; `stream` is None (the framework's own) or the
/// number of a stream. The interpreter's lock is released while kernels run. Throws Error,
/// TypeError.
nb::object run(const Request& request, const std::string& kernel, nb::handle stream);

/// For each kernel in the order of preference, why it does not run this request; empty: it does.
std::vector<std::string> reasons(const Request& request);

/// The line that names this request and the kernel that dispatch chooses, as the command line and
/// records have it. Throws Error(unsupported) with each kernel's reason when none runs it.
std::string problem_line(const Request& request, const std::string& kernel);

/// Opens a device once; it stays open. Throws Error(unsupported) for a GPU without CUDA in this
/// build.
Device& device_for(DeviceId id);

}  // namespace rooftile::python
