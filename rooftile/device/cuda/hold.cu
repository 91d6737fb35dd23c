// SPDX-License-Identifier: Apache-2.0
#include "rooftile/tile/kernel_table.h"

#if ROOFTILE_DEVICE_CODE
#include "rooftile/tile/language.h"
#include "rooftile/tile/ptx/strong.h"
#else
#include <atomic>

#include "rooftile/device/cuda/hold.h"
#include "rooftile/device/gpu_kernel.h"
#endif

namespace rooftile {

extern const KernelTable cuda_hold_kernels;

#if ROOFTILE_DEVICE_CODE

namespace {

// Why at most: a host that waits for this stream before it ends the hold would wait for ever.
__global__ void wait_for_host(const uint32_t* released, uint32_t number, long long most_clocks) {
  const long long start = clock64();
  while (load_relaxed<StrongScope::system>(released) < number && clock64() - start < most_clocks)
    __nanosleep(100);
}

}  // namespace

#else

namespace {

constexpr long long kMostClocks = 20'000'000;  // some 10 ms

class CudaHold final : public Hold {
 public:
  CudaHold(std::uint32_t& released, std::uint32_t number) : released_(released), number_(number) {}
  ~CudaHold() override {
    std::atomic_ref<std::uint32_t>(released_).store(number_, std::memory_order_release);
  }
  CudaHold(const CudaHold&) = delete;
  CudaHold& operator=(const CudaHold&) = delete;

 private:
  std::uint32_t& released_;
  std::uint32_t number_;
};

}  // namespace

HoldCounter::HoldCounter(CudaContext& context) : context_(context) {
  const CurrentDevice current(context_);
  void* memory = nullptr;
  context_.check(cudaHostAlloc(&memory, sizeof(*released_), cudaHostAllocMapped),
                 "allocating host memory that kernels see");
  released_ = new (memory) std::uint32_t{0};
}

HoldCounter::~HoldCounter() { (void)cudaFreeHost(released_); }

std::unique_ptr<Hold> HoldCounter::hold(Stream& stream) {
  auto hold = std::make_unique<CudaHold>(*released_, ++started_);
  launch(stream, find_kernel(cuda_hold_kernels, "wait_for_host"), {}, released_, started_,
         kMostClocks);
  return hold;
}

#endif

ROOFTILE_KERNEL_TABLE(cuda_hold_kernels, ROOFTILE_KERNEL_ENTRY(wait_for_host))

}  // namespace rooftile
