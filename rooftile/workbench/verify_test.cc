// SPDX-License-Identifier: Apache-2.0
// Verify on right kernels and on what is neither right nor wrong; whole sets of cases and the
// proofs that come of them.
#include "rooftile/workbench/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/op/proof.h"
#include "rooftile/op/storage.h"
#include "rooftile/workbench/planted_kernels.h"

namespace rooftile {
namespace {

using testing::HasSubstr;

class Verify : public testing::Test {
 protected:
  Record verified(const KernelDef& kernel, const std::string& line,
                  const VerifyOptions& options = {}) {
    return verify(toy_op(), kernel, toy_problem(line), device_, options);
  }
  // All of the sets for one kernel, and what its proof is then.
  VerifyCounts verified_sets(const KernelDef& kernel, std::vector<std::string> sets) {
    Operation operation{.def = &toy_op()};
    operation.kernels = {&kernel};
    return verify_all(operation, device_,
                      {.kernel = "", .sets = std::move(sets), .options = options_},
                      [&](const Record& record) { records_.push_back(record); });
  }
  ProofState proof(const KernelDef& kernel) {
    return proof_state(toy_op(), kernel, device_.properties());
  }

  TestCache cache_;
  FakeDevice device_;
  VerifyOptions options_;
  std::vector<Record> records_;
};

TEST_F(Verify, PassesTheRightKernelOnEveryView) {
  const KernelDef kernel = toy_kernel(run_right);
  for (const char* line :
       {"rows=1 cols=1", "rows=0 cols=5", "rows=5 cols=0", "rows=1 cols=1000",
        "rows=7 cols=13 x=fp16", "rows=5 cols=48 x=bf16 y=f32", "rows=5 cols=48 x.stride=0,1",
        "rows=5 cols=48 x.stride=-48,-1", "rows=5 cols=48 y.stride=-50,1",
        "rows=5 cols=48 y.stride=1,5 y.offset=3", "rows=5 cols=48 y.alias=x",
        "rows=5 cols=48 data=zeros", "rows=5 cols=48 data=uniform seed=9",
        "rows=64 cols=4 x.stride=67108864,1", "rows=64 cols=4 y.stride=67108864,1"}) {
    const Record record = verified(kernel, line);
    EXPECT_EQ(record.status, Status::passed) << line << ": " << record.reason;
  }
}

TEST_F(Verify, FillsTheRecord) {
  const Record record =
      verified(toy_kernel(run_right), "rows=5 cols=48 x=bf16 seed=3", {.seed = 4});
  EXPECT_EQ(record.op, "toy");
  EXPECT_EQ(record.kernel, "toy/planted");
  EXPECT_EQ(record.problem, "toy/planted rows=5 cols=48 y=bf16 x=bf16 seed=3");
  EXPECT_EQ(record.device, "fake");
  EXPECT_EQ(record.command, "rooftile verify " + record.problem);
  EXPECT_EQ(record.code_hash, "planted");
  EXPECT_EQ(record.data, "randn seed=7");
  EXPECT_NE(record.date, "");
  ASSERT_TRUE(record.max_ulps);
  EXPECT_GT(*record.max_ulps, 0.3) << "rounding to bf16 shows";
  EXPECT_LE(*record.max_ulps, 0.51);
  EXPECT_FALSE(record.time_us);
}

TEST_F(Verify, GivesFreshDataForEachSeed) {
  std::vector<double> seen;
  const KernelDef kernel = toy_kernel([&](const Context&, const Arguments& args) {
    const Toy toy(args);
    seen.push_back(toy.load(0, 0));
    toy.fill_right();
  });
  (void)verified(kernel, "rows=2 cols=8", {.seed = 0});
  const std::size_t runs = seen.size();
  EXPECT_NE(seen[0], seen[1]) << "two sets of data in one verification";
  (void)verified(kernel, "rows=2 cols=8", {.seed = 100});
  EXPECT_NE(seen[0], seen[runs]);
  (void)verified(kernel, "rows=2 cols=8 seed=100");
  EXPECT_EQ(seen[runs], seen[2 * runs]) << "the problem's seed and the option's add up";
}

// The kernel sees NaN in the output, and in the guards and gaps around everything.
TEST_F(Verify, PoisonsBeforeEveryRun) {
  int not_poisoned = 0;
  int runs = 0;
  double other_poison = 0;
  const KernelDef kernel = toy_kernel(
      [&](const Context&, const Arguments& args) {
        const Toy toy(args);
        const auto is_nan = [](const TensorView& view, std::int64_t offset) {
          return std::isnan(load_element(view.dtype, view.data, offset));
        };
        // With other data, the elements of outputs hold a number.
        if (++runs == 2) other_poison = load_element(DType::f32, toy.y.data, 7);
        for (const std::int64_t offset : {0, 7, 50, -1, 247})
          if (runs != 2 && !is_nan(toy.y, offset)) ++not_poisoned;
        if (!is_nan(toy.y, -1) || !is_nan(toy.y, 48)) ++not_poisoned;
        for (const std::int64_t offset : {-1, 48, 63, 304})
          if (!is_nan(toy.x, offset)) ++not_poisoned;
        toy.fill_right();
      },
      Determinism::repeatable);
  EXPECT_EQ(verified(kernel, "rows=5 cols=48 x.stride=64,1 y.stride=50,1").status, Status::passed);
  EXPECT_EQ(not_poisoned, 0);
  EXPECT_GT(other_poison, 1e12);
  EXPECT_EQ(runs, 4) << "two sets of data and two repeats";
}

// Where NaN is right, poison that is NaN would be an answer.
TEST_F(Verify, TakesNothingDoneForNoAnswerEvenWhereNanIsRight) {
  OpDef undefined = toy_op();
  undefined.meaning = [](const Problem&, Values& values) {
    for (double& value : values["y"].values) value = NAN;
  };
  const Problem problem = bind(undefined, parse_problem_text("toy rows=5 cols=48"));
  const auto verdict = [&](const rooftile::Run& run) {
    return verify(undefined, toy_kernel(run), problem, device_);
  };
  EXPECT_EQ(verdict([](const Context&, const Arguments& args) {
              Toy(args).fill([](std::int64_t, std::int64_t) { return NAN; });
            }).status,
            Status::passed);
  const Record nothing = verdict([](const Context&, const Arguments&) {});
  EXPECT_EQ(nothing.status, Status::failed);
  EXPECT_THAT(nothing.reason, HasSubstr("expected nan"));
}

TEST_F(Verify, ComparesRowsAloneWithRowsInTheBatch) {
  std::vector<std::int64_t> rows;
  const KernelDef kernel = toy_kernel([&](const Context&, const Arguments& args) {
    rows.push_back(Toy(args).rows);
    run_right({}, args);
  });
  EXPECT_EQ(verified(kernel, "rows=5 cols=48").status, Status::passed);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), 1), 3) << "first, middle and last";
}

TEST_F(Verify, AsksNoBatchInvarianceWhereNoneIsPromised) {
  const rooftile::Run by_batch = [](const Context&, const Arguments& args) {
    const Toy toy(args);
    toy.fill([&](std::int64_t r, std::int64_t c) {
      return toy.rows > 1 ? toy.right(r, c) : nudged(toy.right(r, c), toy.y.dtype);
    });
  };
  EXPECT_EQ(verified(toy_kernel(by_batch), "rows=5 cols=48").status, Status::failed);
  EXPECT_EQ(verified(toy_kernel(by_batch, Determinism::repeatable), "rows=5 cols=48").status,
            Status::passed);
}

// An output without the batch axis, or an input that has it elsewhere, says nothing about single
// rows.
TEST_F(Verify, TakesRowsAloneOnlyWhereTheyAreTheFirstAxis) {
  OpDef transposed = toy_op();
  transposed.args[1].axes = {"cols", "rows"};
  transposed.meaning = [](const Problem& problem, Values& values) {
    for (std::int64_t r = 0; r < problem.axis("rows"); ++r)
      for (std::int64_t c = 0; c < problem.axis("cols"); ++c)
        values["y"].at(r, c) = 2 * values["x"].at(c, r) + 1;
  };
  const KernelDef kernel = toy_kernel([](const Context&, const Arguments& args) {
    const TensorView& x = args["x"];
    for (std::int64_t r = 0; r < x.extent(1); ++r)
      for (std::int64_t c = 0; c < x.extent(0); ++c)
        args["y"].as<float>()[r * x.extent(0) + c] = 2 * x.as<float>()[c * x.extent(1) + r] + 1;
  });
  const Problem problem = bind(transposed, parse_problem_text("toy rows=5 cols=7"));
  const Record record = verify(transposed, kernel, problem, device_);
  EXPECT_EQ(record.status, Status::passed) << record.reason;
}

// y[r] = x[r] + first + r: alone, a row is first of its problem, and means the same only with
// another `first`.
TEST_F(Verify, AsksTheOperationWhatARowAloneIs) {
  OpDef counted = toy_op();
  counted.axes.push_back({"one", "", 1, 1});
  counted.args.push_back(in("first", {"one"}).types({DType::f32}));
  counted.meaning = [](const Problem& problem, Values& values) {
    for (std::int64_t r = 0; r < problem.axis("rows"); ++r)
      for (std::int64_t c = 0; c < problem.axis("cols"); ++c)
        values["y"].at(r, c) = values["x"].at(r, c) + (values["first"][0] + static_cast<double>(r));
  };
  const KernelDef kernel = toy_kernel([](const Context&, const Arguments& args) {
    const TensorView& x = args["x"];
    for (std::int64_t i = 0; i < num_elements(x.shape); ++i)
      args["y"].as<float>()[i] =
          x.as<float>()[i] + (args["first"].as<float>()[0] + static_cast<float>(i / x.extent(1)));
  });
  const auto verdict = [&](std::function<bool(std::int64_t, double&)> change) {
    counted.row_alone = nullptr;
    if (change)
      counted.row_alone = [=](const Problem&, const Values&, std::int64_t row, Values& alone) {
        return change(row, alone["first"][0]);
      };
    const Problem problem = bind(counted, parse_problem_text("toy rows=5 cols=7 data=zeros"));
    return verify(counted, kernel, problem, device_).reason;
  };
  EXPECT_THAT(verdict(nullptr), HasSubstr("not batch-invariant"));
  EXPECT_EQ(verdict([](std::int64_t row, double& first) {
              first += static_cast<double>(row);
              return true;
            }),
            "");
  EXPECT_EQ(verdict([](std::int64_t, double&) { return false; }), "") << "no such problem";
}

TEST_F(Verify, TellsUnsupportedFromFailed) {
  KernelDef kernel = toy_kernel(run_right);
  kernel.supports = [](const Problem&, const DeviceProperties&) {
    return unsupported("no tensor cores");
  };
  const Record record = verified(kernel, "rows=5 cols=48");
  EXPECT_EQ(record.status, Status::unsupported);
  EXPECT_EQ(record.reason, "no tensor cores");
  kernel = toy_kernel(run_right);
  kernel.target = Target::sm90;
  EXPECT_EQ(verified(kernel, "rows=5 cols=48").status, Status::unsupported);
}

TEST_F(Verify, JudgesByTheNamedPolicy) {
  const KernelDef kernel = toy_kernel([](const Context&, const Arguments& args) {
    const Toy toy(args);
    toy.fill([&](std::int64_t r, std::int64_t c) { return toy.right(r, c) * (1 + 1e-6); });
  });
  EXPECT_EQ(verified(kernel, "rows=5 cols=48").status, Status::failed);
  EXPECT_EQ(verified(kernel, "rows=5 cols=48", {.policy = Policy::assert_close}).status,
            Status::passed);
}

// A rule that takes zeros shows nothing, whatever the kernel gave.
TEST_F(Verify, CallsARuleThatTakesZerosInvalid) {
  OpDef small = toy_op();
  small.meaning = [](const Problem&, Values& values) {
    for (double& value : values["y"].values) value = 0x1p-19;
  };
  const Problem problem = bind(small, parse_problem_text("toy rows=5 cols=48"));
  for (const double given : {0x1p-19, 0.0}) {
    const KernelDef kernel = toy_kernel([given](const Context&, const Arguments& args) {
      Toy(args).fill([&](std::int64_t, std::int64_t) { return given; });
    });
    const Record record = verify(small, kernel, problem, device_, {.policy = Policy::assert_close});
    EXPECT_EQ(record.status, Status::invalid);
    EXPECT_THAT(record.reason, HasSubstr("y: zeros would pass as well"));
    EXPECT_EQ(verify(small, kernel, problem, device_).status,
              given == 0 ? Status::failed : Status::passed);
  }
}

TEST_F(Verify, ChecksAScaledInputsScalesToo) {
  OpDef scaled = toy_op();
  scaled.args[1].types({DType::i8}).scaled();
  scaled.args[0].types({DType::f32}).default_dtype_of.clear();
  const Problem problem =
      bind(scaled, parse_problem_text("toy rows=2 cols=32 x.block=1,16 x.scale=f32 x.zero=i8"));
  const auto run = [&](bool is_wrong) {
    const KernelDef kernel = toy_kernel(
        [is_wrong](const Context&, const Arguments& args) {
          const TensorView& x = args["x"];
          const Scaling& scaling = *x.scaling;
          for (std::int64_t i = 0; i < 64; ++i) {
            const double zero = scaling.zero_point.as<std::int8_t>()[i / 16];
            const float value = static_cast<float>(x.as<std::int8_t>()[i] - zero) *
                                scaling.scale.as<float>()[i / 16];
            args["y"].as<float>()[i] = 2 * value + 1;
          }
          if (is_wrong) scaling.scale.as<float>()[1] = 1;
        },
        Determinism::repeatable);
    return verify(scaled, kernel, problem, device_);
  };
  EXPECT_EQ(run(false).status, Status::passed) << run(false).reason;
  EXPECT_THAT(run(true).reason, HasSubstr("changed input 'x'"));
}

// Blocks of weights do not give their own bits when their values are quantised again: the row alone
// must see the batch's.
TEST_F(Verify, TakesBlocksAsInputs) {
  OpDef blocks = toy_op();
  blocks.args[1].types({DType::q4_k, DType::q8_0});
  blocks.args[0].types({DType::f32}).default_dtype_of.clear();
  for (const char* line :
       {"toy rows=3 cols=512 y=f32 x=q4_k", "toy rows=3 cols=512 y=f32 x=q4_k data=extreme",
        "toy rows=3 cols=32 y=f32 x=q8_0", "toy rows=0 cols=256 y=f32 x=q4_k"}) {
    const Problem problem = bind(blocks, parse_problem_text(line));
    EXPECT_EQ(problem.text(), line);
    const auto run = [&](double wrong) {
      const KernelDef kernel = toy_kernel([wrong](const Context&, const Arguments& args) {
        const TensorView& x = args["x"];
        std::vector<double> values;
        load_view(x, values);
        for (std::size_t i = 0; i < values.size(); ++i)
          args["y"].as<float>()[i] = static_cast<float>(2 * values[i] + 1 + wrong);
      });
      return verify(blocks, kernel, problem, device_);
    };
    EXPECT_EQ(run(0).status, Status::passed) << line << ": " << run(0).reason;
    const bool is_empty = problem.axis("rows") == 0;
    EXPECT_EQ(run(0.01).status, is_empty ? Status::passed : Status::failed) << line;
  }
  const Problem problem = bind(blocks, parse_problem_text("toy rows=3 cols=512 y=f32 x=q4_k"));
  EXPECT_EQ(problem.bytes("x"), 3 * 2 * 144);
}

TEST_F(Verify, CountsSets) {
  const KernelDef kernel = toy_kernel(run_right);
  const VerifyCounts counts = verified_sets(kernel, {"smoke", "ci", "edges"});
  EXPECT_EQ(counts.passed, 4);
  EXPECT_EQ(counts.run(), 4);
  EXPECT_EQ(records_.size(), 4U);
  EXPECT_EQ(verified_sets(kernel, {"none"}).run(), 0) << "nothing ran: the caller's error";
}

TEST_F(Verify, ProvesByTheEdges) {
  const KernelDef kernel = toy_kernel(run_right);
  (void)verified_sets(kernel, {"smoke", "ci"});
  EXPECT_EQ(proof(kernel), ProofState::none);
  (void)verified_sets(kernel, {"edges"});
  EXPECT_EQ(proof(kernel), ProofState::current);
}

TEST_F(Verify, ProvesByAllSetsTogether) {
  const KernelDef kernel = toy_kernel(run_right);
  EXPECT_EQ(verified_sets(kernel, {"all"}).passed, 4) << "the large set 'roof' is not one of them";
  EXPECT_EQ(proof(kernel), ProofState::current);
}

TEST_F(Verify, ProvesNothingByALooserRule) {
  const KernelDef kernel = toy_kernel(run_right);
  options_.policy = Policy::assert_close;
  (void)verified_sets(kernel, {"edges"});
  EXPECT_EQ(proof(kernel), ProofState::none);
}

TEST_F(Verify, TakesTheProofFromWhatFailsAnywhere) {
  const KernelDef kernel = toy_kernel(run_right);
  (void)verified_sets(kernel, {"edges"});
  EXPECT_EQ(proof(kernel), ProofState::current);
  const KernelDef wrong = toy_kernel([](const Context&, const Arguments&) {});
  const VerifyCounts counts = verified_sets(wrong, {"smoke"});
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(proof(kernel), ProofState::none) << "the same id: its code fails now";
}

TEST_F(Verify, DoesNotProveByEdgesThatAreAllUnsupported) {
  KernelDef kernel = toy_kernel(run_right);
  kernel.supports = [](const Problem& problem, const DeviceProperties&) {
    return problem.axis("rows") == 2 ? supported() : unsupported("two rows only");
  };
  const VerifyCounts counts = verified_sets(kernel, {"all"});
  EXPECT_EQ(counts.passed, 1);
  EXPECT_EQ(counts.unsupported, 3);
  EXPECT_EQ(proof(kernel), ProofState::none);
}

}  // namespace
}  // namespace rooftile
