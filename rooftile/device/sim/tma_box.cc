// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/tma_box.h"

#include <algorithm>
#include <cstring>

namespace rooftile::sim {

TmaBox::TmaBox(const TensorMapSpec& spec, const std::int32_t* coordinates)
    : map(spec), element_bytes(static_cast<std::uint32_t>(info(spec.dtype).unit_bytes)) {
  elements.fill(1);
  for (std::size_t d = 0; d < static_cast<std::size_t>(map.rank); ++d) {
    at[d] = coordinates[d];
    // The stride of dimension 0 is ignored, as without an interleaved layout it is.
    const std::int32_t step = d == 0 ? 1 : map.element_stride[d];
    elements[d] = static_cast<std::uint32_t>((map.box[d] + step - 1) / step);
    if (d != 0) rows *= elements[d];
  }
  row_bytes = elements[0] * element_bytes;
  row_pitch = map.swizzle == Swizzle::none ? row_bytes : swizzle_row_bytes(map.swizzle);
}

std::uint64_t TmaBox::tensor_bytes() const {
  std::uint64_t bytes = static_cast<std::uint64_t>(map.extent[0]) * element_bytes;
  for (std::size_t d = 1; d < static_cast<std::size_t>(map.rank); ++d)
    bytes += static_cast<std::uint64_t>(map.extent[d] - 1) *
             static_cast<std::uint64_t>(map.stride_bytes[d]);
  return bytes;
}

TmaBox::Row TmaBox::row(std::uint32_t number) const {
  Row row;
  std::int64_t offset = 0;
  for (std::size_t d = 1; d < static_cast<std::size_t>(map.rank); ++d) {
    const std::int64_t index = number % elements[d];
    number /= elements[d];
    const std::int64_t coordinate = at[d] + index * map.element_stride[d];
    if (coordinate < 0 || coordinate >= map.extent[d]) return row;
    offset += coordinate * map.stride_bytes[d];
  }
  const std::int64_t first = std::int64_t{at[0]} * element_bytes;
  const std::int64_t end = map.extent[0] * element_bytes - first;
  const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, row_bytes);
  row.begin = static_cast<std::uint32_t>(begin);
  row.end = static_cast<std::uint32_t>(std::clamp<std::int64_t>(end, begin, row_bytes));
  row.global = reinterpret_cast<std::uint64_t>(map.data) +
               static_cast<std::uint64_t>(offset + first + begin);
  return row;
}

TmaBox::Row TmaBox::written_row(std::uint32_t number) const {
  Row written = row(number);
  if (written.end > written.begin)
    written.end = (written.end + kSwizzleChunkBytes - 1) / kSwizzleChunkBytes * kSwizzleChunkBytes;
  return written;
}

void fill_outside(std::uint8_t* to, std::uint32_t bytes, const TensorMapSpec& map) {
  std::memset(to, 0, bytes);
  if (map.outside == OutOfBounds::zeros) return;
  // As an H200 does for fp16, bf16, f32 and f64 alike.
  constexpr std::uint16_t kNan = 0x7ff7;
  for (std::uint32_t i = 0; i < bytes; i += sizeof kNan) std::memcpy(to + i, &kNan, sizeof kNan);
}

}  // namespace rooftile::sim
