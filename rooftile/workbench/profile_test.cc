// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/profile.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "rooftile/base/error.h"
#include "rooftile/workbench/profile_sample.h"
#include "rooftile/workbench/time_spans.h"

namespace rooftile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// 1000 bytes a microsecond whatever the mix, 4000 operations a microsecond.
Ceilings round_ceilings() {
  Ceilings limits;
  for (Ceiling* mix : {&limits.read, &limits.triad, &limits.copy, &limits.write})
    *mix = {1e9, 0.01, "probe"};
  limits.units[static_cast<std::size_t>(Unit::fp32)] = {4e9, 0.01, "fma"};
  return limits;
}

DeviceProperties small_device() {
  DeviceProperties device;
  device.name = "small";
  device.kind = "cpu-small";
  device.last_level_cache_bytes = 1500;
  return device;
}

TimelineEvent event(const std::string& role, int pass, double start_us, double end_us,
                    double read_bytes, double written_bytes, double ops) {
  TimelineEvent made;
  made.op = "toy";
  made.kernel = "toy/" + role.substr(0, 1);
  made.problem = "toy/" + role.substr(0, 1) + " n=1";
  made.role = role;
  made.pass = pass;
  made.cost.bytes_read = read_bytes;
  made.cost.bytes_written = written_bytes;
  made.cost[Unit::fp32] = ops;
  made.start_us = start_us;
  made.end_us = end_us;
  return made;
}

// Prefill of 10 us: [0,4] and [2,6] overlap, then a gap, then [7,9]. Two decode passes of 5 us with
// one operation of 4 us each.
Timeline small_timeline() {
  Timeline timeline;
  timeline.passes = {{.phase = "prefill", .tokens = 4, .start_us = 0, .end_us = 10},
                     {.phase = "decode", .tokens = 1, .start_us = 20, .end_us = 25},
                     {.phase = "decode", .tokens = 1, .start_us = 30, .end_us = 35}};
  timeline.events = {event("a", 0, 0, 4, 1000, 1000, 4000), event("b", 0, 2, 6, 500, 500, 12000),
                     event("c", 0, 7, 9, 1000, 2000, 0), event("d", 1, 20, 24, 2000, 0, 4000),
                     event("d", 2, 31, 35, 2000, 0, 4000)};
  timeline.events[1].thread = 1;
  timeline.events[2].reads = {0, 1};
  return timeline;
}

ProfiledModel small_model() {
  return {.name = "small",
          .architecture = "toy",
          .command = "rooftile profile small",
          .parameters = 1000,
          .weight_bytes = 2000,
          .weight_bytes_per_token = 2000,
          .kv_bytes_per_token = 10,
          .layers = 1,
          .context = 50};
}

CleanRun small_clean() {
  return {.prefill_tokens = 4, .prefill_us = 8, .decode_us = {4, 6}, .decode_tokens = 2};
}

Profile small_profile() {
  return make_profile(small_model(), small_timeline(), small_clean(), small_device(),
                      round_ceilings());
}

const ProfileRow& row(const std::vector<ProfileRow>& rows, const std::string& name) {
  return *std::ranges::find(rows, name, &ProfileRow::name);
}

TEST(TimeSpans, UnionAndShares) {
  const std::vector<TimeSpan> spans{{0, 4}, {2, 6}, {7, 9}, {3, 3}};
  const SharedTime shared = share_out(spans);
  EXPECT_DOUBLE_EQ(shared.union_us, 8);
  EXPECT_THAT(shared.shares_us, ElementsAre(3, 3, 2, 0));
}

TEST(TimeSpans, OneWithinAnother) {
  const std::vector<TimeSpan> spans{{0, 10}, {5, 10}};
  const SharedTime shared = share_out(spans);
  EXPECT_DOUBLE_EQ(shared.union_us, 10);
  EXPECT_THAT(shared.shares_us, ElementsAre(7.5, 2.5));
}

TEST(TimeSpans, None) { EXPECT_EQ(share_out({}).union_us, 0); }

TEST(Profile, Phases) {
  const Profile profile = small_profile();
  ASSERT_EQ(profile.phases.size(), 2U);
  const ProfilePhase& prefill = *profile.phase("prefill");
  EXPECT_EQ(prefill.passes, 1);
  EXPECT_EQ(prefill.tokens, 4);
  EXPECT_EQ(prefill.operations, 3);
  EXPECT_DOUBLE_EQ(prefill.captured_us, 10);
  EXPECT_DOUBLE_EQ(prefill.busy_us, 8);
  EXPECT_DOUBLE_EQ(prefill.gap_us, 2);
  EXPECT_DOUBLE_EQ(*prefill.gap_us_an_operation, 2.0 / 3);
  EXPECT_DOUBLE_EQ(*prefill.roof_us, 2 + 3 + 3);
  EXPECT_DOUBLE_EQ(*prefill.tokens_per_s, 5e5);
  EXPECT_FALSE(prefill.capture_cost);          // measured on decode passes alone
  EXPECT_DOUBLE_EQ(*prefill.mfu_percent, 50);  // 16000 operations in 8 us at 4000 a us
  EXPECT_EQ(prefill.mfu_unit, "fp32");
  const ProfilePhase& decode = *profile.phase("decode");
  EXPECT_DOUBLE_EQ(decode.captured_us, 10);
  EXPECT_DOUBLE_EQ(decode.busy_us, 8);
  EXPECT_DOUBLE_EQ(*decode.clean_us, 10);
  EXPECT_DOUBLE_EQ(*decode.tokens_per_s, 2e5);
  EXPECT_FALSE(decode.capture_cost);  // no passes in turns
  EXPECT_DOUBLE_EQ(*decode.clean_gap_us_a_pass, 1);
  EXPECT_DOUBLE_EQ(decode.pass_us(), 5);
  EXPECT_FALSE(decode.mfu_percent);
}

TEST(Profile, CaptureCostIsTheMedianOverPairs) {
  Timeline timeline = small_timeline();
  timeline.pairs = {{10, 11}, {20, 20.2}, {100, 102}};  // 10 %, 1 %, 2 %
  const Profile profile =
      make_profile(small_model(), timeline, small_clean(), small_device(), round_ceilings());
  const auto& cost = profile.phase("decode")->capture_cost;
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->percent, 2, 1e-9);
  EXPECT_NEAR(cost->low_percent, 1, 1e-9);
  EXPECT_NEAR(cost->high_percent, 10, 1e-9);
  EXPECT_EQ(cost->pairs, 3);
  EXPECT_FALSE(profile.phase("prefill")->capture_cost);
  timeline.pairs.push_back({5, -1});
  EXPECT_THROW(
      make_profile(small_model(), timeline, small_clean(), small_device(), round_ceilings()),
      Error);
}

TEST(Profile, Rows) {
  const Profile profile = small_profile();
  const ProfilePhase& prefill = *profile.phase("prefill");
  const ProfileRow& a = row(prefill.roles, "a");  // 2000 bytes: 2 us at the roof, took 4
  EXPECT_DOUBLE_EQ(a.time_us, 4);
  EXPECT_DOUBLE_EQ(a.share_percent, 37.5);
  EXPECT_EQ(a.bound, "memory");
  EXPECT_DOUBLE_EQ(*a.gbytes_per_s, 0.5);
  EXPECT_DOUBLE_EQ(*a.gflops, 1);
  EXPECT_DOUBLE_EQ(*a.intensity, 2);
  EXPECT_DOUBLE_EQ(*a.attainable, 1);
  EXPECT_DOUBLE_EQ(*a.percent_of_roof, 50);
  EXPECT_DOUBLE_EQ(*a.lost_us, 2);
  const ProfileRow& b = row(prefill.roles, "b");  // 12000 operations: 3 us at the roof
  EXPECT_EQ(b.bound, "compute");
  EXPECT_DOUBLE_EQ(*b.attainable, 4);
  EXPECT_DOUBLE_EQ(*b.percent_of_roof, 75);
  EXPECT_DOUBLE_EQ(*b.lost_us, 1);
  const ProfileRow& c = row(prefill.roles, "c");  // 3000 bytes in 2 us: memory cannot do that
  EXPECT_EQ(c.bound, "cache");
  EXPECT_FALSE(c.percent_of_roof);
  EXPECT_FALSE(c.gflops);
  EXPECT_DOUBLE_EQ(*c.lost_us, 0);
  const ProfileRow& d = row(profile.phase("decode")->kernels, "toy/d");
  EXPECT_EQ(d.calls, 2);
  EXPECT_DOUBLE_EQ(d.share_percent, 100);
}

TEST(Profile, SharesAddUp) {
  for (const Profile& profile : {small_profile(), sample::profile()})
    for (const ProfilePhase& phase : profile.phases)
      for (const auto* rows : {&phase.kernels, &phase.roles}) {
        double sum = 0;
        for (const ProfileRow& one : *rows) sum += one.share_percent;
        EXPECT_NEAR(sum, 100, 1e-9);
      }
}

TEST(Profile, DecodeArithmetic) {
  const DecodeArithmetic decode = *small_profile().decode;
  EXPECT_DOUBLE_EQ(decode.batch, 1);
  EXPECT_DOUBLE_EQ(decode.weight_bytes, 2000);
  EXPECT_DOUBLE_EQ(decode.kv_bytes, 500);
  EXPECT_DOUBLE_EQ(decode.ops, 4000);
  EXPECT_DOUBLE_EQ(decode.intensity, 1.6);
  EXPECT_DOUBLE_EQ(*decode.ridge, 4);
  EXPECT_DOUBLE_EQ(*decode.compute_bound_batch, 2);
  EXPECT_DOUBLE_EQ(decode.floor_us, 2.5);
  EXPECT_DOUBLE_EQ(decode.floor_tokens_per_s, 4e5);
  EXPECT_DOUBLE_EQ(*decode.percent_of_floor, 50);
}

TEST(Profile, Fusion) {
  const std::vector<FusionRow> rows = small_profile().fusion;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].producer, "a");  // 1000 written, 1000 read again: fits in the cache
  EXPECT_EQ(rows[0].consumer, "c");
  EXPECT_DOUBLE_EQ(rows[0].bytes, 2000);
  EXPECT_DOUBLE_EQ(rows[0].cached_bytes, 2000);
  EXPECT_FALSE(rows[0].time_us);
  EXPECT_FALSE(rows[0].overhead_us);  // the clean run has no gaps
  EXPECT_DOUBLE_EQ(rows[1].bytes, 1000);
}

TEST(Profile, FusionBeyondTheCache) {
  DeviceProperties device = small_device();
  device.last_level_cache_bytes = 600;
  const Profile profile =
      make_profile(small_model(), small_timeline(), small_clean(), device, round_ceilings());
  EXPECT_DOUBLE_EQ(*profile.fusion[0].time_us, 2);
  EXPECT_DOUBLE_EQ(profile.fusion[0].cached_bytes, 0);
  EXPECT_DOUBLE_EQ(profile.fusion[1].cached_bytes, 1000);
}

TEST(Profile, WhatOthersReadMustStillBeWritten) {
  Timeline timeline = small_timeline();
  timeline.events[1].reads = {0};
  const std::vector<FusionRow> rows =
      make_profile(small_model(), timeline, small_clean(), small_device(), round_ceilings()).fusion;
  const auto saved = [&](const std::string& consumer) {
    return std::ranges::find_if(rows,
                                [&](const FusionRow& one) {
                                  return one.producer == "a" && one.consumer == consumer;
                                })
        ->bytes;
  };
  EXPECT_DOUBLE_EQ(saved("b"), 500);  // it reads 500 bytes in all
  EXPECT_DOUBLE_EQ(saved("c"), 1000);
  timeline = small_timeline();
  timeline.events[0].output_stays = true;
  EXPECT_DOUBLE_EQ(
      make_profile(small_model(), timeline, small_clean(), small_device(), round_ceilings())
          .fusion[0]
          .bytes,
      1000);
}

TEST(Profile, TimesThatAreNoTimes) {
  Timeline timeline = small_timeline();
  timeline.events = {event("a", 0, 3, 3, 1000, 0, 0)};
  timeline.events.push_back(event("b", 0, 8, 12, 1000, 0, 0));  // 2 us too long for its pass
  const Profile profile =
      make_profile(small_model(), timeline, {}, small_device(), round_ceilings());
  const ProfilePhase& prefill = *profile.phase("prefill");
  EXPECT_DOUBLE_EQ(prefill.busy_us, 2);
  const ProfileRow& instant = row(prefill.roles, "a");
  EXPECT_EQ(instant.time_us, 0);
  EXPECT_FALSE(instant.gbytes_per_s);
  EXPECT_FALSE(instant.percent_of_roof);
  EXPECT_FALSE(prefill.clean_us);
  EXPECT_FALSE(prefill.tokens_per_s);
  EXPECT_EQ(profile.phase("decode")->operations, 0);
  EXPECT_FALSE(profile.phase("decode")->gap_us_an_operation);
  EXPECT_THAT(profile.notes,
              ElementsAre("prefill: 1 operations reached outside their pass and were cut to it",
                          HasSubstr("no clean run"), "decode: no operation was captured"));
}

// One thread cannot overlap itself; a span without end may not become all of the time.
TEST(Profile, OverlapOnOneThread) {
  Timeline timeline;
  timeline.passes = {{.phase = "decode", .tokens = 1, .start_us = 0, .end_us = 20}};
  timeline.events = {event("a", 0, 0, 1e12, 1000, 0, 0), event("b", 0, 5, 10, 1000, 0, 0)};
  const Profile profile =
      make_profile(small_model(), timeline, {}, small_device(), round_ceilings());
  EXPECT_DOUBLE_EQ(profile.phase("decode")->busy_us, 20);
  EXPECT_DOUBLE_EQ(row(profile.phase("decode")->roles, "b").share_percent, 12.5);
  EXPECT_THAT(profile.notes,
              ::testing::Contains(HasSubstr("1 operations overlap another of the same thread")));
}

TEST(Profile, NothingAtAll) {
  const Profile profile = make_profile({}, {}, {}, small_device(), {});
  EXPECT_THAT(profile.phases, IsEmpty());
  EXPECT_THAT(profile.advice, IsEmpty());
  EXPECT_FALSE(profile.decode);
  EXPECT_THAT(profile.notes, ::testing::Contains("the capture has no pass"));
}

TEST(Profile, WithoutCeilings) {
  const Profile profile =
      make_profile(small_model(), small_timeline(), small_clean(), small_device(), {});
  const ProfileRow& a = row(profile.phase("prefill")->roles, "a");
  EXPECT_FALSE(a.lost_us);
  EXPECT_FALSE(a.roof_us);
  EXPECT_EQ(a.bound, "");
  EXPECT_FALSE(profile.decode);
}

TEST(Profile, ImpossibleCaptures) {
  const auto refused = [](auto change, const std::string& why) {
    Timeline timeline = small_timeline();
    change(timeline);
    try {
      make_profile(small_model(), timeline, small_clean(), small_device(), round_ceilings());
      ADD_FAILURE() << "accepted: " << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  refused([](Timeline& t) { t.events[0].pass = 3; }, "event 0 (toy/a) is of pass 3; there are 3");
  refused([](Timeline& t) { t.events[0].pass = -1; }, "is of pass -1");
  refused([](Timeline& t) { t.events[1].end_us = 1; }, "event 1 (toy/b) is from 2 to 1 us");
  refused([](Timeline& t) { t.events[1].start_us = NAN; }, "is from nan to 6 us");
  refused([](Timeline& t) { t.events[0].cost.bytes_read = -1; }, "a cost must be finite");
  refused([](Timeline& t) { t.events[0].cost[Unit::fp32] = HUGE_VAL; }, "a cost must be finite");
  refused([](Timeline& t) { t.events[2].reads = {2}; }, "reads event 2; it must be an earlier one");
  refused([](Timeline& t) { t.events[4].reads = {3}; }, "reads event 3");
  refused([](Timeline& t) { t.passes[0].phase = "warm-up"; }, "pass 0 has the phase 'warm-up'");
  refused([](Timeline& t) { t.passes[0].tokens = -4; }, "pass 0 has -4 tokens");
}

TEST(Profile, ShowsTheMedianDecodePass) {
  Timeline timeline = small_timeline();
  timeline.passes.push_back({.phase = "decode", .tokens = 1, .start_us = 40, .end_us = 47});
  timeline.passes[1].end_us = 24;
  const Profile profile =
      make_profile(small_model(), timeline, small_clean(), small_device(), round_ceilings());
  const ShownPass& shown = *profile.phase("decode")->shown;
  EXPECT_EQ(shown.index, 2);
  ASSERT_EQ(shown.events.size(), 1U);
  EXPECT_DOUBLE_EQ(shown.events[0].start_us, 1);
}

std::vector<std::string> topics(const Profile& profile) {
  std::vector<std::string> names;
  for (const Advice& one : profile.advice) names.push_back(one.topic);
  return names;
}

TEST(Advice, IsInOrderWithNumbers) {
  const Profile profile = sample::profile();
  const std::vector<std::string> order{"correctness", "kernel",   "overhead",
                                       "fusion",      "quantise", "batch"};
  const auto place = [&](const std::string& topic) {
    return std::ranges::find(order, topic) - order.begin();
  };
  const std::vector<std::string> given = topics(profile);
  EXPECT_TRUE(std::ranges::is_sorted(given, {}, place));
  EXPECT_EQ(given.front(), "correctness");
  EXPECT_EQ(given.back(), "batch");
  EXPECT_THAT(profile.advice[1].what, HasSubstr("toy_linear/cpu_tiles"));
  for (const Advice& one : profile.advice) {
    EXPECT_TRUE(std::ranges::any_of(one.why, [](char c) { return c >= '0' && c <= '9'; }))
        << one.why;
    if (one.topic == "correctness") continue;
    EXPECT_GE(one.gain_percent.value_or(0), 2) << one.what;
  }
}

TEST(Advice, GainsOfTheSmallProfile) {
  const Profile profile = small_profile();
  // a loses 2 of 8 us, b 1, d 2 of 5; c is in cache. Half of one gap of 1 us a pass is 20 %.
  std::vector<double> kernel_gains;
  for (const Advice& one : profile.advice)
    if (one.topic == "kernel") kernel_gains.push_back(*one.gain_us);
  EXPECT_THAT(kernel_gains, ElementsAre(2, 2, 1));  // d comes first: it has two passes
  EXPECT_THAT(profile.advice[0].what, HasSubstr("toy/d"));
  EXPECT_DOUBLE_EQ(*profile.advice[0].gain_percent, 40);
  const Advice& batch = profile.advice.back();
  EXPECT_EQ(batch.topic, "batch");
  // Two tokens for 2000 + 2 * 500 bytes: 3 us for two instead of 2.5 us for one.
  EXPECT_NEAR(*batch.gain_percent, (2 / 3.0 / 0.4 - 1) * 100, 1e-9);
}

TEST(Advice, NoneWhereAllIsAtTheRoof) {
  Timeline timeline = small_timeline();
  timeline.passes.resize(1);
  timeline.events.resize(1);
  timeline.passes[0].end_us = timeline.events[0].end_us = 2;
  EXPECT_THAT(make_profile(small_model(), timeline, {}, small_device(), round_ceilings()).advice,
              IsEmpty());
}

TEST(Layouts, PayForThemselves) {
  Timeline timeline = small_timeline();
  timeline.layouts = {
      {.role = "a", .kernel = "toy/a", .bytes = 8, .convert_us = 30, .saves_us_a_pass = 3},
      {.role = "b", .kernel = "toy/b", .bytes = 8, .convert_us = 30, .saves_us_a_pass = -3},
      {.role = "c", .kernel = "toy/c", .bytes = 8, .convert_us = 30}};
  const std::vector<LayoutRow> rows =
      make_profile(small_model(), timeline, {}, small_device(), round_ceilings()).layouts;
  EXPECT_DOUBLE_EQ(*rows[0].passes_to_pay, 10);
  EXPECT_FALSE(rows[1].passes_to_pay);
  EXPECT_FALSE(rows[2].passes_to_pay);
}

}  // namespace
}  // namespace rooftile
