// SPDX-License-Identifier: Apache-2.0
// Measured ceilings: the best probe of each kind, kept between processes, raised by what proves
// them too low, and measured afresh when the cache is nonsense.
#include "rooftile/workbench/ceilings.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/op/cache.h"
#include "rooftile/workbench/bench.h"
#include "rooftile/workbench/planted_kernels.h"

namespace rooftile {
namespace {

class MeasuredCeilings : public testing::Test {
 protected:
  MeasuredCeilings() {
    device_.its_probes = {
        memory_probe("read_slow", 1000, 0, 4),      memory_probe("read", 1000, 0, 1),
        memory_probe("copy", 500, 500, 2),          memory_probe("triad", 2000, 1000, 3),
        memory_probe("write", 0, 1000, 2.5),        unit_probe("dot", Unit::bf16, 8000, 2),
        unit_probe("dot_slow", Unit::bf16, 8000, 4)};
    device_.its_sheet.sheet_bytes_per_s = 5e9;
  }
  Probe memory_probe(const std::string& name, double read, double written, double us) {
    return {.name = name, .read_bytes = read, .written_bytes = written, .run = spending(us)};
  }
  Probe unit_probe(const std::string& name, Unit unit, double ops, double us) {
    return {.name = name, .unit = unit, .ops = ops, .run = spending(us)};
  }
  std::function<void(Stream&)> spending(double us) {
    return [this, us](Stream&) {
      ++runs_;
      device_.spend(us);
    };
  }
  // The key and text of the one cached entry.
  static std::pair<std::string, std::string> entry() {
    return *CacheFile("ceilings.json").read().begin();
  }

  TestCache cache_;
  FakeDevice device_;
  int runs_ = 0;
};

TEST_F(MeasuredCeilings, AreTheBestOfEachKind) {
  std::vector<std::string> progress;
  const Ceilings ceilings =
      measure_ceilings(device_, [&](const std::string& probe, int done, int of) {
        progress.push_back(probe + " " + std::to_string(done) + "/" + std::to_string(of));
      });
  EXPECT_NEAR(ceilings.read.per_s, 1e9, 1e-3);
  EXPECT_EQ(ceilings.read.source, "read");
  EXPECT_NEAR(ceilings.copy.per_s, 0.5e9, 1e-3);
  EXPECT_NEAR(ceilings.triad.per_s, 1e9, 1e-3);
  EXPECT_NEAR(ceilings.write.per_s, 0.4e9, 1e-3);
  const auto& bf16 = ceilings.units[static_cast<std::size_t>(Unit::bf16)];
  ASSERT_TRUE(bf16);
  EXPECT_NEAR(bf16->per_s, 4e9, 1e-3);
  EXPECT_EQ(bf16->source, "dot");
  EXPECT_FALSE(ceilings.units[static_cast<std::size_t>(Unit::fp32)]);
  EXPECT_EQ(ceilings.sheet_bytes_per_s, 5e9);
  EXPECT_EQ(progress.size(), 7U);
  EXPECT_EQ(progress[0], "read_slow 0/7");
  EXPECT_EQ(device_.num_flushes, 0) << "probes own more memory than any cache holds";
}

TEST_F(MeasuredCeilings, AreMeasuredOnce) {
  const Ceilings first = ceilings_of(device_);
  const int runs = runs_;
  EXPECT_GT(runs, 0);
  const Ceilings second = ceilings_of(device_);
  EXPECT_EQ(runs_, runs);
  EXPECT_EQ(second.copy.per_s, first.copy.per_s);
  EXPECT_EQ(second.units[static_cast<std::size_t>(Unit::bf16)]->source, "dot");
  EXPECT_EQ(second.sheet_bytes_per_s, 5e9) << "the data sheet is not cached";
}

TEST_F(MeasuredCeilings, AreMeasuredAfreshFromANonsensicalEntry) {
  const Ceilings right = ceilings_of(device_);
  const auto [key, good] = entry();
  std::string negative = good;
  negative.replace(negative.find("\"per_s\":") + 8, 1, "-1");
  for (const std::string& text : {std::string(), std::string("5"), std::string("{}"),
                                  std::string("{\"read\": 5}"), negative}) {
    CacheFile("ceilings.json").update([&, name = key](CacheFile::Entries& entries) {
      entries[name] = text;
    });
    runs_ = 0;
    EXPECT_EQ(ceilings_of(device_).read.per_s, right.read.per_s) << text;
    EXPECT_GT(runs_, 0) << text;
  }
}

TEST_F(MeasuredCeilings, AreMeasuredAfreshFromAnEntryOfOtherProbes) {
  (void)ceilings_of(device_);
  const auto [key, text] = entry();
  for (const char* version : {"", "\"version\":1,", "\"version\":99,"}) {
    std::string other = text;
    const std::string mine = "\"version\":2";
    const std::size_t at = other.find(mine);
    ASSERT_NE(at, std::string::npos) << text;
    // It is not the last: write comes after it.
    ASSERT_EQ(other[at + mine.size()], ',') << text;
    other.replace(at, mine.size() + 1, version);
    CacheFile("ceilings.json").update([&, name = key](CacheFile::Entries& entries) {
      entries[name] = other;
    });
    runs_ = 0;
    (void)ceilings_of(device_);
    EXPECT_GT(runs_, 0) << other;
  }
}

TEST_F(MeasuredCeilings, AreProbedBesideAKernel) {
  Ceilings ceilings = ceilings_of(device_);
  Operation operation{.def = &toy_op()};
  const KernelDef kernel = toy_kernel(right_taking(8));
  operation.kernels = {&kernel};
  const Record record = bench(operation, kernel, toy_problem("rows=16 cols=16"), device_, ceilings,
                              {.timing = {.budget_s = 1e9, .most_samples = 20}});
  ASSERT_EQ(record.status, Status::passed) << record.reason;
  ASSERT_TRUE(record.probe);
  EXPECT_EQ(record.probe->kernel, "copy") << "as much written as read";
  // The probe's time for the kernel's bytes, over the kernel's time: its share of the roof.
  EXPECT_NEAR(record.probe->ratio.median * 100, *record.percent_of_roof, 1e-6);
}

Cost copy_cost(double bytes) {
  Cost cost;
  cost.bytes_read = cost.bytes_written = bytes / 2;
  return cost;
}

Ceilings flat() {
  Ceilings ceilings;
  for (Ceiling* each : {&ceilings.read, &ceilings.triad, &ceilings.copy, &ceilings.write})
    *each = {1e9, 0.05, "probe"};
  ceilings.units[static_cast<std::size_t>(Unit::fp32)] = Ceiling{1e9, 0.05, "probe"};
  return ceilings;
}

TEST(RaiseCeiling, NeedsMoreThanTheSpread) {
  Ceilings ceilings = flat();
  EXPECT_FALSE(raise_ceiling(ceilings, copy_cost(1000), 1, "k"));
  EXPECT_FALSE(raise_ceiling(ceilings, copy_cost(1000), 1 / 1.04, "k"));
  EXPECT_EQ(ceilings.copy.source, "probe");
  EXPECT_TRUE(raise_ceiling(ceilings, copy_cost(1000), 1 / 1.06, "k"));
  EXPECT_NEAR(ceilings.copy.per_s, 1.06e9, 1);
  EXPECT_EQ(ceilings.copy.source, "k");
  EXPECT_DOUBLE_EQ(ceilings.read.per_s, 1e9) << "of another mix";
}

TEST(RaiseCeiling, IsOfTheUnitThatWasUsed) {
  Ceilings ceilings = flat();
  Cost cost;
  cost[Unit::fp32] = 2000;
  cost[Unit::bf16] = 1e9;  // no ceiling is known: none is made up
  EXPECT_TRUE(raise_ceiling(ceilings, cost, 1, "k"));
  EXPECT_NEAR(ceilings.units[static_cast<std::size_t>(Unit::fp32)]->per_s, 2e9, 1);
  EXPECT_FALSE(ceilings.units[static_cast<std::size_t>(Unit::bf16)]);
}

TEST(RaiseCeiling, LeavesMixesThatWereNotMeasured) {
  Ceilings ceilings = flat();
  Cost cost;
  cost.bytes_read = 800;
  cost.bytes_written = 200;
  EXPECT_FALSE(raise_ceiling(ceilings, cost, 0.1, "k"));
  Ceilings unknown;
  EXPECT_FALSE(raise_ceiling(unknown, copy_cost(1000), 0.1, "k"));
}

}  // namespace
}  // namespace rooftile
