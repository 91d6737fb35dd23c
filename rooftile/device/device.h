// SPDX-License-Identifier: Apache-2.0
// A place that allocates memory and runs kernels: the interface that every runtime (cpu, cuda, sim)
// implements. Work goes to streams in order; events mark points of a stream.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/base/function_ref.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/ceilings.h"

namespace ROOFTILE_API rooftile {

class Device;
struct Gpu;            // a row of hardware/gpu.h
struct GpuKernel;      // device/gpu_kernel.h
struct LaunchShape;    // device/gpu_kernel.h
struct TensorMap;      // tile/tensor_map.h
struct TensorMapSpec;  // device/tensor_map.h

struct DeviceProperties {
  std::string id;         // as given to --on: "cpu", "cuda:0", "sim:h200"
  std::string name;       // the product: "AMD EPYC 7763 64-Core Processor", "NVIDIA H200"
  std::string kind;       // what a proof or a tuned record is valid for: "cpu-avx2", "sm90"
  std::string driver;     // versions that a tuned record depends on; empty on a cpu
  int compute_units = 1;  // threads used, or SMs
  std::int64_t memory_bytes = 0;
  std::int64_t last_level_cache_bytes = 0;
  const Gpu* gpu = nullptr;  // its row of the hardware table, where it is a GPU
};

/// "AMD EPYC 7763 64-Core Processor, 2 compute units, cpu-avx2"
std::string description(const DeviceProperties& properties);

/// What can be read of the device's state beside a timing; absent where the machine does not tell.
struct DeviceState {
  std::optional<double> clock_mhz;
  std::optional<double> nominal_clock_mhz;  // a clock far below this means throttling
  std::optional<double> power_w;
  std::optional<double> temperature_c;
};

class Stream;

/// One probe: a kernel that does nothing but move bytes or execute operations of one unit.
struct Probe {
  std::string name;
  std::optional<Unit> unit{};  // what it saturates; absent for memory
  double read_bytes = 0;       // of one run
  double written_bytes = 0;
  double ops = 0;
  std::function<void(Stream&)> run;  // owns its memory
};

/// Launches that were captured once and run again as one, without the host's part of each.
class Graph {
 public:
  virtual ~Graph() = default;
  /// Runs them after what was launched on `stream` before. From one thread at a time.
  virtual void run(Stream& stream) = 0;
};

/// A stream goes on when this is gone.
class Hold {
 public:
  virtual ~Hold() = default;
};

class Stream {
 public:
  virtual ~Stream() = default;
  [[nodiscard]] virtual Device& device() const = 0;

  /// Runs block(i) for i in [0, blocks) on the device's threads, after what was launched before;
  /// only devices that run host code can (cpu), others throw Error(unsupported). Allocates nothing.
  virtual void launch(std::int64_t blocks, FunctionRef<void(std::int64_t)> block) = 0;

  /// Runs a kernel of a .cu file after what was launched before. Called by launch_kernel(), which
  /// checks the arguments' types. Throws Error(unsupported) where no such kernels run.
  virtual void launch_kernel(const GpuKernel& kernel, const LaunchShape& shape, void** args);

  /// What `launches` launches on this stream, which is not run. It must have run once before, so
  /// that kernels are loaded; it may not allocate, wait, or copy. Pointers are kept as they are:
  /// the memory must outlive the graph. Throws Error(unsupported) on devices without graphs
  /// (Device::has_graphs) and for what cannot be captured; then the stream is as before.
  [[nodiscard]] virtual std::unique_ptr<Graph> capture(const std::function<void()>& launches);

  /// Whether what is launched now goes into a graph that somebody captures: memory that it uses
  /// must outlive the graph.
  [[nodiscard]] virtual bool is_capturing() const { return false; }

  /// Keeps what is launched from now on from starting until the result is gone, or some
  /// milliseconds have passed: what the host needs to launch it lies outside of the time between
  /// two events. Null where launching takes none of the device's time.
  [[nodiscard]] virtual std::unique_ptr<Hold> hold() { return nullptr; }

  /// Returns when all that was launched has finished; throws the device's own error.
  virtual void synchronise() = 0;

  /// The runtime's own handle (cudaStream_t), null where there is none.
  [[nodiscard]] virtual void* native() const { return nullptr; }
};

class Event {
 public:
  virtual ~Event() = default;
  virtual void record(Stream& stream) = 0;
  /// Microseconds from `start` to this; both recorded. Waits for this event.
  [[nodiscard]] virtual double elapsed_us(const Event& start) const = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  /// A number that no other device of this process ever has, where an address may come again; gone
  /// with the device, so that what outlives it can tell.
  [[nodiscard]] const std::shared_ptr<const std::uint64_t>& life() const { return life_; }

  [[nodiscard]] virtual const DeviceProperties& properties() const = 0;
  [[nodiscard]] virtual DeviceId device_id() const = 0;

  /// Memory aligned to 4096 bytes, never null (0 bytes gives a valid pointer), contents undefined.
  /// Throws Error(out_of_memory) that names the size. Pages of a cpu are claimed at first touch.
  [[nodiscard]] virtual void* allocate(std::int64_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;

  /// Between host memory and this device's, in stream order.
  virtual void copy_to_device(Stream& stream, void* to, const void* from, std::int64_t bytes) = 0;
  virtual void copy_to_host(Stream& stream, void* to, const void* from, std::int64_t bytes) = 0;

  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;

  /// Waits for all streams, side streams that a kernel may have made included.
  virtual void synchronise() = 0;

  /// The contents of this memory are undefined from now on: a device that checks what kernels read
  /// reports reads of it.
  virtual void forget(void* memory, std::int64_t bytes) {
    (void)memory;
    (void)bytes;
  }

  /// Devices that are simulated can run a launch's threads in any order that a GPU may. 0 is the
  /// order that is used unless asked for another; each number is one, always the same.
  [[nodiscard]] virtual bool has_schedules() const { return false; }
  virtual void use_schedule(int number) { (void)number; }

  /// Whether Stream::capture() works.
  [[nodiscard]] virtual bool has_graphs() const { return false; }

  /// Evicts what caches hold of earlier work, and leaves no dirty lines of its own.
  virtual void flush_caches(Stream& stream) = 0;

  [[nodiscard]] virtual DeviceState state() const { return {}; }

  /// The simplest work that reaches each limit of this device. The workbench times them as it times
  /// kernels: alone for the ceilings, alternating with a kernel for a ratio that noise cannot bend.
  [[nodiscard]] virtual std::vector<Probe> probes() = 0;

  /// Called by make_tensor_map(), which checks the spec. Throws Error(unsupported) without TMA.
  [[nodiscard]] virtual TensorMap encode_tensor_map(const TensorMapSpec& spec);

  /// The data sheet's limits, where there is a data sheet.
  [[nodiscard]] virtual Ceilings sheet() const { return {}; }

  /// A stream of this device over a handle of its runtime (a cudaStream_t) that someone else made
  /// and keeps alive: work is put in order with theirs. Throws Error(unsupported) where there are
  /// no such handles.
  [[nodiscard]] virtual std::unique_ptr<Stream> wrap_stream(void* native);

 private:
  static std::shared_ptr<const std::uint64_t> next_life();
  std::shared_ptr<const std::uint64_t> life_ = next_life();
};

/// Frees itself; tied to the device that allocated it, and nothing once that is gone.
class DeviceMemory {
 public:
  DeviceMemory(Device& device, std::int64_t bytes)
      : device_(&device), life_(device.life()), data_(device.allocate(bytes)), bytes_(bytes) {}
  ~DeviceMemory() {
    if (data_ != nullptr && !life_.expired()) device_->release(data_);
  }
  DeviceMemory(DeviceMemory&& other) noexcept
      : device_(other.device_),
        life_(std::move(other.life_)),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(other.bytes_) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  Device* device_;
  std::weak_ptr<const std::uint64_t> life_;
  void* data_;
  std::int64_t bytes_;
};

/// One way of making devices, as "cpu" or "cuda".
struct DeviceFactory {
  std::string family;
  std::function<std::vector<std::string>()> list;  // ids present on this machine
  std::function<std::unique_ptr<Device>(const std::string& id)> open;  // throws when it cannot
};

/// The runtimes built into this library, the cpu first; cuda only where nvcc was found.
const std::vector<DeviceFactory>& device_factories();

/// Opens a device by id. Throws Error(bad_input) that lists the ids present, or why a device of
/// this family is not.
std::unique_ptr<Device> open_device(const std::string& id);

}  // namespace rooftile
