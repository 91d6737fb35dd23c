// SPDX-License-Identifier: Apache-2.0
#include "python/call.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "python/allocate.h"
#include "python/array.h"
#include "python/overlap.h"
#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/device/device.h"
#include "rooftile/op/call.h"
#include "rooftile/op/dispatch.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile::python {
namespace {

// cudaStreamLegacy, under the number that DLPack gives it too.
constexpr std::uintptr_t kLegacyStream = 1;

std::string id_text(DeviceId id) {
  return id.kind == DeviceKind::cpu ? "cpu" : "cuda:" + std::to_string(id.index);
}

std::string title(const OpDef& op, const ArgDef& arg) {
  return op.name + ": argument '" + arg.name + "'";
}

// Outputs that are always there, but for those that go with an argument.
bool is_plain_output(const ArgDef& arg) { return arg.role == Role::out && !arg.is_optional; }

// A request's arrays with those of `out` in their places.
std::vector<nb::object> spread(const Request& request) {
  const OpDef& op = *request.operation->def;
  std::vector<nb::object> objects;
  for (const nb::handle array : request.arrays) objects.push_back(nb::borrow(array));
  if (request.out.is_none()) return objects;
  const bool is_several =
      nb::isinstance<nb::tuple>(request.out) || nb::isinstance<nb::list>(request.out);
  const nb::tuple given = is_several ? nb::tuple(request.out) : nb::make_tuple(request.out);
  std::size_t next = 0;
  for (std::size_t i = 0; i < op.args.size() && next < given.size(); ++i)
    if (is_plain_output(op.args[i])) objects[i] = nb::borrow(given[next++]);
  if (next < given.size())
    fail_input(op.name + ": out has " + std::to_string(given.size()) + " arrays, there are " +
               std::to_string(next) + " outputs");
  return objects;
}

// Where a call runs: found from its arrays before they are asked for their memory, since their
// frameworks want to know the stream then.
struct Place {
  DeviceId device{};
  nb::object like{};                       // the first input: outputs are arrays as it is one
  std::optional<std::uintptr_t> stream{};  // of a GPU
  bool must_wait = false;                  // its framework has no stream of the caller's
};

bool is_array(nb::handle object) { return !object.is_none() && !nb::isinstance<nb::bool_>(object); }

Place place_of(const OpDef& op, const std::vector<nb::object>& objects, nb::handle stream) {
  Place place;
  std::string first;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!is_array(objects[i])) continue;
    const DeviceId device = device_of(objects[i], title(op, op.args[i]));
    if (!first.empty() && !(device == place.device))
      fail_input(title(op, op.args[i]) + " is on " + id_text(device) + ", '" + first + "' on " +
                 id_text(place.device));
    if (first.empty()) first = op.args[i].name;
    place.device = device;
    if (!place.like.is_valid() && op.args[i].role != Role::out) place.like = objects[i];
  }
  if (first.empty() || !place.like.is_valid()) fail_input(op.name + ": no input was given");
  if (place.device.kind == DeviceKind::cpu) {
    if (!stream.is_none()) fail_input(op.name + ": stream: arrays of the cpu have none");
    return place;
  }
  const nb::object chosen = stream.is_none() ? current_stream(place.like) : nb::borrow(stream);
  place.must_wait = chosen.is_none();
  if (!chosen.is_none() && !nb::isinstance<nb::int_>(chosen))
    throw nb::type_error((op.name + ": stream: expected the number of a CUDA stream").c_str());
  place.stream = chosen.is_none() ? kLegacyStream : nb::cast<std::uintptr_t>(chosen);
  // Why: DLPack has no number for "the default" but this one.
  if (place.stream == 0U) place.stream = kLegacyStream;
  return place;
}

std::string option_text(const OpDef& op, const OptionDef& option, nb::handle value) {
  const auto fail = [&](const char* expected) {
    const std::string given = nb::cast<std::string>(nb::repr(value));
    throw nb::type_error(
        (op.name + ": " + option.name + "=" + given + ": expected " + expected).c_str());
  };
  if (option.kind == OptionKind::choice) {
    if (!nb::isinstance<nb::str>(value)) fail("a string");
    return nb::cast<std::string>(value);
  }
  if (nb::isinstance<nb::bool_>(value)) fail("a number");
  if (option.kind == OptionKind::integer) {
    if (PyIndex_Check(value.ptr()) == 0) fail("a whole number");
    return nb::cast<std::string>(nb::str(nb::steal(PyNumber_Index(value.ptr()))));
  }
  if (nb::isinstance<nb::str>(value) || PyNumber_Check(value.ptr()) == 0) fail("a number");
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return shortest(number);
}

std::vector<OptionValue> options_of(const Request& request) {
  const OpDef& op = *request.operation->def;
  std::vector<OptionValue> values;
  for (std::size_t i = 0; i < op.options.size(); ++i)
    if (!request.options[i].is_none())
      values.push_back({op.options[i].name, option_text(op, op.options[i], request.options[i])});
  return values;
}

// The views of a call, and what keeps them alive and is returned.
struct Bound {
  std::vector<TensorView> views;
  std::vector<Array> arrays{};
  std::vector<Allocated> outputs{};
};

Bound bind_arrays(const OpDef& op, const std::vector<nb::object>& objects, const Place& place) {
  Bound bound{.views = std::vector<TensorView>(op.args.size())};
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!is_array(objects[i])) continue;
    const ArgDef& arg = op.args[i];
    Array array = array_of(objects[i], title(op, arg), place.stream);
    if (arg.role != Role::in && (!array.is_writable || is_immutable(objects[i])))
      fail_input(title(op, arg) + " is written, but its memory is read-only");
    array.view.device = place.device;  // memory of the host that a GPU reads is that GPU's here
    bound.views[i] = array.view;
    bound.arrays.push_back(std::move(array));
  }
  return bound;
}

struct OutputSpec {
  bool is_present = false;
  DType dtype = DType::f32;
  Dims shape{};
};
using OutputSpecs = std::vector<OutputSpec>;  // one for each argument; inputs are not present

OutputSpecs make_specs(const OpDef& op, std::span<const TensorView> views,
                       std::span<const OptionValue> options) {
  const Problem problem = rooftile::bind(op, views, options);
  OutputSpecs specs(op.args.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const ArgChoice& choice = problem.args[i];
    if (op.args[i].role != Role::out) continue;
    specs[i] = {.is_present = choice.is_present, .dtype = choice.dtype};
    for (const std::string& axis : op.args[i].axes) specs[i].shape.push_back(problem.axis(axis));
  }
  return specs;
}

// What the operation declares of outputs for these inputs. Kept, since binding takes longer than
// many kernels.
const OutputSpecs& specs_for(const OpDef& op, std::span<const TensorView> views,
                             std::span<const OptionValue> options) {
  constexpr std::size_t kMost = 512;
  thread_local std::unordered_map<std::string, OutputSpecs> known;
  std::string key = op.name;
  for (const TensorView& view : views)
    key.append(view.is_present() ? name(view.dtype) : "-").append(to_string(view.shape));
  for (const OptionValue& option : options) key.append(option.name).append(option.value);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  if (known.size() >= kMost) known.clear();
  return known.emplace(std::move(key), make_specs(op, views, options)).first->second;
}

bool is_wanted(const ArgDef& arg, const OutputSpec& spec, nb::handle object) {
  return arg.is_optional ? nb::isinstance<nb::bool_>(object) && nb::cast<bool>(object)
                         : spec.is_present;
}

// Takes or allocates each output, in the operation's order.
void add_outputs(const OpDef& op, const std::vector<nb::object>& objects, const Place& place,
                 std::span<const OptionValue> options, Device& device, Bound& bound) {
  const std::vector<TensorView> given = bound.views;
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    const ArgDef& arg = op.args[i];
    if (arg.role != Role::out) continue;
    if (is_array(objects[i])) {
      bound.outputs.push_back({.object = objects[i]});
      continue;
    }
    if (arg.is_optional && objects[i].is_none()) continue;
    const OutputSpec& spec = specs_for(op, given, options)[i];
    if (!is_wanted(arg, spec, objects[i])) continue;
    bound.outputs.push_back(
        allocate(title(op, arg), place.like, spec.dtype, spec.shape, device, place.stream));
    bound.views[i] = bound.outputs.back().array.view;
  }
}

void refuse_overlaps(const OpDef& op, std::span<const TensorView> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (op.args[i].role == Role::in || !views[i].is_present()) continue;
    for (std::size_t j = 0; j < views.size(); ++j) {
      // The same start is the library's to allow or refuse.
      if (i == j || !views[j].is_present() || views[i].data == views[j].data) continue;
      if (may_overlap(views[i], views[j]))
        fail_input(op.name + ": '" + op.args[i].name +
                   "' is written and shares a part of the memory of '" + op.args[j].name + "'");
    }
  }
}

void launch(const std::string& name, Device& device, const Place& place,
            std::span<const TensorView> views, std::span<const OptionValue> options) {
  const nb::gil_scoped_release release;
  const std::unique_ptr<Stream> stream =
      place.stream ? device.wrap_stream(reinterpret_cast<void*>(*place.stream))
                   : device.make_stream();
  call(catalogue(), name, *stream, views, options);
  if (place.must_wait) stream->synchronise();
}

// A request that is asked about, not run.
struct Posed {
  Problem problem;
  Device* device;
};

Posed pose(const Request& request) {
  const OpDef& op = *request.operation->def;
  const std::vector<nb::object> objects = spread(request);
  const Place place = place_of(op, objects, nb::none());
  const Bound bound = bind_arrays(op, objects, place);
  return {rooftile::bind(op, bound.views, options_of(request)), &device_for(place.device)};
}

}  // namespace

nb::object run(const Request& request, const std::string& kernel, nb::handle stream) {
  const OpDef& op = *request.operation->def;
  const std::vector<nb::object> objects = spread(request);
  const Place place = place_of(op, objects, stream);
  const std::vector<OptionValue> options = options_of(request);
  Device& device = device_for(place.device);
  Bound bound = bind_arrays(op, objects, place);
  add_outputs(op, objects, place, options, device, bound);
  refuse_overlaps(op, bound.views);
  launch(kernel.empty() ? op.name : op.name + "/" + kernel, device, place, bound.views, options);
  nb::list outputs;
  for (const Allocated& output : bound.outputs) outputs.append(handed_over(output, place.like));
  if (outputs.size() == 0) return nb::none();
  return outputs.size() == 1 ? nb::object(outputs[0]) : nb::object(nb::tuple(outputs));
}

std::vector<std::string> reasons(const Request& request) {
  const Posed posed = pose(request);
  std::vector<std::string> result;
  for (const KernelDef* kernel : request.operation->kernels)
    result.push_back(supports(*kernel, posed.problem, posed.device->properties()).reason);
  return result;
}

std::string problem_line(const Request& request, const std::string& kernel) {
  Posed posed = pose(request);
  posed.problem.kernel = kernel;
  posed.problem.kernel =
      choose(catalogue(), posed.problem, posed.device->properties()).kernel->name;
  return posed.problem.text();
}

Device& device_for(DeviceId id) {
  static std::mutex mutex;
  // Why never freed: its runtime may be gone when a program ends.
  static auto& devices = *new std::map<std::string, std::unique_ptr<Device>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Device>& device = devices[id_text(id)];
  if (device) return *device;
  const auto is_cuda = [](const DeviceFactory& factory) { return factory.family == "cuda"; };
  if (id.kind == DeviceKind::cuda && std::ranges::none_of(device_factories(), is_cuda))
    throw Error(ErrorCode::unsupported,
                id_text(id) + ": this build of rooftile has no CUDA (ROOFTILE_WITH_CUDA)");
  device = open_device(id_text(id));
  return *device;
}

}  // namespace rooftile::python
