// SPDX-License-Identifier: Apache-2.0
// What may be declared: operations and kernels, each fault named; and the reference kernel.
#include "rooftile/op/registry.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/test_op.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "";
}

struct Fault {
  const char* name;
  std::function<void(OpDef&)> make;
  const char* message;
};

class FaultyDeclaration : public testing::TestWithParam<Fault> {};

TEST_P(FaultyDeclaration, IsNamed) {
  OpDef op = make_test_op();
  ASSERT_TRUE(declaration_errors(op).empty()) << declaration_errors(op).front();
  GetParam().make(op);
  const std::vector<std::string> errors = declaration_errors(op);
  ASSERT_FALSE(errors.empty());
  EXPECT_THAT(errors, testing::Contains(HasSubstr(GetParam().message)));
  EXPECT_THAT(errors.front(), HasSubstr("operation 'scale'"));
  EXPECT_THAT(refusal([&] { Registry().add(op); }), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Registry, FaultyDeclaration,
    testing::Values(
        Fault{"NoMeaning", [](OpDef& op) { op.meaning = {}; }, "no meaning"},
        Fault{"NoCost", [](OpDef& op) { op.cost = {}; }, "no cost"},
        Fault{"NoTolerance", [](OpDef& op) { op.tolerance = {}; }, "no tolerance"},
        Fault{"NoCases", [](OpDef& op) { op.cases.clear(); }, "no cases"},
        Fault{"NoEssence", [](OpDef& op) { op.why_these_inputs.clear(); }, "no why_these_inputs"},
        Fault{"NoOutput", [](OpDef& op) { op.args.erase(op.args.begin()); },
              "no argument is an output"},
        Fault{"NameTwice", [](OpDef& op) { op.options[0].name = "rows"; },
              "'rows' is declared twice"},
        Fault{"NameTaken", [](OpDef& op) { op.args[2].name = "seed"; }, "'seed' is declared twice"},
        Fault{"NoName", [](OpDef& op) { op.axes[0].name = ""; }, "'' is not a name"},
        Fault{"DottedName", [](OpDef& op) { op.args[2].name = "z.z"; }, "'z.z' is not a name"},
        Fault{"UnknownAxis", [](OpDef& op) { op.args[1].axes = {"depth"}; },
              "unknown axis 'depth'"},
        Fault{"AxisOfNoArgument", [](OpDef& op) { op.axes[2].only_of = "q"; },
              "'groups' is of 'q', which is no optional argument"},
        Fault{"AxisOfARequiredArgument", [](OpDef& op) { op.axes[2].only_of = "x"; },
              "'groups' is of 'x', which is no optional argument"},
        Fault{"UnknownLike", [](OpDef& op) { op.args[0].like("q"); }, "refers to unknown 'q'"},
        Fault{"UnknownWith", [](OpDef& op) { op.args[2].with("q"); }, "refers to unknown 'q'"},
        Fault{"UnknownAlias", [](OpDef& op) { op.args[0].alias({"q"}); }, "may alias unknown 'q'"},
        Fault{"NoDType", [](OpDef& op) { op.args[1].types({}); }, "allows no dtype"},
        Fault{"Circle", [](OpDef& op) { op.args[1].like("y"); }, "in a circle"},
        Fault{"UnknownBatch", [](OpDef& op) { op.batch_axis = "tokens"; },
              "unknown batch axis 'tokens'"},
        Fault{"BadChoice", [](OpDef& op) { op.options[2].default_value = "silu"; },
              "'act' does not allow its default 'silu'"},
        Fault{"BadNumber", [](OpDef& op) { op.options[0].default_value = "101"; },
              "'factor' does not allow its default '101'"},
        Fault{"NotWhole", [](OpDef& op) { op.options[1].default_value = "0.5"; },
              "'times' does not allow its default '0.5'"}),
    [](const auto& test) { return test.param.name; });

TEST(Registry, RefusesASecondDeclaration) {
  Registry registry;
  registry.add(test_op());
  EXPECT_THAT(refusal([&] { registry.add(test_op()); }), HasSubstr("'scale' is declared twice"));
  EXPECT_EQ(registry.operations().size(), 1U);
}

TEST(Registry, RefusesFaultyKernels) {
  Registry registry;
  registry.add(test_op());
  const KernelDef kernel = test_kernel("one");
  registry.add(kernel);
  EXPECT_THAT(refusal([&] { registry.add(kernel); }), HasSubstr("'scale/one' is declared twice"));
  const KernelDef reference = test_kernel("reference");
  EXPECT_THAT(refusal([&] { registry.add(reference); }), HasSubstr("declared twice"));
  KernelDef bad = test_kernel("two");
  bad.supports = {};
  EXPECT_THAT(refusal([&] { registry.add(bad); }), HasSubstr("lacks supports or prepare"));
  bad = test_kernel("two");
  bad.prepare = {};
  EXPECT_THAT(refusal([&] { registry.add(bad); }), HasSubstr("lacks supports or prepare"));
  bad = test_kernel("two");
  bad.op = "scal";
  EXPECT_THAT(refusal([&] { registry.add(bad); }), HasSubstr("did you mean 'scale'"));
  EXPECT_EQ(registry.operation("scale").kernels.size(), 1U) << "a refused kernel leaves no trace";
}

TEST(Registry, KeepsTheOrderOfPreference) {
  Registry registry;
  registry.add(test_op());
  const KernelDef first = test_kernel("b");
  const KernelDef second = test_kernel("a");
  registry.add(first);
  registry.add(second);
  EXPECT_THAT(registry.operation("scale").kernels, testing::ElementsAre(&first, &second));
}

TEST(Registry, BindsLinesAndNamesWhatIsUnknown) {
  Registry registry;
  registry.add(test_op());
  const KernelDef kernel = test_kernel("cpu_fast");
  registry.add(kernel);
  EXPECT_EQ(registry.bind("scale/cpu_fast rows=2 cols=3").kernel, "cpu_fast");
  EXPECT_EQ(registry.bind("scale/reference rows=2 cols=3").kernel, "reference");
  EXPECT_THAT(refusal([&] { (void)registry.bind("scael rows=2 cols=3"); }),
              HasSubstr("unknown operation 'scael'; did you mean 'scale'"));
  EXPECT_THAT(refusal([&] { (void)registry.bind("scale/cpu_fats rows=2 cols=3"); }),
              HasSubstr("unknown kernel of scale 'cpu_fats'; did you mean 'cpu_fast'"));
}

TEST(Kernel, RunsOnItsTargetOnly) {
  const DeviceProperties cpu{.id = "cpu", .name = "", .kind = "cpu-avx2", .driver = ""};
  const DeviceProperties h200{.id = "cuda:0", .name = "", .kind = "sm90", .driver = ""};
  const DeviceProperties b200{.id = "cuda:1", .name = "", .kind = "sm100", .driver = ""};
  EXPECT_TRUE(runs_on(Target::cpu, cpu));
  EXPECT_FALSE(runs_on(Target::cpu, h200));
  EXPECT_TRUE(runs_on(Target::sm90, h200));
  EXPECT_FALSE(runs_on(Target::sm90, b200)) << "sm_90a code runs on no other GPU";
  EXPECT_FALSE(runs_on(Target::sm90, cpu));
  EXPECT_TRUE(runs_on(Target::sm80, h200));
  EXPECT_TRUE(runs_on(Target::sm80, b200));
  KernelDef kernel = test_kernel("hopper");
  kernel.target = Target::sm90;
  const Support support = supports(kernel, test_problem("rows=1 cols=1"), cpu);
  EXPECT_FALSE(support);
  EXPECT_EQ(support.reason, "runs on sm90, not on cpu");
}

TEST(Config, IsNamedIntegersInOrder) {
  const Config config{{{"mc", 96}, {"kc", 256}}};
  EXPECT_EQ(config.text(), "mc=96 kc=256");
  EXPECT_EQ(config.at("kc"), 256);
  EXPECT_THROW((void)config.at("nc"), Error);
  EXPECT_EQ(Config{}.text(), "");
  EXPECT_NE(config, (Config{{{"kc", 256}, {"mc", 96}}}));
}

TEST(Reference, ComputesTheMeaningOnAnyView) {
  const KernelDef reference = make_reference(test_op());
  EXPECT_EQ(reference.id(), "scale/reference");
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  const Plan plan(reference, test_problem("rows=2 cols=3 x.stride=0,1 factor=3"), *device);
  const float x[3]{1, 2, 3};
  float y[6]{};
  TensorView repeated = TensorView::contiguous(x, DType::f32, {2, 3});
  repeated.strides = {0, 1};
  const TensorView views[]{TensorView::contiguous(y, DType::f32, {2, 3}), repeated, {}, {}, {}, {}};
  plan.run({.stream = stream.get()}, views);
  EXPECT_THAT(y, testing::ElementsAre(3, 6, 9, 3, 6, 9));
}

}  // namespace
}  // namespace rooftile
