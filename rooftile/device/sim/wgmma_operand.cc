// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/wgmma_operand.h"

#include <array>

namespace rooftile::sim {
namespace {

constexpr std::uint32_t kChunk = kSwizzleChunkBytes;
constexpr std::uint32_t kAddressMask = 0x3ffff;  // of the 18 bits that descriptors have
constexpr std::uint32_t kBankPassBytes = 128;    // below it, addresses choose no row of a pattern

void append(std::vector<SharedRun>& runs, std::uint32_t address) {
  if (!runs.empty()) {
    SharedRun& last = runs.back();
    if (last.address + last.bytes == address) {
      last.bytes += kChunk;
      return;
    }
    if (address + kChunk == last.address) {  // swizzled: the chunks of a pair change places
      last.address = address;
      last.bytes += kChunk;
      return;
    }
  }
  runs.push_back({address, kChunk});
}

}  // namespace

std::uint32_t WgmmaOperand::address(int line, int chunk) const {
  const WgmmaLayout layout = descriptor_layout(descriptor);
  const auto row = static_cast<std::uint32_t>(line);
  const auto c = static_cast<std::uint32_t>(chunk);
  const std::uint32_t chunks_of_row = swizzle_row_bytes(layout.swizzle) / kChunk;
  std::uint32_t offset = row % 8 * swizzle_row_bytes(layout.swizzle);
  if (layout.swizzle == Swizzle::none) {
    const bool is_k_major = major == Major::k;
    offset += row / 8 * (is_k_major ? layout.stride_bytes : layout.leading_bytes) +
              c * (is_k_major ? layout.leading_bytes : layout.stride_bytes);
  } else {
    offset += row / 8 * layout.stride_bytes;
    offset += major == Major::k
                  ? c * kChunk
                  : c / chunks_of_row * layout.leading_bytes + c % chunks_of_row * kChunk;
  }
  return swizzled(layout.swizzle, (descriptor_address(descriptor) + offset) & kAddressMask);
}

std::vector<SharedRun> runs_of(const WgmmaOperand& operand, int first_line, int end_line,
                               int first_chunk, int end_chunk) {
  std::vector<SharedRun> runs;
  for (int line = first_line; line < end_line; ++line)
    for (int chunk = first_chunk; chunk < end_chunk; ++chunk)
      append(runs, operand.address(line, chunk));
  return runs;
}

std::uint8_t* shared_bytes(Block& block, std::uint32_t address, std::uint32_t bytes) {
  // Most lie in dynamic shared memory.
  const auto dynamic = static_cast<std::uint64_t>(block.worker.launch.shape.dynamic_shared_bytes);
  if (address >= kReservedShared && std::uint64_t{address} - kReservedShared + bytes <= dynamic)
    return block.shared + address - kReservedShared;
  std::uint8_t* const pointer = window_pointer(block, address);
  return lies_in_shared(block, reinterpret_cast<std::uint64_t>(pointer), bytes) ? pointer : nullptr;
}

void read_operand(MatrixValue* values, int row_stride, int k_stride, const WgmmaOperand& operand,
                  Block& block) {
  static constexpr std::array<std::uint8_t, kChunk> kZeros{};
  const bool is_k_major = operand.major == Major::k;
  const int along = is_k_major ? k_stride : row_stride;  // the neighbours of a chunk
  const int across = is_k_major ? row_stride : k_stride;
  const int elements = is_k_major ? operand.k / 2 : 8;  // of a chunk
  for (int line = 0; line < operand.lines(); ++line)
    for (int chunk = 0; chunk < operand.chunks(); ++chunk) {
      const std::uint8_t* from = shared_bytes(block, operand.address(line, chunk), kChunk);
      if (from == nullptr) from = kZeros.data();
      unpack(values + line * across + chunk * elements * along, along, from, elements, operand.type,
             operand.scale);
    }
}

std::string problem_of(const WgmmaOperand& operand, FindingKind& kind) {
  const WgmmaLayout layout = descriptor_layout(operand.descriptor);
  if (layout.base_offset != 0) {
    kind = FindingKind::unsupported;
    return "a base offset of " + std::to_string(layout.base_offset) + "; the simulator models 0";
  }
  const std::uint32_t period = swizzle_period_bytes(layout.swizzle);
  const std::uint32_t start = descriptor_address(operand.descriptor);
  if (layout.swizzle != Swizzle::none && (start & (period - 1) & ~(kBankPassBytes - 1)) != 0) {
    kind = FindingKind::bad_operand;
    return "the tile starts at shared address " + std::to_string(start) +
           ", inside of a swizzle's pattern of " + std::to_string(period) + " bytes";
  }
  return {};
}

}  // namespace rooftile::sim
