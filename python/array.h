// SPDX-License-Identifier: Apache-2.0
// Arrays of Python frameworks as views of the same memory: NumPy's own (whose DLPack knows no
// bf16), and every other's through DLPack. Nothing is ever copied.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rooftile/core/dtype.h"
#include "rooftile/core/tensor.h"

namespace rooftile::python {

namespace nb = nanobind;

/// A view, and what keeps its memory alive.
struct Array {
  TensorView view{};
  nb::object owner{};
  bool is_writable = true;
};

/// Memory whose bytes are elements of a type that the array's framework does not have: uint8 whose
/// last dimension holds GGUF blocks, int4 or fp4.
struct Packed {
  nb::object array;
  DType dtype;
  bool is_transposed = false;
};

/// Whether `object` is a NumPy array (never imports NumPy).
bool is_numpy(nb::handle object);

/// The device that holds the memory of an array of any framework.
/// Throws TypeError that names `what` when it is none.
DeviceId device_of(nb::handle object, const std::string& what);

/// A view of `object`, which `what` names in errors. `stream` is the stream of a GPU that is going
/// to use it: the array's framework makes that stream wait for what it is still computing. Throws
/// TypeError for what is no array and for element types without equivalent, ValueError for memory
/// that could only be used as a copy.
Array array_of(nb::handle object, const std::string& what, std::optional<std::uintptr_t> stream);

/// "bfloat16": the name of `dtype` in NumPy, ml_dtypes, JAX and PyTorch; empty where it has none.
std::string_view framework_name(DType dtype);

}  // namespace rooftile::python
