// SPDX-License-Identifier: Apache-2.0
// Shared memory's addresses. The window that 32-bit addresses point into:
//
//   0        1024                     1024 + dynamic, rounded up to 1024
//   [ system | dynamic shared memory  | __shared__ variables ]
#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {
namespace {

constexpr std::uint32_t kWindowAlignment = 1024;

std::uint32_t static_begin(const Block& block) {
  const auto dynamic = static_cast<std::uint32_t>(block.worker.launch.shape.dynamic_shared_bytes);
  return kReservedShared + (dynamic + kWindowAlignment - 1) / kWindowAlignment * kWindowAlignment;
}

/// Where the block's __shared__ variables are now: in the host thread's copy, or put aside.
const std::uint8_t* statics_of(const Block& block) {
  return block.worker.block == &block ? block.worker.statics : block.statics.data();
}

bool is_dynamic(const Block& block, std::uint64_t address) {
  return address - reinterpret_cast<std::uint64_t>(block.shared) < kSharedBytes;
}

bool is_static(const Block& block, std::uint64_t address) {
  const std::uint32_t bytes = block.worker.statics_bytes;
  return bytes != 0 && address - reinterpret_cast<std::uint64_t>(statics_of(block)) < bytes;
}

}  // namespace

bool is_shared(const Block& block, std::uint64_t address) {
  return is_dynamic(block, address) || is_static(block, address);
}

Block* owner_of_shared(std::uint64_t address) {
  if (is_shared(*worker()->block, address)) return worker()->block;
  for (const auto& block : worker()->cluster->blocks)
    if (is_shared(*block, address)) return block.get();
  return nullptr;
}

bool is_of_other_kernel(const SharedVariable& variable) {
  const GpuKernel& kernel = worker()->launch.kernel;
  const std::string_view function =
      std::string_view(variable.name).substr(0, variable.name.rfind("::"));
  const auto is_named = [&](std::string_view name) {
    if (!function.ends_with(name)) return false;
    const std::string_view scope = function.substr(0, function.size() - name.size());
    return scope.empty() || scope.ends_with("::");
  };
  if (is_named(kernel.simulated->name)) return false;
  for (std::size_t i = 0; i < kernel.all.count; ++i)
    if (is_named(kernel.all.first[i].name)) return true;
  return false;
}

bool lies_in_shared(const Block& block, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t from_dynamic = address - reinterpret_cast<std::uint64_t>(block.shared);
  if (from_dynamic < kSharedBytes)
    return from_dynamic + bytes <=
           static_cast<std::uint64_t>(block.worker.launch.shape.dynamic_shared_bytes);
  if (!is_static(block, address)) return false;
  const auto offset =
      static_cast<std::uint32_t>(address - reinterpret_cast<std::uint64_t>(statics_of(block)));
  const SharedVariable* variable = block.worker.launch.module->find(offset);
  return variable != nullptr && offset + bytes <= variable->end &&
         block.worker.uses_variable(*variable);
}

std::uint32_t window_address(const Block& block, std::uint64_t address) {
  if (is_dynamic(block, address))
    return static_cast<std::uint32_t>(address - reinterpret_cast<std::uint64_t>(block.shared)) +
           kReservedShared;
  const auto offset =
      static_cast<std::uint32_t>(address - reinterpret_cast<std::uint64_t>(statics_of(block)));
  Worker& self = block.worker;
  if (offset < self.variable_begin || offset >= self.variable_end)
    if (const SharedVariable* variable = self.launch.module->find(offset))
      self.use_variable(*variable);
  return offset + static_begin(block);
}

std::uint8_t* window_pointer(Block& block, std::uint32_t address) {
  if (address < static_begin(block)) return block.shared + address - kReservedShared;
  return const_cast<std::uint8_t*>(statics_of(block)) + (address - static_begin(block));
}

std::string describe_shared(const Block& block, std::uint64_t address) {
  std::string text;
  if (is_static(block, address)) {
    const auto offset =
        static_cast<std::uint32_t>(address - reinterpret_cast<std::uint64_t>(statics_of(block)));
    const SharedVariable* variable = block.worker.launch.module->find(offset);
    if (variable == nullptr) return "between __shared__ variables";
    return variable->name + " + " + std::to_string(offset - variable->begin);
  }
  std::array<char, 48> dynamic{};
  std::snprintf(
      dynamic.data(), dynamic.size(), "dynamic shared memory + 0x%llx",
      static_cast<unsigned long long>(address - reinterpret_cast<std::uint64_t>(block.shared)));
  return dynamic.data();
}

bool Worker::uses_variable(const SharedVariable& variable) const {
  return std::find(used_statics.begin(), used_statics.end(),
                   std::pair{variable.begin, variable.end}) != used_statics.end();
}

void Worker::use_variable(const SharedVariable& variable) {
  if (uses_variable(variable)) return;
  used_statics.emplace_back(variable.begin, variable.end);
  const std::scoped_lock lock(launch.merge_mutex);
  launch.static_variables[variable.begin] = variable.end;
}

void* dynamic_shared() { return worker()->block->shared; }

std::uint32_t shared_address(const void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  Block& block = *worker()->block;
  if (!is_shared(block, address)) {
    report(FindingKind::bad_operand, ROOFTILE_SIM_PC, 0,
           describe_here() + ": the address of a shared variable is wanted, this is none");
    abandon();
  }
  return window_address(block, address);
}

void* shared_pointer(std::uint32_t address) { return window_pointer(*worker()->block, address); }

void* map_shared(const void* pointer, std::uint32_t block_rank) {
  Cluster& cluster = *worker()->cluster;
  if (block_rank >= cluster.blocks.size()) {
    report(FindingKind::bad_operand, ROOFTILE_SIM_PC, 0,
           describe_here() + ": block " + std::to_string(block_rank) + " of a cluster of " +
               std::to_string(cluster.blocks.size()));
    abandon();
  }
  return window_pointer(*cluster.blocks[block_rank], shared_address(pointer));
}

}  // namespace rooftile::sim
