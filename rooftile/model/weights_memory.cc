// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/weights_memory.h"

#include <memory>
#include <utility>

#include "rooftile/base/mapped_file.h"
#include "rooftile/core/shape.h"

namespace rooftile {
namespace {

constexpr double kMostShare = 0.25;  // of the device's memory

// Whole cache lines, so that no two weights share one.
std::int64_t room_of(const TensorView& view) {
  return (bytes_of(view.dtype, num_elements(view.shape)) + 63) / 64 * 64;
}

}  // namespace

std::optional<DeviceMemory> move_to_device(Weights& weights, Device& device) {
  if (stored_bytes(weights) > kMostShare * static_cast<double>(device.properties().memory_bytes))
    return std::nullopt;
  std::int64_t bytes = 0;
  for_each_weight(std::as_const(weights), [&](const TensorView& view) { bytes += room_of(view); });
  DeviceMemory memory(device, bytes);
  const std::unique_ptr<Stream> stream = device.make_stream();
  auto* to = static_cast<char*>(memory.data());
  for_each_weight(weights, [&](TensorView& view) {
    const std::int64_t size = bytes_of(view.dtype, num_elements(view.shape));
    device.copy_to_device(*stream, to, view.data, size);
    stream->synchronise();
    let_go({view.as<const std::byte>(), static_cast<std::size_t>(size)});
    view.data = to;
    view.device = device.device_id();
    to += room_of(view);
  });
  return memory;
}

}  // namespace rooftile
