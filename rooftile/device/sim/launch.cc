// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/launch.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>

#include "rooftile/base/error.h"
#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/machine.h"
#include "rooftile/device/sim/register_watch.h"
#include "rooftile/hardware/occupancy.h"

namespace rooftile::sim {
namespace {

constexpr std::size_t kArgumentAlignment = 128;
constexpr int kAssumedRegisters = 32;  // what limits residency here is threads and shared memory

/// One simulated launch at a time: they share the memory's maps, as launches of a stream do a GPU.
std::mutex& machine_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Epochs hold few launches: when they begin anew, what the shadow knows is forgotten.
std::uint32_t next_launch_serial() {
  static std::uint32_t serial = 0;
  if (serial == Epoch::kLaunches) {
    GlobalMemory::get().shadow().clear();
    serial = 0;
  }
  return ++serial;
}

/// Sizes are in the text of the parameters: "p8i4s128".
std::vector<std::size_t> argument_sizes(const char* parameters) {
  std::vector<std::size_t> sizes;
  for (const char* at = parameters; *at != 0;) {
    std::size_t size = 0;
    for (++at; *at >= '0' && *at <= '9'; ++at)
      size = size * 10 + static_cast<std::size_t>(*at - '0');
    sizes.push_back(size);
  }
  return sizes;
}

void copy_arguments(Launch& launch, void** args) {
  const std::vector<std::size_t> sizes = argument_sizes(launch.kernel.simulated->parameters);
  const auto aligned = [](std::uint64_t at) {
    return (at + kArgumentAlignment - 1) & ~(kArgumentAlignment - 1);
  };
  std::size_t total = kArgumentAlignment + aligned(sizes.size() * sizeof(void*));
  for (const std::size_t size : sizes) total += aligned(size);
  launch.arguments.resize(total);
  std::uint64_t at = aligned(reinterpret_cast<std::uint64_t>(launch.arguments.data()));
  launch.args = reinterpret_cast<void**>(at);
  at += aligned(sizes.size() * sizeof(void*));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    launch.args[i] = reinterpret_cast<void*>(at);
    std::memcpy(launch.args[i], args[i], sizes[i]);
    at += aligned(sizes[i]);
  }
}

void check_launch_bounds(const KernelEntry& kernel, const LaunchShape& shape) {
  if (kernel.max_threads == 0 || shape.block.count() <= std::uint64_t(kernel.max_threads)) return;
  fail_input("kernel " + std::string(kernel.name) + " has __launch_bounds__(" +
             std::to_string(kernel.max_threads) + "), launched with " +
             std::to_string(shape.block.count()) + " threads in a block");
}

std::uint64_t resident_blocks(const LaunchShape& shape, const Gpu& gpu) {
  const Occupancy fits = occupancy(gpu.compute_capability.value(),
                                   {.threads_per_block = static_cast<int>(shape.block.count()),
                                    .registers_per_thread = kAssumedRegisters,
                                    .dynamic_shared_bytes = shape.dynamic_shared_bytes});
  const double units = gpu.compute_units ? gpu.compute_units->value : 1;
  return static_cast<std::uint64_t>(std::max(1, fits.blocks_per_sm)) *
         static_cast<std::uint64_t>(units);
}

void merge(Launch& launch, Worker& worker) {
  const std::scoped_lock lock(launch.merge_mutex);
  launch.counters += worker.counters;
  for (const Site& site : worker.sites) {
    if (site.requests == 0) continue;
    Site& all = launch.sites[site.pc ^ std::uint32_t{site.flags} << 28];
    all.pc = site.pc;
    all.flags = site.flags;
    all.bytes = site.bytes;
    all.requests += site.requests;
    all.lanes += site.lanes;
    all.sectors += site.sectors;
    all.wavefronts += site.wavefronts;
    all.conflicts += site.conflicts;
  }
}

std::vector<SimLine> lines_of(const Launch& launch) {
  std::vector<const Site*> sites;
  for (const auto& [key, site] : launch.sites) sites.push_back(&site);
  std::sort(sites.begin(), sites.end(), [](const Site* a, const Site* b) { return a->pc < b->pc; });
  std::vector<SimLine> lines;
  for (const Site* site : sites)
    lines.push_back({source_line(site->pc), static_cast<MemorySpace>(site->flags & 1),
                     static_cast<AccessOp>(site->flags >> 1), site->bytes, site->requests,
                     site->lanes, site->sectors, site->wavefronts, site->conflicts});
  return lines;
}

}  // namespace

std::unique_ptr<Launch, LaunchDeleter> make_launch(const GpuKernel& kernel,
                                                   const LaunchShape& shape, void** args,
                                                   const SimOptions& options, const Gpu& gpu,
                                                   L2Cache& l2, bool follows_kernel) {
  check_launch(shape, gpu, 0);
  check_launch_bounds(*kernel.simulated, shape);
  std::unique_ptr<Launch, LaunchDeleter> launch(new Launch);
  launch->kernel = kernel;
  launch->shape = shape;
  launch->options = options;
  launch->l2 = &l2;
  launch->may_overlap = shape.programmatic_overlap && follows_kernel;
  launch->call = reinterpret_cast<void (*)(void**)>(const_cast<void*>(kernel.simulated->code));
  launch->module = &Module::of(kernel.simulated->code);
  if (launch->module->lacks_symbols())
    throw Error(ErrorCode::unsupported,
                launch->module->path() +
                    " was stripped of its symbols, by which the simulator knows the __shared__"
                    " variables of kernels: leave them in it (strip --strip-debug does)");
  if (options.check && shape.grid.count() >= Epoch::kBlocks)
    throw Error(ErrorCode::unsupported,
                "grid of " + std::to_string(shape.grid.count()) + " blocks: the simulator checks " +
                    std::to_string(Epoch::kBlocks - 1) + " (check=off runs more)");
  launch->clusters = shape.grid.count() / shape.cluster.count();
  launch->resident_blocks = resident_blocks(shape, gpu);
  copy_arguments(*launch, args);
  return launch;
}

std::uint64_t Launch::cluster_at(std::uint64_t place) const {
  if (options.order == SimOrder::in_order) return place;
  if (options.order == SimOrder::reversed) return clusters - 1 - place;
  // By steps that have no divisor in common with their number, so that each is met once.
  const std::uint64_t chance = options.seed * 0x9e3779b97f4a7c15u >> 32;
  std::uint64_t step = 1 + chance % clusters;
  while (std::gcd(step, clusters) != 1) ++step;
  return (chance + place * step) % clusters;
}

SimLaunch run_launch(Launch& launch) {
  const std::scoped_lock lock(machine_mutex());
  const auto start = std::chrono::steady_clock::now();
  launch.serial = next_launch_serial();
  static GridsAhead ahead_of_next;
  // Serials that begin anew say nothing of the launches before.
  launch.ahead = launch.may_overlap && launch.serial != 1 ? ahead_of_next : GridsAhead{};
  registers_are_watched = false;
  GlobalMemory& memory = GlobalMemory::get();
  launch.global_shadow = &memory.shadow();
  memory.clear_touched();
  const auto wanted = launch.options.os_threads > 0
                          ? static_cast<std::uint64_t>(launch.options.os_threads)
                          : std::uint64_t{std::max(1u, std::thread::hardware_concurrency())};
  launch.workers = static_cast<int>(std::min(wanted, launch.clusters));
  launch.idle_at =
      std::vector<std::atomic<std::uint64_t>>(static_cast<std::size_t>(launch.workers));
  for (auto& at : launch.idle_at) at = Launch::kWorks;
  const auto work = [&launch] {
    Worker self(launch);
    self.run();
    merge(launch, self);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < launch.workers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  ahead_of_next = grids_ahead_of_next(launch);
  launch.counters[SimCounter::global_read_sectors_unique] = memory.touched_sectors(false);
  launch.counters[SimCounter::global_written_sectors_unique] = memory.touched_sectors(true);
  SimLaunch result{.kernel = launch.kernel.simulated->name,
                   .shape = launch.shape,
                   .options = launch.options,
                   .counters = launch.counters,
                   .lines = lines_of(launch),
                   .findings = launch.findings.take()};
  result.ptxas_report = launch.kernel.ptxas_report;
  for (const auto& [begin, end] : launch.static_variables)
    result.static_shared_bytes += end - begin;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

void LaunchDeleter::operator()(Launch* launch) const { delete launch; }

}  // namespace rooftile::sim
