// SPDX-License-Identifier: Apache-2.0
// Launches run at once on the caller's thread and helpers of it; in-order completion is a legal
// execution of an asynchronous stream.
#include "rooftile/device/sim/sim_device.h"

#include <atomic>
#include <cstring>

#include "rooftile/base/error.h"
#include "rooftile/device/data_sheet.h"
#include "rooftile/device/gpu_kernel.h"
#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/l2_cache.h"
#include "rooftile/device/sim/launch.h"
#include "rooftile/device/sim/sim_tensor_map.h"
#include "rooftile/hardware/gpu.h"

namespace rooftile {
namespace {

constexpr std::string_view kPrefix = "sim:";
constexpr int kReportedFindings = 8;

class SimGpu;

class SimStream final : public Stream {
 public:
  explicit SimStream(SimGpu& gpu) : gpu_(gpu) {}
  [[nodiscard]] Device& device() const override;
  void launch(std::int64_t, FunctionRef<void(std::int64_t)>) override;
  void launch_kernel(const GpuKernel& kernel, const LaunchShape& shape, void** args) override;
  void synchronise() override;

 private:
  SimGpu& gpu_;
};

/// Events of a simulated device measure nothing: time there is predicted, not taken.
class SimEvent final : public Event {
 public:
  void record(Stream&) override {}
  [[nodiscard]] double elapsed_us(const Event&) const override { return 0; }
};

class SimGpu final : public SimDevice {
 public:
  SimGpu(const std::string& id, const Gpu& gpu, int index)
      : gpu_(gpu), index_(index), l2_(static_cast<std::uint64_t>(gpu.l2_bytes->value)) {
    properties_.id = id;
    properties_.name = "simulated " + std::string(gpu.product);
    properties_.kind = "sim-sm90";
    properties_.compute_units = static_cast<int>(gpu.compute_units->value);
    properties_.memory_bytes = static_cast<std::int64_t>(sim::GlobalMemory::kBytes);
    properties_.last_level_cache_bytes = static_cast<std::int64_t>(gpu.l2_bytes->value);
    properties_.gpu = &gpu;
  }

  [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
  [[nodiscard]] DeviceId device_id() const override { return {DeviceKind::sim, index_}; }
  [[nodiscard]] void* allocate(std::int64_t bytes) override {
    return sim::GlobalMemory::get().allocate(bytes);
  }
  void release(void* memory) noexcept override { sim::GlobalMemory::get().release(memory); }
  void copy_to_device(Stream&, void* to, const void* from, std::int64_t bytes) override {
    follows_kernel_ = false;
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    sim::GlobalMemory::get().mark_initialised(reinterpret_cast<std::uint64_t>(to),
                                              static_cast<std::uint64_t>(bytes));
  }
  void copy_to_host(Stream& stream, void* to, const void* from, std::int64_t bytes) override {
    stream.synchronise();
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<SimStream>(*this);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    return std::make_unique<SimEvent>();
  }
  [[nodiscard]] TensorMap encode_tensor_map(const TensorMapSpec& spec) override {
    return sim::encode_tensor_map(spec);
  }
  void synchronise() override {
    follows_kernel_ = false;
    if (unreported_.empty()) return;
    const std::string text = std::move(unreported_);
    unreported_.clear();
    throw Error(ErrorCode::device, text);
  }
  void flush_caches(Stream&) override {
    follows_kernel_ = false;
    l2_.flush();
  }
  [[nodiscard]] std::vector<Probe> probes() override { return {}; }
  [[nodiscard]] Ceilings sheet() const override { return data_sheet(gpu_); }

  void forget(void* memory, std::int64_t bytes) override {
    sim::GlobalMemory::get().mark_undefined(reinterpret_cast<std::uint64_t>(memory),
                                            static_cast<std::uint64_t>(bytes));
  }
  [[nodiscard]] bool has_schedules() const override { return true; }
  void use_schedule(int number) override {
    const auto seed = static_cast<std::uint64_t>(number);
    switch (number) {
      case 0:
        options_ = {};
        break;
      case 1:
        options_ = {.order = SimOrder::reversed, .completion = SimCompletion::early};
        break;
      default:
        options_ = {.order = SimOrder::random, .completion = SimCompletion::random, .seed = seed};
    }
  }

  void set_options(const SimOptions& options) override { options_ = options; }
  [[nodiscard]] const SimOptions& options() const override { return options_; }
  std::vector<SimLaunch> take_launches() override { return std::exchange(launches_, {}); }

  void run(const GpuKernel& kernel, const LaunchShape& shape, void** args) {
    const auto launch = sim::make_launch(kernel, shape, args, options_, gpu_, l2_, follows_kernel_);
    follows_kernel_ = true;
    launches_.push_back(sim::run_launch(*launch));
    if (launches_.size() > kKeptLaunches) launches_.erase(launches_.begin());
    const SimLaunch& done = launches_.back();
    if (done.findings.empty()) return;
    std::string& text = unreported_;
    text += done.kernel + " (" + description(shape) + "; " + rooftile::text(done.options) +
            "): " + std::to_string(done.findings.size()) + " findings";
    for (std::size_t i = 0; i < done.findings.size() && i < kReportedFindings; ++i)
      text += "\n  " + std::string(name(done.findings[i].kind)) + ": " + done.findings[i].text;
    text += "\n";
  }

 private:
  static constexpr std::size_t kKeptLaunches = 64;
  const Gpu& gpu_;
  int index_;
  sim::L2Cache l2_;
  DeviceProperties properties_;
  SimOptions options_;
  std::vector<SimLaunch> launches_;
  std::string unreported_;
  bool follows_kernel_ = false;  // the next launch comes right behind another
};

Device& SimStream::device() const { return gpu_; }

void SimStream::launch(std::int64_t, FunctionRef<void(std::int64_t)>) {
  throw Error(ErrorCode::unsupported, gpu_.properties().id + " runs kernels of .cu files only");
}

void SimStream::launch_kernel(const GpuKernel& kernel, const LaunchShape& shape, void** args) {
  gpu_.run(kernel, shape, args);
}

void SimStream::synchronise() { gpu_.synchronise(); }

}  // namespace

std::unique_ptr<SimDevice> make_sim_device(const std::string& name) {
  static std::atomic<int> count{0};
  const Gpu& gpu = find_gpu(name);
  if (gpu.compute_capability != ComputeCapability{9, 0} || !gpu.compute_units || !gpu.l2_bytes)
    throw Error(ErrorCode::unsupported,
                "the simulator models GPUs of compute capability 9.0 (h100, h200), not " + name);
  return std::make_unique<SimGpu>(std::string(kPrefix) + std::string(gpu.name), gpu, count++);
}

DeviceFactory sim_device_factory() {
  return {.family = "sim",
          .list = [] { return std::vector<std::string>{"sim:h200", "sim:h100"}; },
          .open = [](const std::string& id) -> std::unique_ptr<Device> {
            return make_sim_device(id.substr(kPrefix.size()));
          }};
}

}  // namespace rooftile
