// SPDX-License-Identifier: Apache-2.0
// The declaration of sample: each filter on probabilities that can be read, ties, faults, draws,
// its cost; and the kernels' cut against a sort.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/op/bind.h"
#include "rooftile/op/plan.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/sample/cpu_select_cut.h"
#include "rooftile/ops/sample/sample.h"
#include "rooftile/ops/sample/settings.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const OpDef& op() { return *catalogue().operation("sample").def; }

// One request's parameters.
struct Request {
  float temperature = 1;
  std::int32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  std::vector<std::int32_t> history{-1};
  float repetition = 1;
  float presence = 0;
  float frequency = 0;
  std::int64_t seed = 0;
};

std::vector<float> logs(std::vector<float> probabilities) {
  for (float& p : probabilities) p = std::log(p);
  return probabilities;
}

class Sample : public testing::TestWithParam<const char*> {
 protected:
  // The id that the kernel draws at a step.
  std::int32_t drawn(std::vector<float> logits, Request request, std::int64_t step = 0) {
    const auto cols = static_cast<std::int64_t>(logits.size());
    const auto length = static_cast<std::int64_t>(request.history.size());
    std::int32_t id = -7;
    const auto one = [](const auto& value, DType dtype) {
      return TensorView::contiguous(&value, dtype, {1});
    };
    const TensorView views[]{
        one(id, DType::i32),
        TensorView::contiguous(logits.data(), DType::f32, {1, cols}),
        one(request.seed, DType::i64),
        one(step, DType::i64),
        one(request.temperature, DType::f32),
        one(request.top_k, DType::i32),
        one(request.top_p, DType::f32),
        one(request.min_p, DType::f32),
        TensorView::contiguous(request.history.data(), DType::i32, {1, length}),
        one(request.repetition, DType::f32),
        one(request.presence, DType::f32),
        one(request.frequency, DType::f32)};
    const Plan plan(catalogue().operation("sample").kernel(GetParam()), bind(op(), views, {}),
                    *device_);
    const DeviceMemory workspace(*device_, plan.workspace_bytes());
    plan.run({.stream = stream_.get(), .workspace = workspace.data()}, views);
    stream_->synchronise();
    return id;
  }
  // All ids that 200 steps draw.
  std::set<std::int32_t> drawable(const std::vector<float>& logits, const Request& request) {
    std::set<std::int32_t> ids;
    for (int step = 0; step < 200; ++step) ids.insert(drawn(logits, request, step));
    return ids;
  }
  std::unique_ptr<Device> device_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
};
INSTANTIATE_TEST_SUITE_P(Kernels, Sample, testing::Values("cpu_plain", "cpu_select", "reference"),
                         [](const auto& test) { return std::string(test.param); });

// Biohub/esm#360, BlinkDL/ChatRWKV#170, google-deepmind/simply#42
TEST_P(Sample, TopPKeepsATokenWhileTheMassBeforeItIsBelow) {
  const std::vector<float> four = logs({0.4F, 0.3F, 0.2F, 0.1F});
  EXPECT_THAT(drawable(four, {.top_p = 0.8F}), ElementsAre(0, 1, 2));
  EXPECT_THAT(drawable(logs({0.9F, 0.1F}), {.top_p = 0.5F}), ElementsAre(0));
  const std::vector<float> halves = logs({0.5F, 0.25F, 0.25F});
  EXPECT_THAT(drawable(halves, {.top_p = 0.5F}), ElementsAre(0));
  EXPECT_THAT(drawable(halves, {.top_p = 0.75F}), ElementsAre(0, 1));
  EXPECT_THAT(drawable(halves, {.top_p = 1}), ElementsAre(0, 1, 2));
  EXPECT_THAT(drawable({0, 3, 1}, {.top_p = 0}), ElementsAre(1));
}

// TransformerLensOrg/TransformerLens#1347, vllm-project/tpu-inference#3590
TEST_P(Sample, TopKKeepsKOfTiesTheLowestIds) {
  const std::vector<float> five = logs({0.3F, 0.1F, 0.2F, 0.25F, 0.15F});
  for (const std::int32_t k : {0, -1, 5, 100000})
    EXPECT_THAT(drawable(five, {.top_k = k}), ElementsAre(0, 1, 2, 3, 4)) << k;
  EXPECT_THAT(drawable(five, {.top_k = 1}), ElementsAre(0));
  EXPECT_THAT(drawable(five, {.top_k = 3}), ElementsAre(0, 2, 3));
  EXPECT_THAT(drawable({1, 5, 5, 0}, {.top_k = 1}), ElementsAre(1));
  EXPECT_THAT(drawable({2, 2, 2, 2, 2}, {.top_k = 2}), ElementsAre(0, 1));
  EXPECT_THAT(drawable({-0.0F, 0, -0.0F}, {.top_k = 2}), ElementsAre(0, 1));
}

TEST_P(Sample, MinPIsRelativeToTheLargest) {
  const std::vector<float> four = logs({0.5F, 0.3F, 0.15F, 0.05F});
  EXPECT_THAT(drawable(four, {.min_p = 0.25F}), ElementsAre(0, 1, 2));
  EXPECT_THAT(drawable(four, {.min_p = 0.4F}), ElementsAre(0, 1));
  EXPECT_THAT(drawable({1, 1, 0}, {.min_p = 1}), ElementsAre(0, 1));
}

TEST_P(Sample, FiltersSeeWhatTheOnesBeforeKept) {
  // Of the first two, 0.4 / 0.7 = 0.57 is more than half: top-p keeps one; of all four, two.
  const std::vector<float> four = logs({0.4F, 0.3F, 0.2F, 0.1F});
  EXPECT_THAT(drawable(four, {.top_k = 2, .top_p = 0.5F}), ElementsAre(0));
  EXPECT_THAT(drawable(four, {.top_p = 0.5F}), ElementsAre(0, 1));
}

// ggml-org/llama.cpp#720
TEST_P(Sample, NoTemperatureIsTheLargestLogit) {
  for (const float temperature : {0.0F, 1e-40F, 1e-6F})
    EXPECT_THAT(drawable({1, 3, 2}, {.temperature = temperature}), ElementsAre(1));
  EXPECT_EQ(drawn({1, 5, 5, 0}, {.temperature = 0}), 1) << "of equal ones the lowest id";
}

// NVIDIA/TensorRT-LLM#17158
TEST_P(Sample, ParametersOutOfRangeDrawNothing) {
  const std::vector<float> logits{1, 2, 3};
  for (const Request& request :
       {Request{.temperature = kNaN}, Request{.temperature = -1}, Request{.temperature = kInfinity},
        Request{.top_p = kNaN}, Request{.top_p = -0.1F}, Request{.top_p = 1.1F},
        Request{.min_p = kNaN}, Request{.min_p = 1.1F}, Request{.repetition = 0},
        Request{.repetition = kNaN}, Request{.presence = kNaN}, Request{.frequency = kInfinity}})
    EXPECT_EQ(drawn(logits, request), -1);
  EXPECT_NE(drawn(logits, {.top_p = 0}), -1);
  EXPECT_NE(drawn(logits, {.min_p = 1}), -1);
}

// ggml-org/llama.cpp#26651
TEST_P(Sample, FaultyLogitsDrawNothing) {
  for (const float temperature : {0.0F, 1.0F}) {
    const Request request{.temperature = temperature};
    EXPECT_EQ(drawn(std::vector<float>(8, -kInfinity), request), -1);
    EXPECT_EQ(drawn(std::vector<float>(8, kNaN), request), -1);
    EXPECT_EQ(drawn({1, 2, kNaN, 3, 4, 5, 6, 7}, request), -1);
    EXPECT_EQ(drawn({1, kInfinity, 2}, request), -1);
  }
  EXPECT_THAT(drawable({-kInfinity, 1, -kInfinity, 2, -kInfinity}, {}), ElementsAre(1, 3));
}

TEST_P(Sample, PenaltiesCountTheHistory) {
  const Request greedy{.temperature = 0};
  const auto with = [&](std::vector<std::int32_t> history, float repetition, float presence,
                        float frequency) {
    Request request = greedy;
    request.history = std::move(history);
    request.repetition = repetition;
    request.presence = presence;
    request.frequency = frequency;
    return request;
  };
  EXPECT_EQ(drawn({4, 3, 1}, with({0}, 2, 0, 0)), 1) << "4 / 2";
  EXPECT_EQ(drawn({-1, -1.5F, -9}, with({0}, 2, 0, 0)), 1) << "-1 * 2";
  EXPECT_EQ(drawn({4, 3, 1}, with({0, 0, 0}, 1, 0.75F, 0)), 0) << "presence counts once";
  EXPECT_EQ(drawn({4, 3, 1}, with({0, 0, 0}, 1, 0, 0.75F)), 1) << "frequency each time";
  EXPECT_EQ(drawn({4, 3, 1}, with({0, 1, 0}, 1, 2.5F, 0)), 0);
  EXPECT_EQ(drawn({4, 3, 1}, with({-1, 3, 2147483647, -2147483647}, 100, 9, 9)), 0)
      << "ids outside the vocabulary are none";
}

TEST_P(Sample, DrawsWithTheProbabilities) {
  const std::vector<float> logits = logs({0.5F, 0.125F, 0.375F});
  std::map<std::int32_t, int> counts;
  constexpr int kDraws = 2000;
  for (int step = 0; step < kDraws; ++step) ++counts[drawn(logits, {.seed = 42}, step)];
  EXPECT_NEAR(counts[0], kDraws * 0.5, 100);  // 4 standard deviations: 89
  EXPECT_NEAR(counts[1], kDraws * 0.125, 70);
  EXPECT_NEAR(counts[2], kDraws * 0.375, 100);
}

// flashinfer-ai/flashinfer#2132
TEST_P(Sample, StepsAndSeedsDrawAnew) {
  const std::vector<float> uniform(1024, 0);
  std::set<std::int32_t> by_step;
  std::set<std::int32_t> by_seed;
  for (int i = 0; i < 100; ++i) {
    by_step.insert(drawn(uniform, {.seed = 5}, i));
    by_seed.insert(drawn(uniform, {.seed = i}, 5));
    EXPECT_EQ(drawn(uniform, {.seed = 5}, i), drawn(uniform, {.seed = 5}, i));
  }
  EXPECT_GT(by_step.size(), 80U);
  EXPECT_GT(by_seed.size(), 80U);
}

TEST(SampleMeaning, TakesBothSidesOfABoundaryAndNoMore) {
  const Problem problem = catalogue().bind("sample rows=1 cols=3");
  Values values(problem);  // seed and step 0
  const double uniform = ops::sample::Settings{}.uniform();
  const auto right = [&](double first) {
    values["logits"].values = {std::log(first), std::log(0.9 * (1 - first)),
                               std::log(0.1 * (1 - first))};
    op().meaning(problem, values);
    return values["ids"].also_right[0];
  };
  EXPECT_THAT(right(uniform), ElementsAre(0, 1)) << "the first token ends where the draw falls";
  EXPECT_THAT(right(uniform + 1e-4), ElementsAre(0));
  EXPECT_THAT(right(uniform - 1e-4), ElementsAre(1));
}

TEST(SampleCost, CountsByHand) {
  // 2 rows of 10: 4 operations and an exponential each; logits of 2 bytes, seeds and steps of 8,
  // one parameter of 4; ids of 4.
  const Cost cost =
      op().cost(catalogue().bind("sample rows=2 cols=10 logits=bf16 top_p=f32"), nullptr);
  EXPECT_EQ(cost[Unit::fp32], 80);
  EXPECT_EQ(cost[Unit::special], 20);
  EXPECT_EQ(cost.bytes_read, 40 + 32 + 8);
  EXPECT_EQ(cost.bytes_written, 8);
}

TEST(SampleProblem, NeedsAHistoryForPenalties) {
  try {
    (void)catalogue().bind("sample rows=1 cols=8 presence=f32");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("presence needs history"));
  }
}

TEST(SampleCall, TakesEachRowsParameters) {
  const TestCache cache;
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  std::vector<std::int32_t> ids(2, -7);
  const std::vector<float> logits{1, 9, 2, 3, 2, 1};
  const std::vector<std::int64_t> numbers{1, 2};
  const std::vector<float> temperature{0, kNaN};
  const auto rows = [](const auto& data, DType dtype) {
    return TensorView::contiguous(data.data(), dtype, {2});
  };
  sample(*stream, rows(ids, DType::i32), TensorView::contiguous(logits.data(), DType::f32, {2, 3}),
         rows(numbers, DType::i64), rows(numbers, DType::i64),
         {.temperature = rows(temperature, DType::f32)});
  EXPECT_THAT(ids, ElementsAre(1, -1));
}

TEST(SampleSelect, CutsAsASortWould) {
  const Rng rng(3, "select");
  for (const std::size_t n : {1UL, 2UL, 17UL, 500UL}) {
    for (std::uint64_t trial = 0; trial < 40; ++trial) {
      // Sixteenths, so that sums are exact; few values, so that ties are many.
      std::vector<float> logits(n);
      std::vector<float> weights(n);
      for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t level = rng.below(trial * n + i, trial % 2 == 0 ? 5 : 1000);
        logits[i] = static_cast<float>(level) - 400.5F;
        weights[i] = static_cast<float>(level + 1) / 16;
      }
      std::vector<float> sorted = logits;
      std::ranges::sort(sorted, std::greater<>());
      const std::int64_t most = rng.below(trial, static_cast<std::int64_t>(n)) + 1;
      const auto cut = ops::sample::select(logits, weights, most, HUGE_VAL);
      EXPECT_EQ(cut.logit, sorted[static_cast<std::size_t>(most - 1)]);
      const auto above = std::ranges::count_if(logits, [&](float v) { return v > cut.logit; });
      EXPECT_EQ(above + cut.ties, most);
      EXPECT_EQ(cut.equal, std::ranges::count(logits, cut.logit));
      const auto by_mass =
          ops::sample::select(logits, weights, static_cast<std::int64_t>(n), cut.mass);
      EXPECT_EQ(by_mass.logit, cut.logit) << "the mass of the k largest leads to the same cut";
      EXPECT_EQ(by_mass.ties, cut.ties);
    }
  }
}

}  // namespace
}  // namespace rooftile
