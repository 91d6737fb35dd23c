// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/gpu_kernel.h"

#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/hardware/gpu.h"

namespace rooftile {
namespace {

constexpr std::uint32_t kMostGridYz = 65535;
constexpr std::uint32_t kMostGridX = 2147483647;
constexpr std::uint32_t kMostBlockZ = 64;
constexpr std::uint64_t kPortableCluster = 8;

const KernelEntry* find_entry(const KernelEntries& entries, std::string_view name) {
  for (std::size_t i = 0; i < entries.count; ++i)
    if (entries.first[i].name == name) return &entries.first[i];
  return nullptr;
}

std::string text(const Extent3& extent) {
  std::string out = std::to_string(extent.x);
  if (extent.y != 1 || extent.z != 1) out += "x" + std::to_string(extent.y);
  if (extent.z != 1) out += "x" + std::to_string(extent.z);
  return out;
}

void check_cluster(const LaunchShape& shape) {
  const Extent3& cluster = shape.cluster;
  if (cluster.count() == 0) fail_input("cluster: every extent is at least 1");
  if (cluster.count() > kPortableCluster)
    fail_input("cluster of " + text(cluster) + ": at most " + std::to_string(kPortableCluster) +
               " blocks");
  if (shape.grid.x % cluster.x != 0 || shape.grid.y % cluster.y != 0 ||
      shape.grid.z % cluster.z != 0)
    fail_input("grid of " + text(shape.grid) + " blocks is no multiple of the cluster, " +
               text(cluster));
}

}  // namespace

GpuKernel find_kernel(std::initializer_list<const KernelTable*> tables, std::string_view name) {
  std::vector<std::string> names;
  for (const KernelTable* table : tables) {
    const KernelEntries simulated = table->simulated();
    GpuKernel kernel{table->name, simulated, find_entry(simulated, name), nullptr};
    if (kernel.simulated == nullptr) {
      for (std::size_t i = 0; i < simulated.count; ++i) names.emplace_back(simulated.first[i].name);
      continue;
    }
    if (table->cuda != nullptr) kernel.cuda = find_entry(table->cuda(), name);
    if (table->ptxas_report != nullptr) kernel.ptxas_report = table->ptxas_report;
    return kernel;
  }
  fail_input(unknown_name("kernel of " + std::string((*tables.begin())->name), name, names));
}

GpuKernel find_kernel(const KernelTable& table, std::string_view name) {
  return find_kernel({&table}, name);
}

std::string description(const LaunchShape& shape) {
  std::string out = "grid " + text(shape.grid) + ", block " + text(shape.block);
  if (shape.cluster.count() != 1) out += ", cluster " + text(shape.cluster);
  if (shape.dynamic_shared_bytes != 0)
    out += ", " + std::to_string(shape.dynamic_shared_bytes) + " bytes of dynamic shared memory";
  return out;
}

void check_launch(const LaunchShape& shape, const Gpu& gpu, std::int64_t static_shared_bytes) {
  if (shape.grid.count() == 0 || shape.block.count() == 0)
    fail_input("a launch needs at least one block and one thread: " + description(shape));
  if (shape.block.count() > kMaxThreadsPerBlock)
    fail_input("block of " + text(shape.block) + ": " + std::to_string(shape.block.count()) +
               " threads, at most " + std::to_string(kMaxThreadsPerBlock));
  if (shape.block.z > kMostBlockZ)
    fail_input("block of " + text(shape.block) + ": z is at most " + std::to_string(kMostBlockZ));
  if (shape.grid.x > kMostGridX || shape.grid.y > kMostGridYz || shape.grid.z > kMostGridYz)
    fail_input("grid of " + text(shape.grid) + ": at most " + std::to_string(kMostGridX) + "x" +
               std::to_string(kMostGridYz) + "x" + std::to_string(kMostGridYz));
  check_cluster(shape);
  const std::int64_t most = sm_limits(gpu.compute_capability.value()).max_block_shared_bytes;
  if (shape.dynamic_shared_bytes < 0 || shape.dynamic_shared_bytes > most - static_shared_bytes)
    fail_input(std::to_string(shape.dynamic_shared_bytes) + " bytes of dynamic and " +
               std::to_string(static_shared_bytes) + " of static shared memory: " +
               std::string(gpu.name) + " has " + std::to_string(most) + " for a block");
}

void launch_kernel(Stream& stream, const GpuKernel& kernel, const LaunchShape& shape, void** args,
                   std::string_view parameters) {
  if (kernel.simulated == nullptr) fail_input("no kernel to launch");
  if (parameters != kernel.simulated->parameters)
    fail_input("kernel " + std::string(kernel.simulated->name) + " has parameters " +
               kernel.simulated->parameters + ", launched with " + std::string(parameters) +
               " (p pointer, i integer, f floating point, s class; size in bytes)");
  stream.launch_kernel(kernel, shape, args);
}

}  // namespace rooftile
