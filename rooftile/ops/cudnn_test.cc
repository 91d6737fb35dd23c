// SPDX-License-Identifier: Apache-2.0
// Kernels by cuDNN: what they refuse and why, which needs no GPU; and, where there is one, every
// candidate of each operation and type against the operation's meaning.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/device/device.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/generate.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/registry.h"
#include "rooftile/op/storage.h"
#include "rooftile/op/tolerance.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/cudnn_rows.h"

namespace rooftile::ops {
namespace {

using testing::HasSubstr;

Problem problem_of(const std::string& line) { return catalogue().bind(line); }

const KernelDef& kernel_of(const Problem& problem) {
  return catalogue().operation(problem.op).kernel("cudnn");
}

// As asked on a GPU; what is refused here is refused before cuDNN is looked for.
std::string reason(const std::string& line) {
  const Problem problem = problem_of(line);
  const DeviceProperties gpu{.id = "cuda:0", .name = "a GPU", .kind = "sm90", .driver = ""};
  return supports(kernel_of(problem), problem, gpu).reason;
}

TEST(CudnnRefusals, AreOfRowsThatItDoesNotTake) {
  EXPECT_THAT(reason("softmax rows=4 cols=8 y=bf16"), HasSubstr("y is bf16: must be as x"));
  EXPECT_THAT(reason("softmax rows=0 cols=8"), HasSubstr("an extent is 0"));
  EXPECT_THAT(reason("softmax rows=4 cols=8 x.stride=16,1"), HasSubstr("x: cuDNN needs rows"));
  EXPECT_THAT(reason("softmax rows=4 cols=8 y.stride=1,4"), HasSubstr("y: cuDNN needs rows"));
  EXPECT_THAT(reason("softmax rows=4 cols=8 x.offset=1"), HasSubstr("x must start at a multiple"));
  EXPECT_THAT(reason("softmax rows=65536 cols=65536"), HasSubstr("at most 2^31"));
  EXPECT_EQ(takes_cudnn_rows(problem_of("softmax rows=1 cols=8 x.stride=16,1")).reason, "");
  EXPECT_EQ(takes_cudnn_rows(problem_of("softmax rows=4 cols=8 y.alias=x")).reason, "");
  EXPECT_EQ(takes_cudnn_rows(problem_of("softmax rows=4 cols=8 x.offset=4")).reason, "");
}

TEST(CudnnRefusals, AreOfOptionsThatItDoesNotHave) {
  EXPECT_THAT(reason("softmax rows=4 cols=8 scale=2"), HasSubstr("scale: "));
  EXPECT_THAT(reason("softmax rows=4 cols=8 lengths=i32"), HasSubstr("lengths: "));
  EXPECT_THAT(reason("softmax rows=4 cols=8 x=bf16"), HasSubstr("x: in 16 bits"));
  EXPECT_THAT(reason("rmsnorm rows=4 cols=8 residual=f32"), HasSubstr("residual: "));
  EXPECT_THAT(reason("rmsnorm rows=4 cols=8 weight_offset=1"), HasSubstr("weight_offset: "));
  EXPECT_THAT(reason("rmsnorm rows=4 cols=8 round=early"), HasSubstr("round=early: "));
  EXPECT_THAT(reason("rmsnorm rows=4 cols=8 y.alias=x"), HasSubstr("y shares memory with x"));
  EXPECT_THAT(reason("rmsnorm rows=4 cols=8 x=bf16 w=fp16"),
              HasSubstr("w is fp16: must be f32 or"));
  EXPECT_THAT(reason("rmsnorm rows=4 cols=8 w.stride=2"), HasSubstr("w must be contiguous"));
  EXPECT_THAT(reason("rmsnorm rows=4 cols=8 data=extreme"), HasSubstr("data=extreme: "));
}

TEST(CudnnRefusals, AreOfSimulatedGpus) {
  const auto device = open_device("sim:h200");
  for (const char* line : {"softmax rows=4 cols=8", "rmsnorm rows=4 cols=8"}) {
    const Problem problem = problem_of(line);
    EXPECT_EQ(supports(kernel_of(problem), problem, device->properties()).reason,
              "no vendor's library runs on sim:h200");
  }
}

// A GPU, and a cuDNN for it; tests are skipped, with the reason, where either is missing.
class CudnnKernels : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = open_device("cuda:0");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    const Problem any = problem_of("softmax rows=4 cols=8");
    const Support support = supports(kernel_of(any), any, device_->properties());
    if (!support) GTEST_SKIP() << support.reason;
    stream_ = device_->make_stream();
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

// One tensor on the device, and the same on the host: plain and packed, as cuDNN takes them.
struct Tensor {
  Tensor(Device& device, const ArgChoice& arg)
      : host(static_cast<std::size_t>(num_elements(arg.shape) * info(arg.dtype).unit_bytes),
             '\xff'),
        memory(device, std::ssize(host)),
        on_host{host.data(), arg.dtype, arg.shape, arg.strides, {}, nullptr},
        on_device{memory.data(), arg.dtype, arg.shape, arg.strides, device.device_id(), nullptr} {}

  std::vector<char> host;
  DeviceMemory memory;
  TensorView on_host, on_device;
};

// Runs every candidate on its own copy of the inputs; outputs begin as NaNs.
void expect_right(Device& device, Stream& stream, const std::string& line) {
  SCOPED_TRACE(line);
  const Problem problem = problem_of(line);
  const OpDef& op = *catalogue().operation(problem.op).def;
  const KernelDef& kernel = kernel_of(problem);
  const Support support = supports(kernel, problem, device.properties());
  ASSERT_TRUE(support) << support.reason;
  Values values(problem);
  generate_inputs(op, problem, values);
  op.meaning(problem, values);
  const std::vector<Config> configs = kernel.configs(problem, device.properties());
  ASSERT_FALSE(configs.empty());
  for (const Config& config : configs) {
    SCOPED_TRACE(config.text());
    std::vector<std::unique_ptr<Tensor>> tensors;
    std::vector<TensorView> views(problem.args.size());
    for (std::size_t i = 0; i < views.size(); ++i) {
      const ArgChoice& arg = problem.args[i];
      if (!arg.is_present) continue;
      tensors.push_back(std::make_unique<Tensor>(device, arg));
      Tensor& tensor = *tensors.back();
      if (arg.name != "y") store_view(values[arg.name].values, tensor.on_host);
      device.copy_to_device(stream, tensor.memory.data(), tensor.host.data(),
                            std::ssize(tensor.host));
      views[i] = tensor.on_device;
    }
    try {
      const Plan plan(kernel, problem, device, config);
      const DeviceMemory workspace(device, plan.workspace_bytes());
      for (int run = 0; run < 2; ++run)
        plan.run({.stream = &stream, .workspace = workspace.data()}, views);
      Tensor& y = *tensors.front();
      device.copy_to_host(stream, y.host.data(), y.memory.data(), std::ssize(y.host));
      stream.synchronise();
      std::vector<double> actual;
      load_view(y.on_host, actual);
      const Comparison found =
          compare(actual, values["y"], problem.dtype("y"), op.tolerance(problem, "y"));
      EXPECT_TRUE(found.passed()) << found.text(values["y"]);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

constexpr const char* kShapes[]{"rows=1 cols=1", "rows=3 cols=17", "rows=33 cols=4096",
                                "rows=5 cols=20000"};

TEST_F(CudnnKernels, RmsnormIsRight) {
  for (const char* x : {"f32", "bf16", "fp16"})
    for (const char* shape : kShapes)
      expect_right(*device_, *stream_, "rmsnorm " + std::string(shape) + " x=" + x);
  expect_right(*device_, *stream_, "rmsnorm rows=33 cols=4096 x=bf16 w=f32");
}

TEST_F(CudnnKernels, SoftmaxIsRight) {
  for (const char* shape : kShapes)
    expect_right(*device_, *stream_, "softmax " + std::string(shape));
}

TEST_F(CudnnKernels, RefuseAddressesThatAreNotAligned) {
  const Problem problem = problem_of("softmax rows=4 cols=8");
  const Plan plan(kernel_of(problem), problem, *device_);
  const DeviceMemory memory(*device_, 1024);
  std::vector<TensorView> views(problem.args.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const ArgChoice& arg = problem.args[i];
    if (!arg.is_present) continue;
    char* const data = static_cast<char*>(memory.data()) + (arg.name == "x" ? 516 : 0);
    views[i] = {data, arg.dtype, arg.shape, arg.strides, device_->device_id(), nullptr};
  }
  try {
    plan.run({.stream = stream_.get()}, views);
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("x: its address"));
  }
}

}  // namespace
}  // namespace rooftile::ops
