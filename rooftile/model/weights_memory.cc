// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/weights_memory.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "rooftile/base/mapped_file.h"
#include "rooftile/core/shape.h"

namespace rooftile {
namespace {

constexpr double kMostShare = 0.25;  // of the device's memory

constexpr std::int64_t kPieceBytes = 4 << 20;  // that are in memory twice while they are copied

std::int64_t size_of(const TensorView& view) {
  return bytes_of(view.dtype, num_elements(view.shape));
}

// Whole cache lines, so that no two weights share one.
std::int64_t room_of(const TensorView& view) { return (size_of(view) + 63) / 64 * 64; }

// Piece by piece: one weight, the embedding, may be most of a small model.
void copy_and_let_go(Stream& stream, char* to, const TensorView& view) {
  const std::int64_t size = size_of(view);
  for (std::int64_t at = 0; at < size; at += kPieceBytes) {
    const std::int64_t piece = std::min(kPieceBytes, size - at);
    const std::byte* from = view.as<const std::byte>() + at;
    stream.device().copy_to_device(stream, to + at, from, piece);
    stream.synchronise();
    let_go({from, static_cast<std::size_t>(piece)});
  }
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
    copy_and_let_go(*stream, to, view);
    view.data = to;
    view.device = device.device_id();
    to += room_of(view);
  });
  return memory;
}

}  // namespace rooftile
