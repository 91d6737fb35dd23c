// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/cuda_device.h"

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/device/cuda/context.h"
#include "rooftile/device/cuda/launch.h"
#include "rooftile/device/cuda/memory.h"
#include "rooftile/device/cuda/nvml.h"
#include "rooftile/device/cuda/probes.h"
#include "rooftile/device/cuda/properties.h"
#include "rooftile/device/cuda/stream.h"
#include "rooftile/device/cuda/tensor_map.h"
#include "rooftile/device/data_sheet.h"

namespace rooftile {
namespace {

constexpr std::int64_t kFlushUnitBytes = 1 << 20;

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index)
      : context_(index),
        properties_(cuda_properties(context_)),
        memory_(context_),
        kernels_(context_, properties_.limits) {}

  [[nodiscard]] const DeviceProperties& properties() const override { return properties_.device; }
  [[nodiscard]] DeviceId device_id() const override { return {DeviceKind::cuda, context_.index()}; }

  void* allocate(std::int64_t bytes) override { return memory_.allocate(bytes); }
  void release(void* memory) noexcept override { memory_.release(memory); }

  void copy_to_device(Stream& stream, void* to, const void* from, std::int64_t bytes) override {
    copy(stream, to, from, bytes, cudaMemcpyHostToDevice, "copying to the device");
  }
  void copy_to_host(Stream& stream, void* to, const void* from, std::int64_t bytes) override {
    copy(stream, to, from, bytes, cudaMemcpyDeviceToHost, "copying to the host");
  }

  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<CudaStream>(*this, context_, kernels_);
  }
  std::unique_ptr<Stream> wrap_stream(void* native) override {
    return std::make_unique<CudaStream>(*this, context_, kernels_,
                                        static_cast<cudaStream_t>(native));
  }
  std::unique_ptr<Event> make_event() override {
    return std::make_unique<CudaEvent>(*this, context_);
  }

  void synchronise() override {
    const CurrentDevice current(context_);
    context_.check(cudaDeviceSynchronize(), "waiting for all its work");
  }

  [[nodiscard]] bool has_graphs() const override { return true; }

  // Reads twice what the cache holds: clean lines take the place of everything else. Lines that a
  // kernel marked as persisting would stay; they are made ordinary ones first.
  void flush_caches(Stream& stream) override {
    const CurrentDevice current(context_);
    const std::int64_t bytes =
        2 * (properties_.device.last_level_cache_bytes / kFlushUnitBytes + 1) * kFlushUnitBytes;
    if (!flush_) {
      flush_ = std::make_unique<DeviceMemory>(*this, bytes + kFlushUnitBytes);
      context_.check(cudaMemsetAsync(flush_->data(), 0, static_cast<std::size_t>(flush_->bytes()),
                                     native_stream(*this, stream)),
                     "filling the memory that flushes the cache");
    }
    context_.check(cudaCtxResetPersistingL2Cache(), "resetting persisting lines of the cache");
    // Nor may what a kernel set aside for such lines shrink the cache of the next one.
    std::size_t set_aside = 0;
    context_.check(cudaDeviceGetLimit(&set_aside, cudaLimitPersistingL2CacheSize),
                   "asking what of the cache is set aside");
    if (set_aside != 0)
      context_.check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0),
                     "giving back what of the cache was set aside");
    probe_read(stream, flush_->data(), bytes, static_cast<char*>(flush_->data()) + bytes);
  }

  [[nodiscard]] DeviceState state() const override { return nvml_state(properties_.pci_bus_id); }

  // Made once: their memory takes longer to fill than many kernels take to time.
  std::vector<Probe> probes() override {
    if (probes_.empty()) probes_ = cuda_probes(*this);
    return probes_;
  }

  [[nodiscard]] Ceilings sheet() const override { return data_sheet(properties_.limits); }

  TensorMap encode_tensor_map(const TensorMapSpec& spec) override {
    const CurrentDevice current(context_);
    return encode_cuda_tensor_map(context_, spec);
  }

 private:
  void copy(Stream& stream, void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind,
            const char* doing) {
    if (bytes < 0) fail_input(std::string(doing) + ": " + std::to_string(bytes) + " bytes");
    const CurrentDevice current(context_);
    context_.check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind,
                                   native_stream(*this, stream)),
                   doing);
  }

  CudaContext context_;
  CudaProperties properties_;
  CudaMemory memory_;
  CudaKernels kernels_;
  std::unique_ptr<DeviceMemory> flush_;
  std::vector<Probe> probes_;  // last: their memory is released to this device
};

cudaError_t count_devices(int& count) {
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    count = 0;
  }
  return status;
}

std::vector<std::string> list() {
  int count = 0;
  (void)count_devices(count);
  std::vector<std::string> ids;
  for (int i = 0; i < count; ++i) ids.push_back("cuda:" + std::to_string(i));
  return ids;
}

std::unique_ptr<Device> open(const std::string& id) {
  int count = 0;
  const cudaError_t status = count_devices(count);
  for (int i = 0; i < count; ++i)
    if (id == "cuda:" + std::to_string(i)) return std::make_unique<CudaDevice>(i);
  if (count > 0) fail_input(unknown_name("device", id, list()));
  throw Error(ErrorCode::bad_input,
              id + ": there is no NVIDIA GPU that works: " + description(status));
}

}  // namespace

DeviceFactory cuda_device_factory() { return {.family = "cuda", .list = list, .open = open}; }

}  // namespace rooftile
