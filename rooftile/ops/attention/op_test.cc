// SPDX-License-Identifier: Apache-2.0
// The declaration of attention: its meaning on inputs worked by hand, which every kernel must meet
// as well; its cost; what it refuses.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/op/generate.h"
#include "rooftile/op/plan.h"
#include "rooftile/op/storage.h"
#include "rooftile/ops/attention/attention.h"
#include "rooftile/ops/attention/visible.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsNan;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const OpDef& op() { return *catalogue().operation("attention").def; }

struct Outputs {
  std::vector<double> out{};
  std::vector<double> lse{};
};

using Inputs = std::vector<std::pair<std::string, std::vector<double>>>;

// Tensors of a problem in memory of their own, contiguous.
class Tensors {
 public:
  Tensors(const Problem& problem, Device& device, const Values& values) {
    for (const ArgChoice& arg : problem.args) {
      if (!arg.is_present) {
        views.emplace_back();
        continue;
      }
      memory_.emplace_back(device, num_elements(arg.shape) * info(arg.dtype).unit_bytes);
      views.push_back(TensorView::contiguous(memory_.back().data(), arg.dtype, arg.shape));
      std::vector<double> contents = values[arg.name].values;
      if (arg.is_output) contents.assign(contents.size(), 777);
      store_view(contents, views.back());
    }
  }
  std::vector<TensorView> views{};

 private:
  std::vector<DeviceMemory> memory_{};
};

class Attention : public testing::Test {
 protected:
  static Values values_of(const Problem& problem, const Inputs& inputs) {
    Values values(problem);
    for (const auto& [name, data] : inputs) values[name].values = data;
    return values;
  }

  Outputs run(const KernelDef& kernel, const Problem& problem, const Values& values) {
    const Plan plan(kernel, problem, *device_);
    const Tensors tensors(problem, *device_, values);
    const DeviceMemory workspace(*device_, plan.workspace_bytes());
    plan.run({.stream = stream_.get(), .workspace = workspace.data()}, tensors.views);
    Outputs outputs;
    load_view(tensors.views[0], outputs.out);
    if (tensors.views[1].is_present()) load_view(tensors.views[1], outputs.lse);
    return outputs;
  }

  // The meaning and every kernel on these inputs.
  void each(const std::string& line, const Inputs& inputs,
            const std::function<void(const Outputs&)>& check) {
    const Problem problem = catalogue().bind("attention " + line);
    Values values = values_of(problem, inputs);
    for (const KernelDef* kernel : catalogue().operation("attention").kernels) {
      SCOPED_TRACE(kernel->name + ": " + line);
      check(run(*kernel, problem, values));
    }
    op().meaning(problem, values);
    SCOPED_TRACE("the meaning: " + line);
    check(
        {values["out"].values, problem.has("lse") ? values["lse"].values : std::vector<double>()});
  }

  TestCache cache_;
  std::unique_ptr<Device> device_ = make_cpu_device(2);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
};

// One sequence, one head, one page; `q` of head_dim 1.
Inputs one_page(std::vector<double> q, std::vector<double> k, std::vector<double> v) {
  const auto tokens = static_cast<double>(q.size());
  const auto keys = static_cast<double>(k.size());
  return {{"q", std::move(q)},       {"k_cache", std::move(k)}, {"v_cache", std::move(v)},
          {"q_starts", {0, tokens}}, {"kv_lengths", {keys}},    {"page_table", {0}}};
}

std::string one_page_line(int tokens, int keys, const std::string& rest) {
  return "tokens=" + std::to_string(tokens) + " heads=1 head_dim=1 max_pages=1 scale=1 lse=f32 " +
         "page_size=" + std::to_string(keys) + " " + rest;
}

TEST_F(Attention, WeighsValuesByTheSoftmaxOfScores) {
  // exp: 1, 3, 4; of 8
  each(one_page_line(1, 3, ""), one_page({1}, {0, std::log(3), std::log(4)}, {8, 16, 32}),
       [](const Outputs& o) {
         EXPECT_THAT(o.out, ElementsAre(DoubleNear(1 + 6 + 16, 1e-5)));
         EXPECT_THAT(o.lse, ElementsAre(DoubleNear(std::log(8), 1e-6)));
       });
}

TEST_F(Attention, MasksByCornerAndWindow) {
  const Inputs inputs = one_page({0, 0}, {0, 0, 0, 0}, {1, 2, 4, 8});
  const auto expect = [&](const std::string& rest, double first, double second) {
    each(one_page_line(2, 4, rest), inputs, [&](const Outputs& o) {
      EXPECT_THAT(o.out, ElementsAre(DoubleNear(first, 1e-5), DoubleNear(second, 1e-5)));
    });
  };
  expect("", 7.0 / 3, 15.0 / 4);  // keys 0-2, 0-3
  expect("mask=causal_top_left", 1, 1.5);
  expect("mask=none", 15.0 / 4, 15.0 / 4);
  expect("window=1", 4, 8);  // the diagonal alone
  expect("window=2", 3, 6);
  expect("window=2 mask=causal_top_left", 1, 1.5);
}

// A masked key must not win however low the others are, and a low row is not an empty one.
TEST_F(Attention, HidesKeysFromScoresOfAnySize) {
  each(one_page_line(1, 2, "window=1"), one_page({-20000}, {0, 1}, {100, 1}),
       [](const Outputs& o) { EXPECT_EQ(o.out[0], 1); });
  each(one_page_line(1, 2, ""), one_page({1}, {-60000, -60001}, {1, 0}), [](const Outputs& o) {
    EXPECT_NEAR(o.out[0], 0.731059, 1e-6);
    EXPECT_NEAR(o.lse[0], -59999.6867, 0.004);
  });
}

// NaN and infinity in hidden keys, or in memory that no length covers, must not show.
TEST_F(Attention, NeverTouchesWhatARowDoesNotSee) {
  for (const double bad : {kNan, kInfinity}) {
    Inputs inputs = one_page({0, 0, 0}, {0, 0, bad, bad}, {1, 3, bad, bad});
    inputs[4].second = {3};  // the last key belongs to no one
    each(one_page_line(3, 4, ""), inputs, [](const Outputs& o) {
      EXPECT_EQ(o.out[0], 1);
      EXPECT_EQ(o.out[1], 2);
      EXPECT_THAT(o.out[2], IsNan());
    });
    // The window hides them from the last row.
    inputs = one_page({0, 0, 0}, {bad, 0, 0}, {bad, 3, 5});
    each(one_page_line(3, 3, "window=2"), inputs, [](const Outputs& o) {
      EXPECT_THAT(o.out[1], IsNan());
      EXPECT_EQ(o.out[2], 4);
    });
  }
}

TEST_F(Attention, CapsScoresBeforeTheMask) {
  each(one_page_line(1, 2, "softcap=1 mask=causal_top_left"), one_page({1}, {0, 0}, {0, 1}),
       [](const Outputs& o) { EXPECT_EQ(o.out[0], 0) << "0.268941 if the mask is capped"; });
  each(one_page_line(1, 2, "softcap=5"), one_page({1}, {10, 0}, {1, 0}),
       [](const Outputs& o) { EXPECT_NEAR(o.out[0], 0.991999, 1e-6); });
  each(one_page_line(1, 2, ""), one_page({1}, {10, 0}, {1, 0}),
       [](const Outputs& o) { EXPECT_NEAR(o.out[0], 0.999955, 1e-6); });
  // tanh by exponentials of large numbers gives inf / inf.
  const std::vector<double> scores{30, 1000, 4400, 5000, 10000, -10000};
  const std::vector<double> capped{26.852478, 50, 50, 50, 50, -50};
  for (std::size_t i = 0; i < scores.size(); ++i)
    each(one_page_line(1, 1, "softcap=50"), one_page({1}, {scores[i]}, {1}),
         [&](const Outputs& o) { EXPECT_NEAR(o.lse[0], capped[i], 1e-5); });
}

// The bias is slope * (key - position) on every path, and the history enters it.
TEST_F(Attention, AddsSlopesByDistance) {
  Inputs inputs = one_page({0}, {0, 0, 0, 0}, {1, 2, 3, 4});
  inputs.push_back({"slopes", {0.5}});
  double sum = 0;
  double weighted = 0;
  for (const int j : {0, 1, 2, 3}) {
    sum += std::exp(0.5 * (j - 3));
    weighted += std::exp(0.5 * (j - 3)) * (j + 1);
  }
  for (const char* mask : {"causal_bottom_right", "none"})
    each(one_page_line(1, 4, "slopes=f32 mask=" + std::string(mask)), inputs,
         [&](const Outputs& o) {
           EXPECT_NEAR(o.out[0], weighted / sum, 1e-5);
           EXPECT_NEAR(o.lse[0], std::log(sum), 1e-5);
         });
}

// Added after the soft cap; -inf is a weight of exactly 0, and a row of it sees nothing.
TEST_F(Attention, AddsTheBiasOfARowHeadAndKey) {
  Inputs inputs = one_page({1, 1}, {0, 0, 10}, {1, 2, 4});
  inputs.push_back({"bias", {0, std::log(3), -kInfinity, -kInfinity, -kInfinity, -kInfinity}});
  for (const char* bias : {"bias=f32", "bias=f32 bias_heads=1"})
    each(one_page_line(2, 3, "mask=none " + std::string(bias)), inputs, [](const Outputs& o) {
      EXPECT_THAT(o.out, ElementsAre(DoubleNear((1 + 3 * 2) / 4.0, 1e-5), 0));
      EXPECT_THAT(o.lse, ElementsAre(DoubleNear(std::log(4), 1e-6), -kInfinity));
    });
  inputs.back().second = {0, 0, 5, 7, 7, 7};
  each(one_page_line(2, 3, "softcap=1 mask=causal_top_left bias=f32"), inputs,
       [](const Outputs& o) { EXPECT_EQ(o.out[0], 1) << "the mask is stronger than any bias"; });
  each(one_page_line(2, 3, "softcap=1 mask=none bias=f32"), inputs, [](const Outputs& o) {
    EXPECT_NEAR(o.lse[0], std::log(2 + std::exp(6)), 1e-5) << "1.55 if the bias were capped";
  });
  inputs.back().second = {0, -3.4e38, 0, -3.4e38, -3.4e38, -3.4e38};
  each(one_page_line(2, 3, "softcap=1e-9 mask=none bias=f32"), inputs, [](const Outputs& o) {
    EXPECT_NEAR(o.out[0], 2.5, 1e-5) << "the lowest number hides a key as well";
    EXPECT_NEAR(o.out[1], 7.0 / 3, 1e-5) << "but in all keys it is no mask";
  });
}

TEST_F(Attention, RefersToBiasByPackedRowHeadAndPosition) {
  // Sequences of 1 and 2 rows with 2 and 3 keys, 2 heads; only the entry that must be used is not
  // -inf, so that each output is one value.
  std::vector<double> bias(std::size_t{3 * 2 * 3}, -kInfinity);
  const auto show = [&](std::size_t row, std::size_t head, std::size_t key) {
    bias[(row * 2 + head) * 3 + key] = 0;
  };
  show(0, 0, 1);
  show(0, 1, 0);
  show(1, 0, 2);
  show(1, 1, 1);
  show(2, 1, 2);
  each(
      "tokens=3 sequences=2 heads=2 kv_heads=1 head_dim=1 max_pages=2 page_size=2 mask=none "
      "bias=f32 bias_keys=3 lse=f32",
      {{"q", std::vector<double>(6, 0)},
       {"k_cache", std::vector<double>(8, 0)},
       {"v_cache", {3, 4, 5, 6, 1, 2, 7, 8}},
       {"q_starts", {0, 1, 3}},
       {"kv_lengths", {2, 3}},
       {"page_table", {2, -1, 0, 1}},
       {"bias", bias}},
      [](const Outputs& o) {
        EXPECT_THAT(o.out, ElementsAre(2, 1, 5, 4, 0, 5));
        EXPECT_EQ(o.lse[4], -kInfinity);
      });
}

TEST_F(Attention, IsNanWhereTheBiasEndsBeforeTheKeys) {
  Inputs inputs = one_page({0, 0}, {0, 0, 0}, {1, 2, 3});
  inputs.push_back({"bias", {0, 0, 0, 0}});
  each(one_page_line(2, 3, "bias=f32 bias_keys=2"), inputs, [](const Outputs& o) {
    EXPECT_EQ(o.out[0], 1.5) << "its third key is masked";
    EXPECT_THAT(o.out[1], IsNan());
    EXPECT_THAT(o.lse[1], IsNan());
  });
}

TEST_F(Attention, GroupsHeadsByDivision) {
  each("tokens=1 heads=4 kv_heads=2 head_dim=1 max_pages=1 page_size=1",
       {{"q", {1, 1, 1, 1}},
        {"k_cache", {1, 1}},
        {"v_cache", {1, 2}},
        {"q_starts", {0, 1}},
        {"kv_lengths", {1}},
        {"page_table", {0}}},
       [](const Outputs& o) { EXPECT_THAT(o.out, ElementsAre(1, 1, 2, 2)); });
}

// Sequences without queries, queries without keys, rows of no sequence: (0, -inf), and the others
// as if alone.
TEST_F(Attention, EmptyRowsAreZeroAndMinusInfinity) {
  each("tokens=6 sequences=4 heads=1 head_dim=1 max_pages=1 page_size=4 pages=1 lse=f32",
       {{"q", {0, 0, 0, 0, 0, 0}},
        {"k_cache", {0, 0, 0, 0}},
        {"v_cache", {1, 2, 3, 4}},
        {"q_starts", {0, 2, 2, 5, 5}},  // row 5 is padding
        {"kv_lengths", {0, 3, 2, 1}},
        {"page_table", {-1, 0, 0, 0}}},
       [](const Outputs& o) {
         EXPECT_THAT(o.out, ElementsAre(0, 0, 0, 1, DoubleNear(1.5, 1e-6), 0));
         EXPECT_THAT(o.lse, ElementsAre(-kInfinity, -kInfinity, -kInfinity, 0,
                                        DoubleNear(std::log(2), 1e-6), -kInfinity));
       });
}

TEST_F(Attention, WrongTablesGiveNanRowsAndNoMore) {
  const auto run_with = [&](std::vector<double> starts, std::vector<double> lengths,
                            std::vector<double> table, const std::vector<bool>& is_nan) {
    each("tokens=3 sequences=3 heads=1 head_dim=1 max_pages=2 page_size=2 pages=4 lse=f32",
         {{"q", {0, 0, 0}},
          {"k_cache", std::vector<double>(8, 0)},
          {"v_cache", std::vector<double>(8, 1)},
          {"q_starts", std::move(starts)},
          {"kv_lengths", std::move(lengths)},
          {"page_table", std::move(table)}},
         [&](const Outputs& o) {
           for (std::size_t r = 0; r < 3; ++r) {
             EXPECT_EQ(std::isnan(o.out[r]), is_nan[r]) << r;
             EXPECT_EQ(std::isnan(o.lse[r]), is_nan[r]) << r;
             EXPECT_TRUE(is_nan[r] || o.out[r] == 1) << o.out[r];
           }
         });
  };
  const std::vector<double> one_each{0, 1, 2, 3};
  run_with(one_each, {3, 3, 2}, {0, 1, 2, 3, 0, -1}, {false, false, false});
  run_with(one_each, {3, 3, 2}, {0, 4, 2, -1, 0, 0x7fffffff}, {true, true, false});
  run_with(one_each, {5, -1, 2}, {0, 1, 2, 3, 0, 1}, {true, true, false});
  run_with({0, 2, 1, 3}, {2, 2, 2}, {0, 1, 2, 3, 0, 1}, {true, true, true});
  run_with({0, 1, 2, 4}, {2, 2, 2}, {0, 1, 2, 3, 0, 1}, {true, true, true});
  run_with({-1, 1, 2, 3}, {2, 2, 2}, {0, 1, 2, 3, 0, 1}, {true, true, true});
}

// The same keys in pages of any size and order give the same bits.
TEST_F(Attention, DoesNotDependOnPages) {
  for (const int length : {1, 15, 16, 17, 129, 300})
    for (const KernelDef* kernel : catalogue().operation("attention").kernels) {
      std::vector<double> expected;
      for (const int page_size : {512, 1, 16, 64, 128}) {
        const std::int64_t pages = 512 / page_size;
        const Problem problem = catalogue().bind(
            "attention tokens=1 heads=2 head_dim=8 max_pages=" + std::to_string(pages) +
            " page_size=" + std::to_string(page_size));
        Values values(problem);
        values["q_starts"].values = {0, 1};
        values["kv_lengths"].values = {static_cast<double>(length)};
        for (std::int64_t i = 0; i < 16; ++i) values["q"][i] = std::sin(static_cast<double>(i));
        for (std::int64_t p = 0; p < pages; ++p)  // backwards, unused entries out of range
          values["page_table"][p] =
              p * page_size < length ? static_cast<double>(pages - 1 - p) : 1e6;
        for (std::int64_t i = 0; i < std::int64_t{length} * 16; ++i) {
          const std::int64_t key = i / 16;
          const std::int64_t slot = (pages - 1 - key / page_size) * page_size + key % page_size;
          values["k_cache"][slot * 16 + i % 16] = std::sin(static_cast<double>(7 * i));
          values["v_cache"][slot * 16 + i % 16] = std::cos(static_cast<double>(i));
        }
        const std::vector<double> got = run(*kernel, problem, values).out;
        if (expected.empty()) expected = got;
        EXPECT_EQ(got, expected) << kernel->name << ", pages of " << page_size << ", " << length;
      }
    }
}

// A prompt at once, in two pieces and token by token, on any number of threads: the same bits.
TEST_F(Attention, GivesATokenTheSameBitsHoweverItIsFed) {
  const KernelDef* kernel = catalogue().operation("attention").kernels.front();
  const auto problem_of = [](std::int64_t tokens) {
    return catalogue().bind("attention heads=6 kv_heads=2 head_dim=24 max_pages=40 q=bf16 tokens=" +
                            std::to_string(tokens));
  };
  const Problem whole = problem_of(600);
  Values all(whole);
  generate_inputs(op(), whole, all);
  all["kv_lengths"].values = {600};
  for (std::int64_t p = 0; p < 40; ++p) all["page_table"][p] = static_cast<double>(39 - p);
  const std::vector<double> expected = run(*kernel, whole, all).out;
  for (const int threads : {1, 5}) {
    device_ = make_cpu_device(threads);
    stream_ = device_->make_stream();
    EXPECT_EQ(run(*kernel, whole, all).out, expected) << threads << " threads";
  }
  const auto expect_piece = [&](std::int64_t first, std::int64_t tokens) {
    const Problem piece = problem_of(tokens);
    Values values = all;
    constexpr std::int64_t kRow = 6 * 24;
    const auto begin = all["q"].values.begin() + first * kRow;
    values["q"].values.assign(begin, begin + tokens * kRow);
    values["q_starts"].values = {0, static_cast<double>(tokens)};
    values["kv_lengths"].values = {static_cast<double>(first + tokens)};
    values["out"].values.resize(static_cast<std::size_t>(tokens * kRow));
    const std::vector<double> got = run(*kernel, piece, values).out;
    EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin() + first * kRow))
        << tokens << " tokens from " << first;
  };
  expect_piece(0, 300);
  expect_piece(300, 300);
  for (const std::int64_t token : {0, 1, 255, 256, 257, 511, 599}) expect_piece(token, 1);
}

TEST(AttentionCost, CountsWhatTheDataMakeOfIt) {
  // 4 queries and 4 keys, causal: 10 pairs, of 2 heads with head_dim 2: 4 * 10 * 2 * 2 operations.
  const Problem problem = catalogue().bind(
      "attention tokens=4 heads=2 kv_heads=1 head_dim=2 max_pages=4 page_size=2 pages=4 q=bf16");
  Values values(problem);
  values["q_starts"].values = {0, 4};
  values["kv_lengths"].values = {4};
  values["page_table"].values = {1, 0, -1, -1};
  const Cost cost = op().cost(problem, &values);
  EXPECT_EQ(cost[Unit::bf16], 160);
  EXPECT_EQ(cost[Unit::special], 20);
  // q 16 elements, k and v 4 keys of 2, in 2 bytes; 1 length, 2 starts and 2 page ids in 4.
  EXPECT_EQ(cost.bytes_read, 32 + 32 + 4 + 8 + 8);
  EXPECT_EQ(cost.bytes_written, 32);
  EXPECT_EQ(op().cost(problem, nullptr)[Unit::bf16], 4 * 4 * 8 * 2 * 2) << "the most: all keys";
}

TEST(AttentionCost, CountsTheBiasThatRowsSee) {
  const std::string line = "attention tokens=4 heads=2 head_dim=2 max_pages=4 page_size=2";
  const auto bias_cost = [&](const std::string& rest, bool has_data) {
    const Problem with = catalogue().bind(line + " bias=f32" + rest);
    const Problem without = catalogue().bind(line);
    Values values(with);
    values["q_starts"].values = {0, 4};
    values["kv_lengths"].values = {4};
    const Values* data = has_data ? &values : nullptr;
    const Cost more = op().cost(with, data);
    const Cost less = op().cost(without, data);
    EXPECT_EQ(more[Unit::fp32] - less[Unit::fp32], has_data ? 20 : 64) << "one sum a score";
    return more.bytes_read - less.bytes_read;
  };
  EXPECT_EQ(bias_cost("", true), 4 * 10 * 2);  // 10 pairs, 2 heads
  EXPECT_EQ(bias_cost(" bias_heads=1", true), 4 * 10);
  EXPECT_EQ(bias_cost(" bias.stride=0,8,1", true), 4 * 8 * 2);  // one row of 8 keys for all
  EXPECT_EQ(bias_cost("", false), 4 * 4 * 8 * 2);
}

TEST(AttentionOptions, RefusesWhatMakesNoSense) {
  const auto refusal = [](const std::string& rest) -> std::string {
    try {
      (void)catalogue().bind("attention tokens=1 head_dim=8 max_pages=2 " + rest);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("heads=4 kv_heads=2"), "");
  EXPECT_THAT(refusal("heads=5 kv_heads=2"), testing::HasSubstr("multiple of kv_heads=2"));
  EXPECT_THAT(refusal("heads=4 window=-3"), testing::HasSubstr("window"));
  EXPECT_THAT(refusal("heads=4 window=3 mask=none"), testing::HasSubstr("causal"));
  EXPECT_THAT(refusal("heads=4 sequences=2 starts=2"), testing::HasSubstr("3 entries, not 2"));
  EXPECT_THAT(refusal("heads=4 mask=causal"), testing::HasSubstr("mask"));
  EXPECT_EQ(refusal("heads=4 bias=f32 bias_heads=1"), "");
  EXPECT_THAT(refusal("heads=4 bias=f32 bias_heads=2"), testing::HasSubstr("1 or heads=4"));
  EXPECT_THAT(refusal("heads=4 bias=bf16"), testing::HasSubstr("bias"));
  EXPECT_THAT(refusal("heads=4 bias_keys=7"), testing::HasSubstr("'bias', which is absent"));
}

TEST_F(Attention, IsCalledWithAViewByHeads) {
  // The cache as [pages, kv_heads, page_size, head_dim] in memory, the lse asked for.
  std::vector<float> cache{1, 2, 3, 4};  // head 0: keys of 1, 2; head 1: 3, 4
  TensorView v{cache.data(), DType::f32, {1, 2, 2, 1}, {4, 1, 2, 1}, {}, nullptr};
  std::vector<float> zeros(4, 0);
  TensorView k = v;
  k.data = zeros.data();
  std::vector<float> q(2, 1);
  std::vector<float> out(2, NAN);
  std::vector<float> lse(2, NAN);
  const std::vector<std::int32_t> table{0};
  const std::vector<std::int32_t> length{2};
  const std::vector<std::int32_t> starts{0, 1};
  const auto view = [](const auto& data, DType dtype, const Dims& shape) {
    return TensorView::contiguous(data.data(), dtype, shape);
  };
  attention(*stream_, view(out, DType::f32, {1, 2, 1}), view(q, DType::f32, {1, 2, 1}),
            {.k = k,
             .v = v,
             .page_table = view(table, DType::i32, {1, 1}),
             .lengths = view(length, DType::i32, {1})},
            view(starts, DType::i32, {2}), {.lse = view(lse, DType::f32, {1, 2})});
  EXPECT_THAT(out, ElementsAre(1.5F, 3.5F));
  EXPECT_FLOAT_EQ(lse[0], std::log(2.0F));

  // A bias [heads, queries, keys], as frameworks keep it.
  std::vector<float> bias{-INFINITY, 0, 0, -INFINITY};
  TensorView by_heads = view(bias, DType::f32, {2, 1, 2});
  std::swap(by_heads.shape[0], by_heads.shape[1]);
  std::swap(by_heads.strides[0], by_heads.strides[1]);
  attention(*stream_, view(out, DType::f32, {1, 2, 1}), view(q, DType::f32, {1, 2, 1}),
            {.k = k,
             .v = v,
             .page_table = view(table, DType::i32, {1, 1}),
             .lengths = view(length, DType::i32, {1})},
            view(starts, DType::i32, {2}), {.bias = by_heads});
  EXPECT_THAT(out, ElementsAre(2.0F, 3.0F));
}

}  // namespace
}  // namespace rooftile
