// SPDX-License-Identifier: Apache-2.0
#include "python/allocate.h"

#include <nanobind/ndarray.h>

#include <memory>

#include "rooftile/core/dlpack.h"

namespace rooftile::python {
namespace {

// The package's part in Python, which knows each framework's own words.
nb::object frameworks() { return nb::module_::import_("rooftile._frameworks"); }

nb::handle array_behind(nb::handle like) {
  return nb::isinstance<Packed>(like) ? nb::handle(nb::cast<Packed&>(like).array) : like;
}

Allocated own_memory(DType dtype, const Dims& shape, Device& device) {
  auto memory = std::make_unique<DeviceMemory>(device, bytes_of(dtype, num_elements(shape)));
  Allocated made{.is_own = true};
  made.array.view = TensorView::contiguous(memory->data(), dtype, shape);
  made.array.view.device = device.device_id();
  const nb::capsule owner(
      memory.release(), [](void* pointer) noexcept { delete static_cast<DeviceMemory*>(pointer); });
  DLPackStorage storage;
  const DLTensor tensor = to_dlpack(made.array.view, storage);
  std::array<std::size_t, kMaxRank> extents{};
  for (int i = 0; i < shape.rank(); ++i)
    extents.at(static_cast<std::size_t>(i)) = static_cast<std::size_t>(shape[i]);
  const nb::ndarray<nb::array_api> array(
      made.array.view.data, static_cast<std::size_t>(shape.rank()), extents.data(), owner, nullptr,
      nb::dlpack::dtype{tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes},
      tensor.device.device_type, tensor.device.device_id);
  made.object = nb::cast(array);
  made.array.owner = made.object;
  return made;
}

}  // namespace

nb::object current_stream(nb::handle array) {
  return frameworks().attr("current_stream")(array_behind(array));
}

bool is_immutable(nb::handle array) {
  return !is_numpy(array) && nb::cast<bool>(frameworks().attr("is_immutable")(array_behind(array)));
}

Allocated allocate(const std::string& what, nb::handle like, DType dtype, const Dims& shape,
                   Device& device, std::optional<std::uintptr_t> stream) {
  const std::string_view type = framework_name(dtype);
  if (type.empty())
    throw nb::type_error(
        (what + ": arrays of " + std::string(name(dtype)) + " must be given").c_str());
  nb::list extents;
  for (const std::int64_t extent : shape) extents.append(extent);
  nb::object made = frameworks().attr("empty")(array_behind(like), nb::tuple(extents),
                                               nb::str(type.data(), type.size()));
  if (made.is_none()) return own_memory(dtype, shape, device);
  Allocated result{.object = made, .array = array_of(made, what, stream)};
  result.array.view.device = device.device_id();
  return result;
}

nb::object handed_over(const Allocated& allocated, nb::handle like) {
  if (!allocated.is_own) return allocated.object;
  return frameworks().attr("from_dlpack")(array_behind(like), allocated.object);
}

}  // namespace rooftile::python
