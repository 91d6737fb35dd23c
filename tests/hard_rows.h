// SPDX-License-Identifier: Apache-2.0
// Rows that no generator of data makes: NaN and infinities in one place or everywhere, rows of
// equal elements, of the largest and of the smallest numbers, of a large mean with small
// deviations. Each must give what the meaning says, and no row may change another.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/core/expression.h"
#include "rooftile/device/cpu/isa.h"
#include "rooftile/formats/element.h"
#include "rooftile/op/generate.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/workbench/workload.h"

namespace rooftile {

/// Element c of cols; `given` is what a generator gave it.
struct Place {
  std::int64_t c;
  std::int64_t cols;
  DType dtype;
  double given;

  [[nodiscard]] bool is_middle() const { return c == cols / 2; }
  [[nodiscard]] double least() const { return ulp_of(dtype, 0.0); }
  [[nodiscard]] double most() const { return info(dtype).max_finite; }
};

struct HardRow {
  const char* name;
  double (*value)(const Place&);
  bool has_range = false;     // sums of such elements may leave f32's range
  bool is_subnormal = false;  // some are below the least normal number of f32
};

/// Which rows a problem cannot have.
struct Without {
  bool range = false;
  bool subnormals = false;
};

inline const std::vector<HardRow>& hard_rows() {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  static const std::vector<HardRow> rows{
      {"as it was", [](const Place& at) { return at.given; }},
      {"one NaN", [](const Place& at) { return at.is_middle() ? kNan : at.given; }},
      {"one infinity", [](const Place& at) { return at.is_middle() ? kInfinity : at.given; }},
      {"one -infinity", [](const Place& at) { return at.is_middle() ? -kInfinity : at.given; }},
      {"both infinities",
       [](const Place& at) {
         return at.c == 0 ? kInfinity : at.c == at.cols - 1 ? -kInfinity : at.given;
       }},
      {"infinities", [](const Place&) { return kInfinity; }},
      {"-infinities", [](const Place&) { return -kInfinity; }},
      {"-infinities but one",
       [](const Place& at) { return at.c == at.cols - 1 ? at.given : -kInfinity; }},
      {"NaNs", [](const Place&) { return kNan; }},
      {"equal", [](const Place&) { return 3.25; }},
      {"zeros of both signs", [](const Place& at) { return at.c % 2 == 0 ? -0.0 : 0.0; }},
      {"a large mean", [](const Place& at) { return 1e4 + 1e-2 * at.given; }},
      {"the least", [](const Place& at) { return at.least() * static_cast<double>(1 + at.c % 3); },
       true, true},
      {"one of the least", [](const Place& at) { return at.is_middle() ? at.least() : 0; }, false,
       true},
      {"the most", [](const Place& at) { return at.most(); }, true},
      {"-the most", [](const Place& at) { return -at.most(); }, true},
      {"the most of both signs",
       [](const Place& at) { return at.c % 2 == 0 ? -at.most() : at.most(); }, true},
      {"one of the most", [](const Place& at) { return at.is_middle() ? at.most() : 0; }, true},
      {"as it was, at last", [](const Place& at) { return at.given; }},
  };
  return rows;
}

/// Fills the rows of `array`, the first first, with the hard ones.
inline void make_hard(Array& array, DType dtype, Without without) {
  const std::int64_t cols = array.shape[1];
  for (std::size_t r = 0; r < hard_rows().size(); ++r) {
    const HardRow& row = hard_rows()[r];
    if ((row.has_range && without.range) || (row.is_subnormal && without.subnormals)) continue;
    for (std::int64_t c = 0; c < cols; ++c) {
      double& value = array.at(static_cast<std::int64_t>(r), c);
      value = round_to(dtype, row.value({c, cols, dtype, value}));
    }
  }
}

/// Of a product the sums leave f32's range; and the bf16 instruction of AVX-512 takes subnormal
/// numbers as 0.
inline Without without(const Problem& problem, const Device& device) {
  const bool is_product = problem.op == "gemm";
  const bool flushes = device.properties().id == "cpu" && cpu_isa() == Isa::avx512_bf16 &&
                       is_product && problem.dtype("a") == DType::bf16;
  return {.range = is_product, .subnormals = flushes};
}

// Row r of a matrix.
inline Array row_of(const Array& all, std::int64_t r) {
  const auto cols = all.values.size() / static_cast<std::size_t>(all.shape[0]);
  const auto part = [&](const std::vector<double>& from) {
    const auto first =
        from.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(r) * cols);
    return from.empty() ? from
                        : std::vector<double>(first, first + static_cast<std::ptrdiff_t>(cols));
  };
  return {.name = all.name,
          .shape = {static_cast<std::int64_t>(cols)},
          .values = part(all.values),
          .magnitude = part(all.magnitude)};
}

inline void expect_right_rows(const Operation& operation, const KernelDef& kernel,
                              const Problem& problem, const std::string& arg, Device& device,
                              const Config& config) {
  const std::unique_ptr<Stream> stream = device.make_stream();
  Workload workload(*operation.def, problem, device, *stream);
  Values inputs(problem);
  generate_inputs(*operation.def, problem, inputs);
  make_hard(inputs[arg], problem.dtype(arg), without(problem, device));
  workload.set_inputs(inputs);
  const Plan plan(kernel, problem, device, config);
  const Workspace workspace(plan, device, *stream);
  for (const Poison poison : {Poison::nan, Poison::number}) {
    workload.reset(poison);
    workload.run(plan, workspace.data());
    for (const auto* slot : workload.outputs()) {
      Array got = workload.expected()[slot->name];
      got.values = slot->tensor->load();
      for (std::size_t r = 0; r < hard_rows().size(); ++r) {
        const Array expected =
            row_of(workload.expected()[slot->name], static_cast<std::int64_t>(r));
        const Comparison result =
            compare(row_of(got, static_cast<std::int64_t>(r)).values, expected,
                    problem.dtype(slot->name), operation.def->tolerance(problem, slot->name));
        EXPECT_TRUE(result.passed())
            << kernel.id() << problem.text(false).substr(problem.op.size()) << " " << config.text()
            << ": with '" << hard_rows()[r].name << "' in " << arg << ", " << result.text(expected);
      }
    }
    EXPECT_EQ(workload.memory_fault(), "");
  }
}

/// Every kernel that runs on the device, in every configuration, of one problem without its rows,
/// whose argument `arg` has them.
inline void expect_right_on_hard_rows(const std::string& line, const std::string& arg,
                                      Device& device) {
  const TestCache cache;
  const std::string rows = std::to_string(hard_rows().size());
  const std::string axis = line.starts_with("gemm ") ? " m=" : " rows=";
  Problem problem = catalogue().bind(line + axis + rows);
  const Operation& operation = catalogue().operation(problem.op);
  int ran = 0;
  for (const KernelDef* kernel : operation.kernels) {
    problem.kernel = kernel->name;
    // A vendor's kernel answers for itself.
    if (!runs_on(kernel->target, device.properties()) || kernel->calls_vendor_library ||
        !supports(*kernel, problem, device.properties()))
      continue;
    std::vector<Config> configs{{}};
    if (kernel->configs) configs = kernel->configs(problem, device.properties());
    for (const Config& config : configs)
      expect_right_rows(operation, *kernel, problem, arg, device, config);
    ++ran;
  }
  EXPECT_GT(ran, 0) << line;
}

/// Of every operation on rows: whole vectors and cut ones, short rows and long.
inline void expect_all_right_on_hard_rows(Device& device) {
  for (const std::string dtype : {"f32", "bf16", "fp16"}) {
    const auto on = [&](const std::string& arg, const std::string& line) {
      expect_right_on_hard_rows(line + dtype, arg, device);
    };
    for (const std::string cols : {"72", "70", "1032"}) {
      on("x", "rmsnorm cols=" + cols + " x=");
      on("x", "rmsnorm round=early weight_offset=1 cols=" + cols + " x=");
      on("x", "layernorm w=f32 cols=" + cols + " x=");
      on("x", "layernorm eps=0 cols=" + cols + " x=");
      on("x", "softmax cols=" + cols + " x=");
    }
    on("residual", "rmsnorm cols=72 residual=" + dtype + " x=");
    on("residual", "layernorm cols=72 residual=" + dtype + " x=");
    on("x", "softmax cols=72 scale=0.1 x=");
    for (const std::string& act : activation_names()) {
      on("x", "activation cols=72 act=" + act + " x=");
      for (const std::string arg : {"gate", "up"}) {
        on(arg, "glu cols=72 act=" + act + " gate=");
        on(arg, "glu cols=70 limit=7 alpha=1.702 up_offset=1 act=" + act + " gate=");
      }
    }
    on("a", "add cols=72 a=");
    on("b", "mul cols=70 a=");
    on("a", "gemm n=40 k=72 layout=nt a=");
    on("a", "gemm n=33 k=70 layout=nn a=");
  }
}

}  // namespace rooftile
