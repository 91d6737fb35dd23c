// SPDX-License-Identifier: Apache-2.0
// What the workbench is tested with: an operation of its own, and a device whose clock moves only
// when a kernel says so. No test here measures real time.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/device/device.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/kernel.h"
#include "rooftile/op/op.h"
#include "rooftile/op/registry.h"

namespace rooftile {

/// Host memory, work that runs at once, and a virtual clock. What a kernel spends is its choice.
class FakeDevice final : public Device {
 public:
  FakeDevice() {
    properties_.id = "fake";
    properties_.name = "a fake device";
    properties_.kind = "cpu-fake";
    set_cache_bytes(4096);
  }
  ~FakeDevice() override {
    for (const auto& [memory, bytes] : sizes_) munmap(memory, bytes);
  }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  double stream_us = 0;     // when all that was launched on the stream is done
  double elsewhere_us = 0;  // when what runs on streams of a kernel's own is done
  double host_us = 0;       // the host's clock: it waits only in synchronise()
  bool is_warm = false;     // a run since the last flush
  bool can_flush = true;
  bool can_capture = true;
  bool can_replay = true;  // or its graphs do nothing, as when the work was elsewhere
  bool is_held = false;    // what is launched waits for the host
  int num_flushes = 0;
  int num_states = 0;                        // how often state() was asked
  std::function<DeviceState(int)> states{};  // by how often
  std::vector<Probe> its_probes{};
  Ceilings its_sheet{};

  void set_cache_bytes(std::int64_t bytes) { properties_.last_level_cache_bytes = bytes; }

  /// A kernel keeps the stream busy for this long.
  void spend(double us) {
    stream_us = std::max(stream_us, host_us) + us;
    is_warm = true;
  }
  /// The host launches for this long, and the device waits for it unless it is held.
  void spend_host(double us) {
    if (!is_held) host_us += us;
  }
  /// A kernel starts work of its own beside the stream.
  void spend_elsewhere(double us) { elsewhere_us = std::max(stream_us, host_us) + us; }

  [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
  [[nodiscard]] DeviceId device_id() const override { return {DeviceKind::sim, 7}; }

  void* allocate(std::int64_t bytes) override {
    const auto size = static_cast<std::size_t>(bytes + 4096);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw Error(ErrorCode::out_of_memory, "fake: no memory");
    sizes_[memory] = size;
    return memory;
  }
  void release(void* memory) noexcept override {
    munmap(memory, sizes_[memory]);
    sizes_.erase(memory);
  }
  void copy_to_device(Stream&, void* to, const void* from, std::int64_t bytes) override {
    std::copy_n(static_cast<const char*>(from), bytes, static_cast<char*>(to));
  }
  void copy_to_host(Stream&, void* to, const void* from, std::int64_t bytes) override {
    std::copy_n(static_cast<const char*>(from), bytes, static_cast<char*>(to));
  }
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<FakeStream>(*this); }
  std::unique_ptr<Event> make_event() override { return std::make_unique<FakeEvent>(); }
  [[nodiscard]] bool has_graphs() const override { return can_capture; }
  void synchronise() override { host_us = std::max({host_us, stream_us, elsewhere_us}); }
  void flush_caches(Stream&) override {
    ++num_flushes;
    if (can_flush) is_warm = false;
  }
  [[nodiscard]] DeviceState state() const override {
    auto* self = const_cast<FakeDevice*>(this);
    return states ? states(self->num_states++) : DeviceState{};
  }
  std::vector<Probe> probes() override { return its_probes; }
  [[nodiscard]] Ceilings sheet() const override { return its_sheet; }

 private:
  class FakeStream final : public Stream {
   public:
    explicit FakeStream(FakeDevice& device) : device_(device) {}
    [[nodiscard]] Device& device() const override { return device_; }
    void launch(std::int64_t blocks, FunctionRef<void(std::int64_t)> block) override {
      for (std::int64_t i = 0; i < blocks; ++i) block(i);
    }
    // Keeps the function and calls it at each run.
    std::unique_ptr<Graph> capture(const std::function<void()>& launches) override {
      if (!device_.can_capture) return Stream::capture(launches);
      return std::make_unique<FakeGraph>(device_, launches);
    }
    std::unique_ptr<Hold> hold() override { return std::make_unique<FakeHold>(device_); }
    void synchronise() override { device_.host_us = std::max(device_.host_us, device_.stream_us); }

   private:
    FakeDevice& device_;
  };

  class FakeHold final : public Hold {
   public:
    explicit FakeHold(FakeDevice& device) : device_(device) { device_.is_held = true; }
    ~FakeHold() override { device_.is_held = false; }
    FakeHold(const FakeHold&) = delete;
    FakeHold& operator=(const FakeHold&) = delete;

   private:
    FakeDevice& device_;
  };

  class FakeGraph final : public Graph {
   public:
    FakeGraph(FakeDevice& device, std::function<void()> launches)
        : device_(device), launches_(std::move(launches)) {}
    void run(Stream&) override {
      if (device_.can_replay) launches_();
    }

   private:
    FakeDevice& device_;
    std::function<void()> launches_;
  };

  class FakeEvent final : public Event {
   public:
    void record(Stream& stream) override {
      const auto& device = dynamic_cast<const FakeDevice&>(stream.device());
      time_us_ = std::max(device.host_us, device.stream_us);
    }
    [[nodiscard]] double elapsed_us(const Event& start) const override {
      return time_us_ - dynamic_cast<const FakeEvent&>(start).time_us_;
    }

   private:
    double time_us_ = 0;
  };

  DeviceProperties properties_{};
  std::map<void*, std::size_t> sizes_{};
};

inline FakeDevice& fake(const Context& context) {
  return dynamic_cast<FakeDevice&>(context.stream->device());
}

/// y[r,c] = factor * x[r,c] + 1
inline const OpDef& toy_op() {
  static const OpDef op = [] {
    OpDef toy;
    toy.name = "toy";
    toy.summary = "scales and shifts";
    toy.formula = "y = factor * x + 1";
    toy.axes = {{"rows", "independent rows"}, {"cols", "columns"}};
    toy.args = {out("y", {"rows", "cols"}).like("x").alias({"x"}), in("x", {"rows", "cols"})};
    toy.options = {{.name = "factor", .default_value = "2"}};
    toy.batch_axis = "rows";
    toy.meaning = [](const Problem& problem, Values& values) {
      const double factor = problem.number("factor");
      for (std::size_t i = 0; i < values["x"].values.size(); ++i)
        values["y"].values[i] = factor * values["x"].values[i] + 1;
    };
    toy.cost = [](const Problem& problem, const Values*) {
      Cost cost;
      cost[Unit::fp32] = 2 * static_cast<double>(num_elements(problem.arg("x").shape));
      cost.bytes_read = problem.bytes("x");
      cost.bytes_written = problem.bytes("y");
      return cost;
    };
    toy.tolerance = [](const Problem& problem, const std::string& output) {
      return sum_tolerance(problem.dtype(output), DType::f32, 2);
    };
    toy.cases = {{"smoke", "rows=2 cols=8"},
                 {"ci", "rows=5 cols=33"},
                 {"edges", "rows=0 cols=8"},
                 {"edges", "rows=3 cols=7 x.stride=11,1"},
                 {"roof", "rows=64 cols=64"}};
    toy.why_these_inputs = "they are enough to tell right from wrong";
    return toy;
  }();
  return op;
}

inline Problem toy_problem(const std::string& line) {
  return bind(toy_op(), parse_problem_text("toy " + line));
}

using Run = std::function<void(const Context&, const Arguments&)>;

/// A kernel of the toy operation that does `run`.
inline KernelDef toy_kernel(Run run, Determinism determinism = Determinism::batch_invariant,
                            std::int64_t workspace_bytes = 0) {
  KernelDef kernel;
  kernel.op = "toy";
  kernel.name = "planted";
  kernel.determinism = determinism;
  kernel.supports = [](const Problem&, const DeviceProperties&) { return supported(); };
  kernel.prepare = [run = std::move(run), workspace_bytes](const Problem&, Device&, const Config&) {
    return Prepared{.run = run, .workspace_bytes = workspace_bytes};
  };
  kernel.own_code_hash = "planted";
  return kernel;
}

}  // namespace rooftile
