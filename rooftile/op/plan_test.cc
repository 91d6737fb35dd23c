// SPDX-License-Identifier: Apache-2.0
// Plans: what they were made for is what they run on; everything else is refused before the launch.
#include "rooftile/op/plan.h"

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/op/call.h"
#include "rooftile/op/test_op.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PlanTest : public testing::Test {
 protected:
  // The refusal of a run on `views`; empty when it ran.
  std::string refusal(const Plan& plan, const std::vector<TensorView>& views) {
    try {
      plan.run({.stream = stream_.get()}, views);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return error.what();
    }
    return "";
  }
  [[nodiscard]] Plan plan_of(const std::string& line) const {
    return {kernel_, test_problem(line), *device_};
  }
  static TensorView view(float* data, const Dims& shape) {
    return TensorView::contiguous(data, DType::f32, shape);
  }

  TestCache cache_;
  KernelDef kernel_ = test_kernel("plain");
  std::unique_ptr<Device> device_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
  float x_[6]{1, 2, 3, 4, 5, 6};
  float y_[6]{};
  TensorView x_view_ = view(x_, {2, 3});
  TensorView y_view_ = view(y_, {2, 3});
};

TEST_F(PlanTest, RunsWhatItWasMadeFor) {
  const Plan plan = plan_of("rows=2 cols=3");
  EXPECT_EQ(plan.problem().kernel, "plain");
  EXPECT_EQ(refusal(plan, {y_view_, x_view_, {}, {}, {}, {}}), "");
  EXPECT_THAT(y_, ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_F(PlanTest, RefusesOtherViews) {
  const Plan plan = plan_of("rows=2 cols=3");
  const auto with_x = [&](TensorView x) { return refusal(plan, {y_view_, x, {}, {}, {}, {}}); };
  EXPECT_THAT(with_x(view(x_, {3, 2})),
              HasSubstr("'x' is f32[3,2], the plan was prepared for f32[2,3]"));
  EXPECT_THAT(with_x(view(x_, {6})), HasSubstr("'x' is f32[6]"));
  EXPECT_THAT(with_x(TensorView::contiguous(x_, DType::bf16, {2, 3})),
              HasSubstr("'x' is bf16[2,3]"));
  TensorView strided = x_view_;
  strided.strides = {1, 2};
  EXPECT_THAT(with_x(strided), HasSubstr("'x' has strides [1,2], the plan was prepared for [3,1]"));
  EXPECT_THAT(with_x({}), HasSubstr("'x' has no data"));
  EXPECT_THAT(y_, ElementsAre(0, 0, 0, 0, 0, 0)) << "nothing written";
}

TEST_F(PlanTest, RefusesTheWrongArguments) {
  const Plan plan = plan_of("rows=2 cols=3");
  EXPECT_THAT(refusal(plan, {y_view_, x_view_}),
              HasSubstr("called with 2 tensors, the operation has 6"));
  EXPECT_THAT(refusal(plan, {y_view_, x_view_, x_view_, {}, {}, {}}),
              HasSubstr("'z' is not part of this plan"));
  const Plan with_bias = plan_of("rows=2 cols=3 bias=f32");
  EXPECT_THAT(refusal(with_bias, {y_view_, x_view_, {}, {}, {}, {}}),
              HasSubstr("'bias' has no data"));
  const TensorView views[]{y_view_, x_view_, {}, {}, {}, {}};
  EXPECT_THROW(plan.run({}, views), Error) << "no stream";
}

// A kernel may read its input after it has begun to write, unless the plan says that they are one.
TEST_F(PlanTest, RefusesSharedMemoryThatItWasNotMadeFor) {
  const Plan apart = plan_of("rows=2 cols=3");
  EXPECT_THAT(refusal(apart, {x_view_, x_view_, {}, {}, {}, {}}),
              HasSubstr("output 'y' has the memory of 'x', as the plan was not prepared for"));
  const Plan in_place = plan_of("rows=2 cols=3 y.alias=x");
  EXPECT_THAT(refusal(in_place, {y_view_, x_view_, {}, {}, {}, {}}),
              HasSubstr("output 'y' must have the memory of 'x'"));
  EXPECT_THAT(x_, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(refusal(in_place, {x_view_, x_view_, {}, {}, {}, {}}), "");
  EXPECT_THAT(x_, ElementsAre(2, 4, 6, 8, 10, 12));
}

// Two slices of one buffer that overlap: neither in place nor apart.
TEST_F(PlanTest, RefusesMemoryThatOverlapsInPart) {
  std::vector<float> memory(16);
  const Plan plan = plan_of("rows=2 cols=3");
  const auto at = [&](int element) { return view(memory.data() + element, {2, 3}); };
  for (const int element : {1, 5})
    EXPECT_THAT(refusal(plan, {at(element), at(0), {}, {}, {}, {}}),
                HasSubstr("output 'y' overlaps 'x' in part"));
  EXPECT_THAT(refusal(plan, {at(4), at(8), {}, {}, {}, {}}), HasSubstr("overlaps 'x'"));
  EXPECT_EQ(refusal(plan, {at(6), at(0), {}, {}, {}, {}}), "") << "one behind the other";
  EXPECT_EQ(refusal(plan, {at(0), at(6), {}, {}, {}, {}}), "");
}

// The halves of the rows of one buffer lie in each other's gaps.
TEST_F(PlanTest, TakesMemoryInTheGapsOfOther) {
  std::vector<float> memory(12);
  const Plan plan = plan_of("rows=2 cols=3 x.stride=6,1 y.stride=6,1");
  TensorView left = view(memory.data(), {2, 3});
  left.strides = {6, 1};
  TensorView right = left;
  right.data = memory.data() + 3;
  EXPECT_EQ(refusal(plan, {right, left, {}, {}, {}, {}}), "");
}

TEST_F(PlanTest, RefusesOtherScales) {
  float scale[2]{1, 1};
  std::uint8_t codes[8]{};
  Scaling scaling{
      .block = {1, 8}, .scale = view(scale, {2, 1}), .zero_point = {}, .second_scale = {}};
  TensorView scaled = TensorView::contiguous(codes, DType::e2m1, {2, 8});
  scaled.scaling = &scaling;
  std::vector<float> memory(32);
  const TensorView y = view(memory.data(), {2, 8});
  const TensorView x = view(memory.data() + 16, {2, 8});
  const Plan plan = plan_of("rows=2 cols=8 codes=e2m1 codes.block=1,8 codes.scale=f32");
  EXPECT_EQ(refusal(plan, {y, x, {}, {}, {}, scaled}), "");
  TensorView bare = scaled;
  bare.scaling = nullptr;
  EXPECT_THAT(refusal(plan, {y, x, {}, {}, {}, bare}), HasSubstr("'codes' lacks the block scales"));
  scaling.block = {2, 8};
  EXPECT_THAT(refusal(plan, {y, x, {}, {}, {}, scaled}),
              HasSubstr("'codes' has other block scales"));
  const Plan plain = plan_of("rows=2 cols=8 codes=e2m1");
  EXPECT_THAT(refusal(plain, {y, x, {}, {}, {}, scaled}), HasSubstr("'codes' has block scales"));
}

TEST_F(PlanTest, TakesAnyStrideWhereTheExtentIsOne) {
  const Plan plan = plan_of("rows=1 cols=3");
  TensorView odd = view(x_, {1, 3});
  odd.strides = {-77, 1};
  EXPECT_EQ(refusal(plan, {view(y_, {1, 3}), odd, {}, {}, {}, {}}), "");
}

TEST_F(PlanTest, TakesNothingWithoutData) {
  const Plan plan = plan_of("rows=0 cols=3");
  TensorView none;
  none.shape = {0, 3};
  none.strides = {3, 1};
  EXPECT_EQ(refusal(plan, {none, none, {}, {}, {}, {}}), "");
}

TEST_F(PlanTest, AsksForItsWorkspace) {
  kernel_.prepare = [](const Problem&, Device&, const Config&) {
    return Prepared{.run = [](const Context& context,
                              const Arguments&) { static_cast<char*>(context.workspace)[99] = 7; },
                    .workspace_bytes = 100};
  };
  const Plan plan = plan_of("rows=2 cols=3");
  EXPECT_EQ(plan.workspace_bytes(), 100);
  EXPECT_THAT(refusal(plan, {y_view_, x_view_, {}, {}, {}, {}}),
              HasSubstr("needs a workspace of 100 bytes"));
  char workspace[100]{};
  const TensorView views[]{y_view_, x_view_, {}, {}, {}, {}};
  plan.run({.stream = stream_.get(), .workspace = workspace}, views);
  EXPECT_EQ(workspace[99], 7);
}

TEST_F(PlanTest, TakesTheFirstConfigurationUnlessGivenOne) {
  kernel_.configs = [](const Problem&, const DeviceProperties&) {
    return std::vector<Config>{{{{"tile", 8}}}, {{{"tile", 16}}}};
  };
  EXPECT_EQ(plan_of("rows=2 cols=3").config().text(), "tile=8");
  EXPECT_EQ(
      Plan(kernel_, test_problem("rows=2 cols=3"), *device_, {{{"tile", 16}}}).config().text(),
      "tile=16");
  kernel_.configs = [](const Problem&, const DeviceProperties&) { return std::vector<Config>{}; };
  EXPECT_THROW(plan_of("rows=2 cols=3"), Error);
}

TEST_F(PlanTest, IsNotMadeForWhatTheKernelDoesNotSupport) {
  kernel_.supports = [](const Problem&, const DeviceProperties&) {
    return unsupported("too wide");
  };
  try {
    (void)plan_of("rows=2 cols=3");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("scale/plain does not support 'scale rows=2 cols=3"));
    EXPECT_THAT(error.what(), HasSubstr("too wide"));
  }
}

TEST_F(PlanTest, RefusesArgumentsThatTheOperationDoesNotDeclare) {
  kernel_.prepare = [](const Problem&, Device&, const Config&) {
    return Prepared{.run = [](const Context&, const Arguments& args) { (void)args["q"]; }};
  };
  const TensorView views[]{y_view_, x_view_, {}, {}, {}, {}};
  EXPECT_THROW(plan_of("rows=2 cols=3").run({.stream = stream_.get()}, views), Error);
}

// The plans of a thread outlive the device that they were made on: a program's own device is gone
// before its thread's plans are. The next device, often at the same address, needs plans of its
// own.
TEST_F(PlanTest, OfATypedCallBelongsToOneDevice) {
  int num_prepared = 0;
  kernel_.prepare = [&](const Problem& problem, Device& device, const Config& config) {
    ++num_prepared;
    return test_kernel("plain").prepare(problem, device, config);
  };
  Registry registry;
  registry.add(test_op());
  registry.add(kernel_);
  std::thread([&] {
    for (int i = 0; i < 3; ++i) {
      const std::unique_ptr<Device> device = make_cpu_device(1);
      const auto stream = device->make_stream();
      const TensorView views[]{y_view_, x_view_, {}, {}, {}, {}};
      call(registry, "scale", *stream, views, {});
      call(registry, "scale", *stream, views, {});
    }
  }).join();
  EXPECT_EQ(num_prepared, 3);
  EXPECT_THAT(y_, ElementsAre(2, 4, 6, 8, 10, 12));
}

}  // namespace
}  // namespace rooftile
