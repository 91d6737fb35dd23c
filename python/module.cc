// SPDX-License-Identifier: Apache-2.0
// rooftile._core: what the Python package is made of. It treats all operations alike.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "python/array.h"
#include "python/call.h"
#include "python/declaration.h"
#include "rooftile/base/error.h"
#include "rooftile/device/device.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile::python {
namespace {

PyObject* exception_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_input:
      return PyExc_ValueError;
    case ErrorCode::unsupported:
      return PyExc_NotImplementedError;
    case ErrorCode::out_of_memory:
      return PyExc_MemoryError;
    case ErrorCode::io:
      return PyExc_OSError;
    default:
      return PyExc_RuntimeError;
  }
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    PyErr_SetString(exception_for(error.code()), error.what());
  }
}

Request request(const std::string& op, const nb::tuple& arrays, const nb::tuple& options,
                const nb::object& out) {
  const Operation& operation = catalogue().operation(op);
  if (arrays.size() != operation.def->args.size() ||
      options.size() != operation.def->options.size())
    throw nb::type_error((op + ": expected an entry for each argument and option").c_str());
  return {&operation, arrays, options, out};
}

nb::object run_operation(const std::string& op, const nb::tuple& arrays, const nb::tuple& options,
                         const nb::object& out, const std::string& kernel, nb::handle stream) {
  return run(request(op, arrays, options, out), kernel, stream);
}

std::vector<std::string> reasons_of(const std::string& op, const nb::tuple& arrays,
                                    const nb::tuple& options, const nb::object& out) {
  return reasons(request(op, arrays, options, out));
}

std::string problem_of(const std::string& op, const nb::tuple& arrays, const nb::tuple& options,
                       const nb::object& out, const std::string& kernel) {
  return problem_line(request(op, arrays, options, out), kernel);
}

nb::list declarations() {
  nb::list result;
  for (const Operation& operation : catalogue().operations())
    result.append(declaration(*operation.def));
  return result;
}

nb::list kernels(const std::string& op) { return kernel_list(catalogue().operation(op)); }

std::vector<std::string> devices() {
  std::vector<std::string> ids;
  for (const DeviceFactory& factory : device_factories())
    for (const std::string& id : factory.list()) ids.push_back(id);
  return ids;
}

Packed packed(nb::object array, const std::string& dtype) {
  Packed result{.array = std::move(array), .dtype = parse_dtype(dtype)};
  if (!info(result.dtype).is_packed())
    fail_input("packed: " + dtype + " is not packed: each element has an address");
  (void)device_of(result.array, "packed: array");
  return result;
}

Packed transposed_packed(const Packed& of) {
  return {.array = of.array, .dtype = of.dtype, .is_transposed = !of.is_transposed};
}

}  // namespace

NB_MODULE(_core, module) {
  nb::register_exception_translator(translate);
  module.attr("__version__") = ROOFTILE_VERSION;
  nb::class_<Packed>(module, "Packed",
                     "Memory whose bytes are elements of a packed type: see packed().")
      .def_prop_ro("T", transposed_packed, "The same matrix with rows and columns exchanged.");
  module.def(
      "packed", packed, nb::arg("array"), nb::arg("dtype"),
      "A uint8 array whose last dimension holds elements of `dtype`: a GGUF type as q4_0, or "
      "e2m1, i4, u4. `.T` of a weight [n, k] is [k, n], as a matrix product takes it.");
  module.def(
      "devices", devices,
      "The ids of the devices here. Arrays run where they lie: on the cpu, or on their GPU.");
  module.def("declarations", declarations);
  module.def("kernels", kernels);
  module.def("run", run_operation, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
             nb::arg().none());
  module.def("reasons", reasons_of, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  module.def("problem", problem_of, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
}

}  // namespace rooftile::python
