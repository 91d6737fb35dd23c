// SPDX-License-Identifier: Apache-2.0
// Verifies one kernel of the catalogue on one set of cases, as tests of a whole device do.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/workbench/verify.h"

namespace rooftile {

struct OneKernel {
  std::string op;
  std::string kernel;
};
using KernelAndSet = std::tuple<OneKernel, std::string>;

inline std::vector<OneKernel> kernels_for(Target target) {
  std::vector<OneKernel> list;
  for (const Operation& operation : catalogue().operations())
    for (const KernelDef* kernel : operation.kernels)
      if (kernel->target == target) list.push_back({operation.def->name, kernel->name});
  return list;
}

inline std::string test_name(const testing::TestParamInfo<KernelAndSet>& test) {
  const OneKernel& kernel = std::get<0>(test.param);
  return kernel.op + "_" + kernel.kernel + "_" + std::get<1>(test.param);
}

inline void expect_right(const KernelAndSet& subject, Device& device,
                         const VerifyOptions& options) {
  const auto& [kernel, set] = subject;
  const TestCache cache;
  int unsupported = 0;
  const VerifyCounts counts = verify_all(
      catalogue().operation(kernel.op), device,
      {.kernel = kernel.kernel, .sets = {set}, .options = options}, [&](const Record& record) {
        unsupported += record.status == Status::unsupported ? 1 : 0;
        if (record.status == Status::unsupported) {
          EXPECT_NE(record.reason, "") << record.command;
        } else {
          EXPECT_EQ(record.status, Status::passed) << record.command << "\n  " << record.reason;
        }
      });
  EXPECT_EQ(counts.failed, 0) << "on " << device.properties().kind;
  EXPECT_EQ(counts.invalid, 0);
  EXPECT_EQ(counts.unsupported, unsupported);
  EXPECT_GT(counts.passed + counts.unsupported, 0) << "nothing ran";
}

}  // namespace rooftile
