// SPDX-License-Identifier: Apache-2.0
// Records as JSON: written and read back alike, absent figures absent, bad files named.
#include "rooftile/op/record.h"

#include <functional>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/json.h"

namespace rooftile {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

Record full() {
  Record record{.op = "gemm", .kernel = "gemm/cpu", .problem = "gemm/cpu m=1", .device = "cpu"};
  record.origin = Origin::simulated;
  record.status = Status::invalid;
  record.reason = "too fast";
  record.max_abs_error = 0.125;
  record.max_rel_error = 1e-300;
  record.max_ulps = 0.5;
  record.time_us = Quantiles{3, 2.5, 4, 20};
  record.against = Against{"gemm/onednn", {6, 5, 7, 20}, {2, 1.9, 2.1, 20}, "faster"};
  record.probe = Against{"read", {1, 1, 1, 5}, {0.5, 0.4, 0.6, 5}, "slower"};
  record.tflops = 1.5;
  record.gbytes_per_s = 2.5;
  record.intensity = 3.5;
  record.bound = "compute";
  record.attainable = 4.5;
  record.percent_of_roof = 99.5;
  record.predicted_us = 5.5;
  record.predicted_error = 0.045;
  record.launches = {{.kernel = "ws<128, 4>",
                      .shape = "grid 4, block 128",
                      .registers = 168,
                      .blocks_per_sm = 1,
                      .occupancy = "shared memory limits it",
                      .counters = {{"global load requests", 8}},
                      .simulated_s = 0.25,
                      .predicted_us = 5.5,
                      .terms_us = {{"dram", 1.5}, {"launch", 3}},
                      .binds = "launch",
                      .why = "too small",
                      .lines = {{"a.cu:7", "global load of 4 bytes", {{"requests", 8}}, "idle"}}}};
  record.clocks_mhz = 1980;
  record.power_w = 700;
  record.temperature_c = 55;
  record.mode = "cold";
  record.data = "randn seed=7";
  record.config = "mc=96";
  record.code_hash = "0123456789abcdef";
  record.commit = "abc";
  record.command = "rooftile bench 'x'";
  record.date = "2026-11-29T14:02:11Z";
  return record;
}

std::string refusal(const std::string& text) {
  try {
    records_from_json(text, "a.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_THAT(error.what(), HasSubstr("'a.json' is not a file of records"));
    return error.what();
  }
  return "";
}

// A file whose one record is `record` with some keys replaced.
std::string file_with(const std::function<void(Json&)>& change) {
  Json file = Json::parse(to_json("cpu", {full()}));
  change(file["records"][0]);
  return file.dump();
}

TEST(Records, RoundTrip) {
  const std::vector<Record> once{full(),
                                 {.op = "a", .kernel = "a/b", .problem = "a", .device = "cpu"}};
  const std::string text = to_json("cpu", once);
  const std::vector<Record> again = records_from_json(text, "a.json");
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(to_json("cpu", again), text);
  EXPECT_EQ(again[0].origin, Origin::simulated);
  EXPECT_EQ(again[0].status, Status::invalid);
  EXPECT_EQ(again[0].time_us->p90, 4);
  EXPECT_EQ(again[0].against->ratio.median, 2);
  EXPECT_EQ(again[0].against->verdict, "faster");
  EXPECT_EQ(again[0].max_rel_error, 1e-300);
  EXPECT_EQ(again[0].launches.at(0).lines.at(0).counts, (Figures{{"requests", 8}}));
  EXPECT_TRUE(records_from_json(to_json("cpu", {}), "a.json").empty());
}

TEST(Records, HaveTheSchemaTheDocumentsDescribe) {
  const Json file = Json::parse(to_json("cpu", {full()}));
  EXPECT_EQ(file["schema"], 1);
  EXPECT_EQ(file["device"], "cpu");
  const Json& record = file["records"][0];
  EXPECT_EQ(record["origin"], "simulated");
  EXPECT_EQ(record["time_us"], (Json{{"median", 3.0}, {"p10", 2.5}, {"p90", 4.0}, {"n", 20}}));
  EXPECT_EQ(record["against"]["kernel"], "gemm/onednn");
}

// An absent figure is absent, never 0: a missing power reading is no reading of 0 W.
TEST(Records, LeaveOutWhatIsAbsent) {
  const Record bare{.op = "a", .kernel = "a/b", .problem = "a rows=1", .device = "cpu"};
  const std::string text = to_json("cpu", {bare});
  for (const char* key : {"time_us", "tflops", "power_w", "max_abs_error", "percent_of_roof",
                          "against", "bound", "reason", "null"})
    EXPECT_THAT(text, Not(HasSubstr(key)));
  const Record again = records_from_json(text, "a.json")[0];
  EXPECT_FALSE(again.time_us);
  EXPECT_FALSE(again.power_w);
  EXPECT_FALSE(again.max_abs_error);
}

TEST(Records, LeaveOutWhatIsNoNumber) {
  Record record = full();
  record.max_abs_error = std::numeric_limits<double>::quiet_NaN();
  record.tflops = std::numeric_limits<double>::infinity();
  const Record again = records_from_json(to_json("cpu", {record}), "a.json")[0];
  EXPECT_FALSE(again.max_abs_error);
  EXPECT_FALSE(again.tflops);
}

TEST(Records, SurviveStrangeText) {
  Record record = full();
  record.reason = "line\n\"quoted\" \\ \xff\xfe and \xc3\xa9";
  const Record again = records_from_json(to_json("cpu", {record}), "a.json")[0];
  EXPECT_THAT(again.reason, HasSubstr("line\n\"quoted\" \\ "));
  EXPECT_THAT(again.reason, HasSubstr("\xc3\xa9"));
}

TEST(Records, IgnoreKeysOfLaterVersions) {
  const std::string text = file_with([](Json& record) { record["colour"] = "blue"; });
  EXPECT_EQ(records_from_json(text, "a.json").size(), 1U);
}

TEST(Records, RefuseWhatIsNoFileOfRecords) {
  for (const char* text : {"", "{", "[]", "null", "5", "\"records\"", "{}", "{\"records\": 5}",
                           "{\"schema\": 1, \"records\": {}}", "{\"schema\": 1, \"records\": [5]}"})
    EXPECT_NE(refusal(text), "") << text;
  EXPECT_THAT(refusal(R"({"schema": 2, "records": []})"),
              HasSubstr("schema 2, this program reads 1"));
  EXPECT_THAT(refusal(R"({"records": []})"), HasSubstr("schema 0"));
  EXPECT_NE(refusal(R"({"schema": "1", "records": []})"), "");
  EXPECT_NE(refusal(std::string(100000, '[')), "");
}

TEST(Records, RefuseFieldsOfAnotherType) {
  EXPECT_NE(refusal(file_with([](Json& record) { record["op"] = 5; })), "");
  EXPECT_NE(refusal(file_with([](Json& record) { record["tflops"] = "fast"; })), "");
  EXPECT_NE(refusal(file_with([](Json& record) { record["tflops"] = nullptr; })), "");
  EXPECT_THAT(refusal(file_with([](Json& record) { record["status"] = "pased"; })),
              HasSubstr("unknown value 'pased'; did you mean 'passed'"));
  EXPECT_NE(refusal(file_with([](Json& record) { record["against"] = "onednn"; })), "");
}

// Half a time would be read as one of 0 us, and a record without a status as one that passed.
TEST(Records, RefuseHalfOfWhatBelongsTogether) {
  EXPECT_THAT(refusal(file_with([](Json& record) { record["time_us"] = 5; })),
              HasSubstr("lacks 'median'"));
  EXPECT_THAT(refusal(file_with([](Json& record) { record["time_us"].erase("p10"); })),
              HasSubstr("lacks 'p10'"));
  EXPECT_THAT(refusal(file_with([](Json& record) { record["against"].erase("ratio"); })),
              HasSubstr("lacks 'ratio'"));
  for (const char* key : {"op", "kernel", "problem", "device", "origin", "status"})
    EXPECT_THAT(refusal(file_with([&](Json& record) { record.erase(key); })),
                HasSubstr("lacks '" + std::string(key) + "'"));
}

TEST(UtcNow, IsIso8601) {
  EXPECT_THAT(utc_now(),
              MatchesRegex("20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"));
}

TEST(Records, FiguresThatDoNotFitAreRefused) {
  for (const Json& wrong : {Json(1e300), Json(0.5), Json(~std::uint64_t{0}), Json("9")}) {
    const auto text = file_with([&](Json& record) { record["time_us"]["n"] = wrong; });
    EXPECT_THAT(refusal(text), HasSubstr("no whole number")) << wrong;
  }
  for (const char* schema : {"1e300", "1.5", "\"1\"", "null", "[]"})
    EXPECT_THAT(refusal(R"({"records": [], "schema": )" + std::string(schema) + "}"),
                HasSubstr("schema"));
}

TEST(Records, DeepNestingIsRefused) {
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(refusal(R"({"records": [], "schema": )" + deep), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal(deep), HasSubstr("nested deeper"));
}

}  // namespace
}  // namespace rooftile
