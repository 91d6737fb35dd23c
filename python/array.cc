// SPDX-License-Identifier: Apache-2.0
#include "python/array.h"

#include <nanobind/stl/string.h>

#include <array>
#include <memory>
#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/core/dlpack.h"

namespace rooftile::python {
namespace {

using Name = std::pair<std::string_view, DType>;
constexpr std::array kNames{
    Name{"float64", DType::f64},
    Name{"float32", DType::f32},
    Name{"float16", DType::fp16},
    Name{"bfloat16", DType::bf16},
    Name{"float8_e4m3fn", DType::e4m3},
    Name{"float8_e5m2", DType::e5m2},
    Name{"float8_e4m3fnuz", DType::e4m3fnuz},
    Name{"float8_e5m2fnuz", DType::e5m2fnuz},
    Name{"float8_e8m0fnu", DType::e8m0},
    Name{"int64", DType::i64},
    Name{"int32", DType::i32},
    Name{"int16", DType::i16},
    Name{"int8", DType::i8},
    Name{"uint8", DType::u8},
};

[[noreturn]] void fail_copy(const std::string& what, const std::string& reason) {
  fail_input(what + ": " + reason + "; only a copy could be used, and nothing is copied here");
}

[[noreturn]] void fail_type(const std::string& message) { throw nb::type_error(message.c_str()); }

std::string class_of(nb::handle object) { return nb::inst_name(object).c_str(); }

DType numpy_dtype(nb::handle dtype, const std::string& what) {
  const std::string text = nb::cast<std::string>(dtype.attr("name"));
  if (!nb::cast<bool>(dtype.attr("isnative"))) fail_copy(what, "its bytes are swapped");
  for (const auto& [known, type] : kNames)
    if (known == text) return type;
  fail_type(what + ": dtype " + text + " has no equivalent here");
}

struct Buffer {
  explicit Buffer(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_STRIDES) != 0) throw nb::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Py_buffer view{};
};

Array numpy_array(nb::handle array, const std::string& what) {
  Array result{.owner = nb::borrow(array)};
  TensorView& view = result.view;
  view.dtype = numpy_dtype(array.attr("dtype"), what);
  const Buffer buffer(array);
  result.is_writable = buffer.view.readonly == 0;
  const Py_ssize_t size = buffer.view.itemsize;
  for (int i = 0; i < buffer.view.ndim; ++i) {
    view.shape.push_back(buffer.view.shape[i]);
    view.strides.push_back(buffer.view.strides[i] / size);
    if (buffer.view.strides[i] % size != 0 && buffer.view.shape[i] > 1)
      fail_copy(what, "its strides are no multiples of its elements' size");
  }
  if (reinterpret_cast<std::uintptr_t>(buffer.view.buf) % static_cast<std::uintptr_t>(size) != 0)
    fail_copy(what, "its address is no multiple of its elements' size");
  view.data = buffer.view.buf;
  return result;
}

// What the framework answers to __dlpack__: a capsule, which frees itself. Older ones know no
// max_version.
nb::object capsule_of(nb::handle array, const std::string& what,
                      std::optional<std::uintptr_t> stream) {
  const nb::object method = array.attr("__dlpack__");
  nb::dict options;
  if (stream) options["stream"] = *stream;
  options["max_version"] = nb::make_tuple(1, 1);
  try {
    try {
      return method(**options);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
    }
    nb::del(options["max_version"]);
    return method(**options);
  } catch (nb::python_error& error) {
    const std::string reason = nb::cast<std::string>(nb::str(error.value()));
    nb::raise_from(error, PyExc_ValueError, "%s: its framework does not hand it over: %s",
                   what.c_str(), reason.c_str());
  }
}

Array dlpack_array(nb::handle array, const std::string& what,
                   std::optional<std::uintptr_t> stream) {
  Array result{.owner = capsule_of(array, what, stream)};
  PyObject* capsule = result.owner.ptr();
  try {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned") != 0) {
      const auto* tensor = static_cast<const DLManagedTensorVersioned*>(
          PyCapsule_GetPointer(capsule, "dltensor_versioned"));
      if ((tensor->flags & kDLIsCopied) != 0) fail_copy(what, "its framework gives a copy");
      result.view = from_dlpack(*tensor);
      result.is_writable = (tensor->flags & kDLReadOnly) == 0;
    } else if (PyCapsule_IsValid(capsule, "dltensor") != 0) {
      // The older struct begins with the tensor.
      result.view =
          from_dlpack(*static_cast<const DLTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
    } else {
      fail_type(what + ": __dlpack__ gave no DLPack capsule");
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unsupported) fail_type(what + ": " + error.what());
    fail_input(what + ": " + error.what());
  }
  return result;
}

std::int64_t elements_of(std::int64_t bytes, const DTypeInfo& type, const std::string& what) {
  if (bytes % type.unit_bytes != 0)
    fail_input(what + ": " + std::to_string(bytes) + " bytes are no whole units of " +
               std::string(type.name) + ", of " + std::to_string(type.unit_bytes) + " bytes");
  return checked_product({bytes / type.unit_bytes, type.unit_elements}, what);
}

Array packed_array(const Packed& packed, const std::string& what,
                   std::optional<std::uintptr_t> stream) {
  Array result = array_of(packed.array, what, stream);
  TensorView& view = result.view;
  const DTypeInfo& type = info(packed.dtype);
  const int last = view.shape.rank() - 1;
  if (view.dtype != DType::u8) fail_type(what + ": packed data must be uint8");
  if (last < 0 || (view.strides[last] != 1 && view.shape[last] > 1))
    fail_copy(what, "packed data must be contiguous along its last dimension");
  view.dtype = packed.dtype;
  view.shape[last] = elements_of(view.shape[last], type, what);
  view.strides[last] = 1;
  for (int i = 0; i < last; ++i)
    if (view.shape[i] > 1) view.strides[i] = elements_of(view.strides[i], type, what);
  if (packed.is_transposed) view = transposed(view);
  return result;
}

}  // namespace

bool is_numpy(nb::handle object) {
  PyObject* modules = PyImport_GetModuleDict();  // borrowed
  PyObject* numpy = PyDict_GetItemString(modules, "numpy");
  return numpy != nullptr && nb::isinstance(object, nb::handle(numpy).attr("ndarray"));
}

DeviceId device_of(nb::handle object, const std::string& what) {
  if (nb::isinstance<Packed>(object)) return device_of(nb::cast<Packed&>(object).array, what);
  if (is_numpy(object)) return {};
  if (!nb::hasattr(object, "__dlpack__") || !nb::hasattr(object, "__dlpack_device__"))
    fail_type(what + " is a " + class_of(object) +
              ": expected an array of NumPy, PyTorch, CuPy, JAX or another framework with DLPack");
  const nb::tuple pair = nb::tuple(object.attr("__dlpack_device__")());
  switch (nb::cast<int>(nb::int_(pair[0]))) {
    case kDLCPU:
    case kDLCUDAHost:
      return {};
    case kDLCUDA:
    case kDLCUDAManaged:
      return {DeviceKind::cuda, nb::cast<int>(pair[1])};
    default:
      fail_type(what + " is on a device that is neither a cpu nor a CUDA GPU (DLPack's type " +
                std::string(nb::str(nb::int_(pair[0])).c_str()) + ")");
  }
}

Array array_of(nb::handle object, const std::string& what, std::optional<std::uintptr_t> stream) {
  if (nb::isinstance<Packed>(object)) return packed_array(nb::cast<Packed&>(object), what, stream);
  return is_numpy(object) ? numpy_array(object, what) : dlpack_array(object, what, stream);
}

std::string_view framework_name(DType dtype) {
  for (const auto& [known, type] : kNames)
    if (type == dtype) return known;
  return "";
}

}  // namespace rooftile::python
