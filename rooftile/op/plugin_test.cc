// SPDX-License-Identifier: Apache-2.0
// The C entry against a toy operation, field by field, and files that are no plugins. Real shared
// objects are loaded in examples/ and tests/plugins/.
#include "rooftile/op/plugin.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "rooftile/base/error.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/c_kernel.h"
#include "rooftile/op/plan.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

const OpDef toy{
    .name = "toy",
    .summary = "y = factor * x",
    .formula = "y[i] = factor * x[i]",
    .axes = {{"n", "elements"}},
    .args = {out("y", {"n"}).like("x").alias({"x"}), in("x", {"n"}).scaled(),
             in("extra", {"n"}).optional()},
    .options = {{.name = "factor", .default_value = "2"}},
    .meaning = [](const Problem&, Values&) {},
    .cost = [](const Problem&, const Values*) { return Cost{}; },
    .tolerance = [](const Problem&, const std::string&) { return Tolerance{}; },
    .cases = {{"smoke", "n=4"}},
    .why_these_inputs = "a toy",
};

int toy_supports(const RooftileCProblem* problem, char* reason, size_t reason_bytes) {
  if (problem->dtype(problem, "x") == ROOFTILE_F32) return 0;
  std::snprintf(reason, reason_bytes, "only f32");
  return 1;
}

struct Body {
  const RooftileCTensor* y;
  const RooftileCTensor* x;
  double factor;
};

void toy_body(void* user, std::int64_t i) {
  const auto& body = *static_cast<Body*>(user);
  static_cast<float*>(body.y->data)[i * body.y->strides[0]] =
      static_cast<float>(body.factor) * static_cast<float*>(body.x->data)[i * body.x->strides[0]];
}

int toy_run(const RooftileCContext* context, const RooftileCTensor* const* tensors, int32_t count,
            const RooftileCProblem* problem) {
  if (count != 3 || tensors[2]->data != nullptr) return 3;
  if (problem->number(problem, "factor") == 13) {
    std::snprintf(context->message, context->message_bytes, "13 is unlucky");
    return 5;
  }
  Body body{tensors[0], tensors[1], problem->number(problem, "factor")};
  context->parallel_for(context, problem->axis(problem, "n"), toy_body, &body);
  return 0;
}

RooftileCKernel toy_kernel() {
  return {.size = sizeof(RooftileCKernel),
          .op = "toy",
          .name = "cpu_c",
          .idea = "an example",
          .target = "cpu",
          .determinism = ROOFTILE_BATCH_INVARIANT,
          .calls_vendor_library = 0,
          .supports = toy_supports,
          .workspace_bytes = [](const RooftileCProblem*) -> std::int64_t { return 64; },
          .run = toy_run};
}

std::vector<KernelDef> wrapped(const RooftileCKernel& kernel) {
  const RooftileCKernel* const kernels[]{&kernel};
  const RooftileCPlugin plugin{sizeof(RooftileCPlugin), ROOFTILE_C_PLUGIN_VERSION, 1, kernels};
  return wrap_c_plugin(&plugin, "hash");
}

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal(const RooftileCKernel& kernel) {
  return message_of([&] { (void)wrapped(kernel); });
}

Problem toy_problem(const std::string& text) {
  return bind(toy, parse_problem_text("toy " + text));
}

TEST(CPlugin, AKernelRunsAsOurOwnDo) {
  const RooftileCKernel kernel = toy_kernel();
  const std::vector<KernelDef> defs = wrapped(kernel);
  EXPECT_EQ(defs[0].id(), "toy/cpu_c");
  EXPECT_EQ(defs[0].determinism, Determinism::batch_invariant);
  EXPECT_EQ(defs[0].own_code_hash, "hash");
  const auto device = open_device("cpu");
  const auto stream = device->make_stream();
  std::vector<float> x{1, 2, 3, 4, 5};
  std::vector<float> y(3);
  const Plan plan(defs[0], toy_problem("n=3 x.stride=2 factor=10"), *device);
  EXPECT_EQ(plan.workspace_bytes(), 64);
  char workspace[64];
  TensorView strided = TensorView::contiguous(x.data(), DType::f32, {3});
  strided.strides = {2};
  const TensorView views[]{TensorView::contiguous(y.data(), DType::f32, {3}), strided, {}};
  plan.run({.stream = stream.get(), .workspace = workspace}, views);
  EXPECT_THAT(y, testing::ElementsAre(10, 30, 50));
}

TEST(CPlugin, AFailedRunThrowsItsMessage) {
  const RooftileCKernel kernel = toy_kernel();
  const std::vector<KernelDef> defs = wrapped(kernel);
  const auto device = open_device("cpu");
  const auto stream = device->make_stream();
  float value = 0;
  const Plan plan(defs[0], toy_problem("n=1 factor=13 y.alias=x"), *device);
  const TensorView view = TensorView::contiguous(&value, DType::f32, {1});
  char workspace[64];
  const TensorView views[]{view, view, {}};
  try {
    plan.run({.stream = stream.get(), .workspace = workspace}, views);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_STREQ(error.what(), "toy/cpu_c: 13 is unlucky (status 5)");
  }
}

TEST(CPlugin, SupportsGivesTheReason) {
  const RooftileCKernel kernel = toy_kernel();
  const KernelDef def = wrapped(kernel)[0];
  const auto device = open_device("cpu");
  const auto reason = [&](const std::string& text) {
    return supports(def, toy_problem(text), device->properties()).reason;
  };
  EXPECT_EQ(reason("n=3"), "");
  EXPECT_EQ(reason("n=3 x=bf16"), "only f32");
  EXPECT_THAT(reason("n=4 x.block=2 x.scale=f32"), HasSubstr("no block scales ('x' has them)"));
}

// What the kernel's functions see of a problem.
std::string seen;
int look(const RooftileCProblem* problem, char*, size_t) {
  RooftileCTensor tensor{};
  tensor.size = sizeof tensor;
  EXPECT_EQ(problem->tensor(problem, "x", &tensor), 0);
  EXPECT_EQ(tensor.rank, 1);
  EXPECT_EQ(tensor.shape[0], 6);
  EXPECT_EQ(tensor.strides[0], -2);
  EXPECT_EQ(problem->tensor(problem, "extra", &tensor), 1);
  EXPECT_EQ(problem->dtype(problem, "extra"), -1);
  EXPECT_EQ(problem->axis(problem, "m"), -1);
  EXPECT_EQ(problem->option(problem, "m"), nullptr);
  EXPECT_TRUE(std::isnan(problem->number(problem, "m")));
  EXPECT_EQ(problem->alias(problem, "y"), nullptr);
  // A caller of an older header, whose struct ends after the name.
  RooftileCTensor older{};
  older.size = offsetof(RooftileCTensor, data);
  older.rank = 77;
  EXPECT_EQ(problem->tensor(problem, "x", &older), 0);
  EXPECT_EQ(older.rank, 77);
  seen = std::string(problem->op) + " " + problem->option(problem, "factor") + " " + older.name;
  return 0;
}

TEST(CPlugin, TheProblemIsReadThroughItsFunctions) {
  RooftileCKernel kernel = toy_kernel();
  kernel.supports = look;
  const KernelDef def = wrapped(kernel)[0];
  const auto device = open_device("cpu");
  EXPECT_TRUE(supports(def, toy_problem("n=6 x.stride=-2 factor=1.5"), device->properties()));
  EXPECT_EQ(seen, "toy 1.5 x");
}

TEST(CPlugin, FaultyFieldsAreNamed) {
  const auto with = [](auto change) {
    RooftileCKernel kernel = toy_kernel();
    change(kernel);
    return refusal(kernel);
  };
  EXPECT_THAT(with([](auto& k) { k.size = 8; }), HasSubstr("kernels[0].size is 8"));
  EXPECT_THAT(with([](auto& k) { k.size = ~size_t{0}; }), HasSubstr("is it set to sizeof?"));
  EXPECT_THAT(with([](auto& k) { k.op = nullptr; }), HasSubstr("kernels[0].op is NULL"));
  EXPECT_THAT(with([](auto& k) { k.name = "a b"; }), HasSubstr("'a b' is not a name"));
  EXPECT_THAT(with([](auto& k) { k.name = ""; }), HasSubstr("kernels[0].name has no"));
  EXPECT_THAT(with([](auto& k) { k.idea = nullptr; }), HasSubstr("'toy/cpu_c': idea is NULL"));
  EXPECT_THAT(with([](auto& k) { k.target = "sm91"; }), HasSubstr("'sm91'; did you mean 'sm90'"));
  EXPECT_THAT(with([](auto& k) { k.determinism = 7; }), HasSubstr("determinism is 7"));
  EXPECT_THAT(with([](auto& k) { k.supports = nullptr; }), HasSubstr("function supports is NULL"));
  EXPECT_THAT(with([](auto& k) { k.run = nullptr; }), HasSubstr("function run is NULL"));
}

TEST(CPlugin, FaultyPluginsAreRefused) {
  const RooftileCKernel* const kernels[]{nullptr};
  const auto refused = [](const RooftileCPlugin* plugin) {
    return message_of([&] { (void)wrap_c_plugin(plugin, "hash"); });
  };
  const RooftileCPlugin good{sizeof(RooftileCPlugin), ROOFTILE_C_PLUGIN_VERSION, 1, kernels};
  const auto with = [&](auto change) {
    RooftileCPlugin plugin = good;
    change(plugin);
    return refused(&plugin);
  };
  EXPECT_THAT(refused(nullptr), HasSubstr("returned NULL"));
  EXPECT_THAT(refused(&good), HasSubstr("kernels[0] is NULL"));
  EXPECT_THAT(with([](auto& p) { p.size = 0; }), HasSubstr("RooftileCPlugin.size is 0"));
  EXPECT_THAT(with([](auto& p) { p.version = 9; }), HasSubstr("version 9 of the C interface"));
  EXPECT_THAT(with([](auto& p) { p.num_kernels = 0; }), HasSubstr("num_kernels is 0"));
  EXPECT_THAT(with([](auto& p) { p.num_kernels = ~0u; }), HasSubstr("num_kernels is 4294967295"));
  EXPECT_THAT(with([](auto& p) { p.kernels = nullptr; }), HasSubstr("kernels is NULL"));
}

std::string load_failure(const std::string& path) {
  Registry registry;
  const std::string message = message_of([&] { load_plugin(registry, path); });
  EXPECT_TRUE(registry.operations().empty());
  EXPECT_THAT(message, HasSubstr("plugin '" + path + "'"));
  return message;
}

TEST(LoadPlugin, FilesThatAreNoPluginsAreRefused) {
  const std::string folder = testing::TempDir();
  EXPECT_THAT(load_failure("no_such_file.so"), HasSubstr("no such file"));
  EXPECT_THAT(load_failure(folder), HasSubstr("not a file"));
  std::ofstream(folder + "text.so") << "hello";
  EXPECT_THAT(load_failure(folder + "text.so"), HasSubstr("not a shared object"));
  std::ofstream(folder + "empty.so").flush();
  EXPECT_THAT(load_failure(folder + "empty.so"), HasSubstr("empty"));
  std::ofstream(folder + "cut.so") << "\177ELF and no more";
  EXPECT_THAT(load_failure(folder + "cut.so"), HasSubstr("cannot be loaded"));
}

TEST(LoadPlugin, ALibraryWithoutEntryIsRefused) {
  Dl_info library;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&std::printf), &library), 0);
  EXPECT_THAT(load_failure(library.dli_fname), HasSubstr("exports neither rooftile_plugin"));
}

}  // namespace
}  // namespace rooftile
