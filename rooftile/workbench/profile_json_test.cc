// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/profile_json.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "rooftile/base/error.h"
#include "rooftile/base/json.h"
#include "rooftile/workbench/chrome_trace.h"
#include "rooftile/workbench/profile_html.h"
#include "rooftile/workbench/profile_sample.h"
#include "rooftile/workbench/profile_text.h"

namespace rooftile {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHostile = "</script><img src=x onerror=alert(1)>\"'&\x1b[2J\xff\nnewline";

Profile hostile_profile() {
  Profile profile = sample::profile();
  profile.model.name = kHostile;
  profile.model.command = kHostile;
  profile.device.description = kHostile;
  for (ProfilePhase& phase : profile.phases) {
    phase.kernels[0].name = phase.kernels[0].op = phase.kernels[0].problem = kHostile;
    phase.kernels[0].bound = phase.roles[0].name = phase.mfu_unit = kHostile;
    phase.shown->events[3].role = phase.shown->events[3].problem = kHostile;
  }
  profile.fusion[0].producer = profile.layouts[0].role = kHostile;
  profile.advice[0].what = profile.advice[0].topic = profile.notes[0] = kHostile;
  return profile;
}

TEST(ProfileJson, RoundTrip) {
  const std::string text = profile_json(sample::profile());
  EXPECT_EQ(profile_json(profile_from_json(text, "f")), text);
  const Profile empty = make_profile({}, {}, {}, sample::device(), {});
  EXPECT_EQ(profile_json(profile_from_json(profile_json(empty), "f")), profile_json(empty));
}

TEST(ProfileJson, AllFormsCanBeMadeOfIt) {
  const Profile made = sample::profile();
  const Profile read = profile_from_json(profile_json(made), "f");
  EXPECT_EQ(profile_html(read), profile_html(made));
  EXPECT_EQ(profile_text(read), profile_text(made));
}

TEST(ProfileJson, AbsentFiguresAreAbsent) {
  const Profile profile =
      make_profile(sample::model(), sample::timeline(), {}, sample::device(), {});
  const Json json = Json::parse(profile_json(profile))["profile"];
  for (const char* key : {"clean_us", "tokens_per_s", "roof_us", "mfu_percent", "mfu_unit"})
    EXPECT_FALSE(json["phases"][0].contains(key)) << key;
  for (const char* key : {"lost_us", "bound", "attainable", "percent_of_roof"})
    EXPECT_FALSE(json["phases"][0]["kernels"][0].contains(key)) << key;
  EXPECT_FALSE(json.contains("decode"));
  EXPECT_THAT(profile_json(profile), Not(HasSubstr("null")));
}

TEST(ProfileJson, HostileTextSurvives) {
  const Profile read = profile_from_json(profile_json(hostile_profile()), "f");
  EXPECT_THAT(read.model.name, HasSubstr("</script><img src=x onerror=alert(1)>\"'&\x1b[2J"));
  EXPECT_THAT(read.model.name, HasSubstr("\nnewline"));
}

// One change to a good file at a time.
void refused(const std::function<void(Json& profile)>& change, const std::string& why) {
  static const std::string good = profile_json(sample::profile());
  Json file = Json::parse(good);
  change(file["profile"]);
  try {
    profile_from_json(file.dump(), "some.json");
    ADD_FAILURE() << "accepted: " << why;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_THAT(error.what(), HasSubstr("'some.json' is not a profile: "));
    EXPECT_THAT(error.what(), HasSubstr(why));
    EXPECT_LT(std::string(error.what()).size(), 400U);
  }
}

TEST(ProfileJson, DamagedFields) {
  refused([](Json& p) { p.erase("phases"); }, "profile lacks 'phases'");
  refused([](Json& p) { p["phases"] = 3; }, "profile.phases is 3; it must be a list");
  refused([](Json& p) { p["phases"][1]["kernels"][2]["time_us"] = "long"; },
          "profile.phases[1].kernels[2].time_us is \"long\"; it must be a number, at least 0");
  refused([](Json& p) { p["phases"][0]["kernels"][0]["time_us"] = -1; },
          "is -1; it must be a number");
  refused([](Json& p) { p["phases"][0]["busy_us"] = 1e300; }, "is 1e+300; it must be a number");
  refused([](Json& p) { p["phases"][0]["busy_us"] = nullptr; }, "busy_us is null");
  refused([](Json& p) { p["phases"][0]["passes"] = 1.5; }, "it must be an integer");
  refused([](Json& p) { p["phases"][0]["passes"] = 18446744073709551615ULL; }, "an integer");
  refused([](Json& p) { p["phases"][0]["passes"] = 0; }, "the phase prefill has no passes");
  refused([](Json& p) { p["phases"][0]["name"] = "warm-up"; }, "a phase is named 'warm-up'");
  refused([](Json& p) { p["phases"][0]["name"] = "decode"; }, "the phase decode is there twice");
  refused([](Json& p) { p["phases"][0]["shown"]["events"][5] = 7; },
          "profile.phases[0].shown.events[5] is 7; it must be an object");
  refused([](Json& p) { p["model"]["name"] = std::string(70000, 'x'); },
          "text of at most 65536 bytes");
  refused([](Json& p) { p["model"]["is_synthetic"] = "no"; }, "it must be true or false");
  refused([](Json& p) { p["ceilings"]["units"]["fp7"] = 1; }, "whose keys are units");
  refused([](Json& p) { p["ceilings"]["units"]["fp32"] = 1; }, "profile.ceilings.units.fp32 is 1");
  refused([](Json& p) { p["fusion"][0]["phase"] = "decoed"; }, "of the phase 'decoed'");
  refused([](Json& p) { p["advice"][2]["phase"] = "x"; }, "a piece of advice is of the phase 'x'");
  refused([](Json& p) { p = Json::array(); }, "profile is []; it must be an object");
  refused([](Json& p) { p["decode"].erase("floor_us"); }, "profile.decode lacks 'floor_us'");
}

TEST(ProfileJson, DamagedFiles) {
  const std::string good = profile_json(sample::profile());
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), std::string("{\"schema\": 1}"),
        std::string("{\"profile\": {}}"), std::string("{\"schema\": 2, \"profile\": {}}"),
        std::string("{\"schema\": [], \"profile\": {}}"),
        std::string("{\"schema\":1,\"profile\":{\"date\":1e999}}"), std::string(100000, '['),
        std::string("\xff\xfe")})
    EXPECT_THROW(profile_from_json(text, "f"), Error) << text.substr(0, 40);
  for (std::size_t cut = 1; cut < good.size() - 2; cut += good.size() / 97)
    EXPECT_THROW(profile_from_json(good.substr(0, cut), "f"), Error) << cut;
}

// A page is shown in a browser that runs scripts: nothing of the profile may become markup.
TEST(ProfileHtml, HostileText) {
  const std::string page = profile_html(hostile_profile());
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\xff")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"));
  std::size_t scripts = 0;
  for (std::size_t at = page.find("<script"); at != std::string::npos;
       at = page.find("<script", at + 1))
    ++scripts;
  EXPECT_EQ(scripts, 1U);
}

TEST(ProfileHtml, SaysThatWeightsAreSynthetic) {
  Profile profile = sample::profile();
  EXPECT_THAT(profile_html(profile), HasSubstr("class=\"badge\">synthetic weights"));
  EXPECT_THAT(profile_text(profile), HasSubstr("SYNTHETIC WEIGHTS"));
  EXPECT_THAT(profile_json(profile), HasSubstr("\"is_synthetic\": true"));
  EXPECT_THAT(chrome_trace(profile.model, {}, "d"), HasSubstr("(synthetic weights)"));
  profile.model.is_synthetic = false;
  EXPECT_THAT(profile_html(profile), Not(HasSubstr("class=\"badge\"")));
  EXPECT_THAT(profile_text(profile), Not(HasSubstr("SYNTHETIC")));
}

TEST(ProfileHtml, NothingWasCaptured) {
  const Profile empty = make_profile({}, {}, {}, sample::device(), {});
  EXPECT_THAT(profile_html(empty), HasSubstr("No kernel has both operations and bytes"));
  EXPECT_THAT(profile_text(empty), HasSubstr("the capture has no pass"));
}

TEST(ProfileHtml, ExtremeFigures) {
  Profile profile = sample::profile();
  for (ProfilePhase& phase : profile.phases) {
    phase.kernels[0].intensity = 1e25;
    phase.kernels[0].gflops = 1e-25;
    phase.kernels[0].time_us = 0;
    phase.busy_us = phase.captured_us = 0;
    phase.shown->time_us = 0;
  }
  const std::string page = profile_html(profile);
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("\"inf")));
}

TEST(ChromeTrace, IsWhatTheViewersRead) {
  const Timeline timeline = sample::timeline();
  const Json trace = Json::parse(chrome_trace(sample::model(), timeline, "here"));
  std::size_t passes = 0, operations = 0, names = 0;
  for (const Json& event : trace["traceEvents"]) {
    ASSERT_TRUE(event["pid"].is_number_integer() && event["tid"].is_number_integer());
    if (event["ph"] == "M") {
      ++names;
      continue;
    }
    ASSERT_EQ(event["ph"], "X");
    ASSERT_GE(event["ts"].get<double>(), 0);
    ASSERT_GE(event["dur"].get<double>(), 0);
    (event["cat"] == "pass" ? passes : operations)++;
  }
  EXPECT_EQ(passes, timeline.passes.size());
  EXPECT_EQ(operations, timeline.events.size());
  EXPECT_EQ(names, 1U + 2 * 3);  // the process; name and order of the passes and two threads
}

TEST(ChromeTrace, KeepsFractionsAndArguments) {
  Timeline timeline;
  timeline.passes = {{.phase = "decode", .tokens = 1, .start_us = 100, .end_us = 101}};
  TimelineEvent event;
  event.op = "toy";
  event.kernel = "toy/k";
  event.problem = kHostile;
  event.role = "r";
  event.layer = 3;
  event.cost.bytes_read = 400;
  event.start_us = 100.7;
  event.end_us = 100.9;
  timeline.events = {event};
  const Json last = Json::parse(chrome_trace({}, timeline, "d"))["traceEvents"].back();
  EXPECT_NEAR(last["dur"].get<double>(), 0.2, 1e-9);
  EXPECT_EQ(last["name"], "r");
  EXPECT_EQ(last["args"]["layer"], 3);
  EXPECT_NEAR(last["args"]["GB/s"].get<double>(), 2, 1e-9);
  EXPECT_FALSE(last["args"].contains("GFLOP/s"));
}

}  // namespace
}  // namespace rooftile
