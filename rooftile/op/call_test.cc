// SPDX-License-Identifier: Apache-2.0
// What the typed calls keep: plans and workspaces of the last calls, and those of captured graphs.
#include "rooftile/op/call.h"

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/op/test_op.h"

namespace rooftile {
namespace {

// Host memory that is counted, and a stream that may be captured.
class CountingDevice final : public Device {
 public:
  int allocations = 0;
  int releases = 0;
  bool is_capturing = false;

  [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
  [[nodiscard]] DeviceId device_id() const override { return {DeviceKind::cpu, 0}; }
  void* allocate(std::int64_t bytes) override {
    ++allocations;
    return ::operator new(static_cast<std::size_t>(bytes));
  }
  void release(void* memory) noexcept override {
    ++releases;
    ::operator delete(memory);
  }
  void copy_to_device(Stream&, void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void copy_to_host(Stream&, void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<CountedStream>(*this); }
  std::unique_ptr<Event> make_event() override { return nullptr; }
  void synchronise() override {}
  void flush_caches(Stream&) override {}
  std::vector<Probe> probes() override { return {}; }

 private:
  class CountedStream final : public Stream {
   public:
    explicit CountedStream(CountingDevice& device) : device_(device) {}
    [[nodiscard]] Device& device() const override { return device_; }
    void launch(std::int64_t blocks, FunctionRef<void(std::int64_t)> block) override {
      for (std::int64_t i = 0; i < blocks; ++i) block(i);
    }
    [[nodiscard]] bool is_capturing() const override { return device_.is_capturing; }
    void synchronise() override {}

   private:
    CountingDevice& device_;
  };

  DeviceProperties properties_{.id = "cpu", .name = "counted", .kind = "cpu-counted", .driver = ""};
};

class Call : public testing::Test {
 protected:
  Call() {
    kernel_.own_code_hash = "call";
    const auto run = kernel_.prepare;
    kernel_.prepare = [run](const Problem& problem, Device& device, const Config& config) {
      Prepared prepared = run(problem, device, config);
      prepared.workspace_bytes = 64;
      return prepared;
    };
    registry_.add(op_);
    registry_.add(kernel_);
  }
  // y = 2 x of n columns: a plan of its own for each n.
  void call_with(std::int64_t n) {
    std::vector<float> x(static_cast<std::size_t>(n), 1);
    std::vector<float> y(static_cast<std::size_t>(n));
    const TensorView views[]{TensorView::contiguous(y.data(), DType::f32, {1, n}),
                             TensorView::contiguous(x.data(), DType::f32, {1, n}),
                             {},
                             {},
                             {},
                             {}};
    call(registry_, "scale", *stream_, views, {});
    EXPECT_EQ(y, std::vector<float>(static_cast<std::size_t>(n), 2));
  }
  // Plans belong to a thread: one that has none yet.
  template <class Calls>
  void in_a_thread(const Calls& calls) {
    std::thread(calls).join();
  }

  TestCache cache_;
  OpDef op_ = make_test_op();
  KernelDef kernel_ = test_kernel("plain");
  Registry registry_;
  CountingDevice device_;
  std::unique_ptr<Stream> stream_ = device_.make_stream();
};

TEST_F(Call, KeepsAPlanAndItsWorkspace) {
  in_a_thread([&] {
    for (int i = 0; i < 3; ++i) call_with(8);
    EXPECT_EQ(device_.allocations, 1);
    call_with(9);
    EXPECT_EQ(device_.allocations, 2);
  });
  EXPECT_EQ(device_.releases, 2) << "at the end of its thread";
}

TEST_F(Call, DoesNotKeepMoreThanSomeHundreds) {
  in_a_thread([&] {
    for (std::int64_t n = 1; n <= 2000; ++n) call_with(n);
    EXPECT_LT(device_.allocations - device_.releases, 600);
  });
  EXPECT_EQ(device_.releases, 2000);
}

// A replay uses the workspace that its capture had, whatever was called since and wherever.
TEST_F(Call, KeepsWhatAGraphWasCapturedOf) {
  in_a_thread([&] {
    call_with(1);
    device_.is_capturing = true;
    call_with(1);
    call_with(2);
    device_.is_capturing = false;
    for (std::int64_t n = 3; n <= 2000; ++n) call_with(n);
  });
  EXPECT_EQ(device_.allocations, 2000);
  EXPECT_EQ(device_.releases, 1998);
}

}  // namespace
}  // namespace rooftile
