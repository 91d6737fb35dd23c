// SPDX-License-Identifier: Apache-2.0
// Why launches run at once on the caller's thread: a hand-over to another thread costs more than
// many decode kernels take, and in-order completion is a legal execution of an asynchronous stream.
#include "rooftile/device/cpu/cpu_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <unordered_map>

#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/parallel.h"
#include "rooftile/base/text.h"
#include "rooftile/device/cpu/caches.h"
#include "rooftile/device/cpu/isa.h"
#include "rooftile/device/cpu/pool.h"
#include "rooftile/device/cpu/probes.h"

namespace rooftile {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kPageBytes = 4096;

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::optional<double> processor_clock_mhz() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("cpu MHz")) return parse_number(line.substr(line.find(':') + 2));
  return std::nullopt;
}

class CpuStream final : public Stream {
 public:
  CpuStream(Device& device, ThreadPool& pool) : device_(device), pool_(pool) {}
  [[nodiscard]] Device& device() const override { return device_; }
  void launch(std::int64_t blocks, FunctionRef<void(std::int64_t)> block) override {
    pool_.run(blocks, block);
  }
  void synchronise() override {}

 private:
  Device& device_;
  ThreadPool& pool_;
};

class CpuEvent final : public Event {
 public:
  void record(Stream&) override { time_ = Clock::now(); }
  [[nodiscard]] double elapsed_us(const Event& start) const override {
    return std::chrono::duration<double, std::micro>(time_ -
                                                     dynamic_cast<const CpuEvent&>(start).time_)
        .count();
  }

 private:
  Clock::time_point time_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(int threads) : pool_(threads) {
    properties_.id = "cpu";
    properties_.name = processor_name();
    properties_.kind = "cpu-" + std::string(name(cpu_isa()));
    properties_.compute_units = threads;
    properties_.memory_bytes =
        static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    properties_.last_level_cache_bytes = last_level_cache_bytes();
  }

  [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
  [[nodiscard]] DeviceId device_id() const override { return {DeviceKind::cpu, 0}; }

  void* allocate(std::int64_t bytes) override {
    // More than an address space holds, and a round-up cannot overflow.
    const std::int64_t wanted = std::clamp<std::int64_t>(bytes, 1, std::int64_t{1} << 62);
    const std::int64_t size = (wanted / kPageBytes + 1) * kPageBytes;
    void* memory = bytes < 0 ? MAP_FAILED
                             : mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      throw Error(ErrorCode::out_of_memory, "cpu: cannot allocate " + std::to_string(bytes) +
                                                " bytes (" + bytes_text(double(bytes)) + ")");
    // Large pages where they help: a streaming kernel otherwise spends its time in TLB misses.
    if (size >= (4 << 20)) madvise(memory, static_cast<std::size_t>(size), MADV_HUGEPAGE);
    const std::lock_guard lock(mutex_);
    sizes_[memory] = static_cast<std::size_t>(size);
    return memory;
  }

  void release(void* memory) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(memory);
    if (found == sizes_.end()) return;
    munmap(memory, found->second);
    sizes_.erase(found);
  }

  void copy_to_device(Stream&, void* to, const void* from, std::int64_t bytes) override {
    copy_in_parallel(to, from, static_cast<std::size_t>(bytes));
  }
  void copy_to_host(Stream&, void* to, const void* from, std::int64_t bytes) override {
    copy_in_parallel(to, from, static_cast<std::size_t>(bytes));
  }

  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<CpuStream>(*this, pool_);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<CpuEvent>(); }
  void synchronise() override {}

  // Reads twice what the caches hold: clean lines take the place of everything else.
  void flush_caches(Stream& stream) override {
    const std::int64_t bytes = 2 * most_cache_bytes();
    if (!flush_) {
      flush_ = std::make_unique<DeviceMemory>(*this, bytes);
      claim_in_parallel(flush_->data(), static_cast<std::size_t>(bytes));
      fill_in_parallel(flush_->data(), 1, static_cast<std::size_t>(bytes));
    }
    stream.launch(properties_.compute_units, [&](std::int64_t thread) {
      const std::int64_t share = bytes / properties_.compute_units;
      flush_sink_ +=
          probe_read(static_cast<const float*>(flush_->data()) + thread * share / 4, share / 4);
    });
  }

  [[nodiscard]] DeviceState state() const override {
    return {.clock_mhz = processor_clock_mhz(),
            .nominal_clock_mhz = std::nullopt,
            .power_w = std::nullopt,
            .temperature_c = std::nullopt};
  }

  // Made once: their working sets take longer to fill than many kernels take to time.
  std::vector<Probe> probes() override {
    if (probes_.empty()) probes_ = cpu_probes(*this);
    return probes_;
  }

 private:
  ThreadPool pool_;
  DeviceProperties properties_;
  std::mutex mutex_;
  std::unordered_map<void*, std::size_t> sizes_;
  std::unique_ptr<DeviceMemory> flush_;
  std::atomic<float> flush_sink_{0};
  std::vector<Probe> probes_;  // last: their memory is released to this device
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(int threads) {
  return std::make_unique<CpuDevice>(threads);
}

DeviceFactory cpu_device_factory() {
  return {.family = "cpu",
          .list = [] { return std::vector<std::string>{"cpu"}; },
          .open = [](const std::string&) { return make_cpu_device(default_threads()); }};
}

}  // namespace rooftile
