// SPDX-License-Identifier: Apache-2.0
// Outputs that the caller did not give: arrays of the framework of the inputs.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>

#include "python/array.h"
#include "rooftile/core/shape.h"
#include "rooftile/device/device.h"

namespace rooftile::python {

/// The stream that the framework of `array` works on now; None for one that has no such thing.
nb::object current_stream(nb::handle array);

/// Whether the framework of `array` forbids writing to it.
bool is_immutable(nb::handle array);

/// A new array, its contents undefined.
struct Allocated {
  nb::object object{};
  Array array{};
  bool is_own = false;  // memory of `device`, for a framework whose arrays cannot be written
};

/// Row-major, made by the framework of `like` on its device; for frameworks whose arrays cannot be
/// written (JAX) memory of `device`, which handed_over() makes one of theirs. `what` names it in
/// errors. Throws TypeError where the framework has no such element type.
Allocated allocate(const std::string& what, nb::handle like, DType dtype, const Dims& shape,
                   Device& device, std::optional<std::uintptr_t> stream);

/// What the caller gets, once kernels have written it.
nb::object handed_over(const Allocated& allocated, nb::handle like);

}  // namespace rooftile::python
