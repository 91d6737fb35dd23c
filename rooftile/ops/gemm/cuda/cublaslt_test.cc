// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's descriptors where there is the library, and the kernel where there is a GPU.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/device/device.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/gemm/cuda/cublaslt_descriptors.h"

#if ROOFTILE_HAS_CUBLASLT
namespace rooftile::ops::gemm {
namespace {

using testing::HasSubstr;

Problem problem_of(const std::string& line) {
  return bind(*catalogue().operation("gemm").def, parse_problem_text("gemm " + line));
}

const KernelDef& kernel() { return catalogue().operation("gemm").kernel("cublaslt"); }

TEST(CublasLt, TakesTheDescriptorsOfEveryKindOfCall) {
  if (!cublaslt_library().reason.empty()) GTEST_SKIP() << cublaslt_library().reason;
  EXPECT_GE(cublaslt_library().version, 120000U);
  for (const char* line :
       {"m=8 n=16 k=24 a=bf16", "m=1 n=16 k=24 a=fp16 layout=nt bias=fp16",
        "m=8 n=16 k=24 a=f32 layout=tt act=relu", "m=8 n=16 k=24 a=bf16 d=f32 bias=f32 act=relu",
        "m=8 n=16 k=24 a=bf16 layout=tn residual=bf16 a.offset=1"})
    EXPECT_NO_THROW((void)cublaslt_descriptors(cublaslt_call(problem_of(line)))) << line;
}

TEST(CublasLt, NamesWhatTheLibraryRefuses) {
  if (!cublaslt_library().reason.empty()) GTEST_SKIP() << cublaslt_library().reason;
  CublasLtDescriptors all;
  EXPECT_THROW(cublaslt_library().check(
                   cublaslt_library().layout_init(&all.a, 1, CUDA_R_16BF, 8, 8, 8), "describing"),
               Error);
}

TEST(CublasLt, RunsOnNoSimulatedGpu) {
  const auto device = open_device("sim:h200");
  EXPECT_THAT(supports(kernel(), problem_of("m=8 n=8 k=8 a=bf16"), device->properties()).reason,
              HasSubstr("no vendor's library runs on sim:h200"));
}

TEST(CublasLt, OffersCandidatesOfThisVersion) {
  std::unique_ptr<Device> device;
  try {
    device = open_device("cuda:0");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const Problem problem = problem_of("m=512 n=512 k=512 a=bf16 layout=nt");
  const Support support = supports(kernel(), problem, device->properties());
  if (!support) GTEST_SKIP() << support.reason;
  const std::vector<Config> configs = kernel().configs(problem, device->properties());
  ASSERT_FALSE(configs.empty());
  for (std::size_t i = 0; i < configs.size(); ++i) {
    EXPECT_EQ(configs[i].at("candidate"), static_cast<std::int64_t>(i));
    EXPECT_EQ(configs[i].at("cublaslt"), static_cast<std::int64_t>(cublaslt_library().version));
    EXPECT_LE(Plan(kernel(), problem, *device, configs[i]).workspace_bytes(), 32 << 20);
  }
  Config beyond = configs.back();
  beyond.values[0].second = static_cast<std::int64_t>(configs.size());
  EXPECT_THROW((void)Plan(kernel(), problem, *device, beyond), Error);
}

TEST(CublasLt, RefusesAnAddressLessAlignedThanPrepared) {
  std::unique_ptr<Device> device;
  try {
    device = open_device("cuda:0");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const Problem problem = problem_of("m=64 n=64 k=64 a=bf16 layout=nt");
  const Support support = supports(kernel(), problem, device->properties());
  if (!support) GTEST_SKIP() << support.reason;
  const auto stream = device->make_stream();
  const DeviceMemory memory(*device, 4 * 64 * 64 * 2);
  std::vector<TensorView> views(problem.args.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const ArgChoice& arg = problem.args[i];
    if (!arg.is_present) continue;
    char* const data = static_cast<char*>(memory.data()) + i * 64 * 64 * 2;
    views[i] = {arg.name == "a" ? data + 2 : data,
                arg.dtype,
                arg.shape,
                arg.strides,
                device->device_id(),
                nullptr};
  }
  const Plan plan(kernel(), problem, *device);
  const DeviceMemory workspace(*device, plan.workspace_bytes());
  try {
    plan.run({.stream = stream.get(), .workspace = workspace.data()}, views);
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a: its address"));
  }
  stream->synchronise();
}

}  // namespace
}  // namespace rooftile::ops::gemm
#endif
