// SPDX-License-Identifier: Apache-2.0
// Every kernel of the catalogue that runs on this processor, on the cases of every small set. CMake
// runs this program once for each instruction set: ROOFTILE_ISA is read once in a process.
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/device/cpu/cpu_device.h"
#include "rooftile/device/cpu/isa.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/workbench/verify.h"

namespace rooftile {
namespace {

struct OneKernel {
  std::string op;
  std::string kernel;
};

std::vector<OneKernel> cpu_kernels() {
  std::vector<OneKernel> list;
  for (const Operation& operation : catalogue().operations())
    for (const KernelDef* kernel : operation.kernels)
      if (kernel->target == Target::cpu) list.push_back({operation.def->name, kernel->name});
  return list;
}

class EveryKernel : public testing::TestWithParam<std::tuple<OneKernel, std::string>> {};

TEST_P(EveryKernel, IsRightOnTheSet) {
  const auto& [kernel, set] = GetParam();
  const TestCache cache;
  const auto device = make_cpu_device(2);
  int unsupported = 0;
  const VerifyCounts counts = verify_all(
      catalogue().operation(kernel.op), *device,
      {.kernel = kernel.kernel, .sets = {set}, .options = {}}, [&](const Record& record) {
        unsupported += record.status == Status::unsupported ? 1 : 0;
        if (record.status == Status::unsupported) {
          EXPECT_NE(record.reason, "") << record.command;
        } else {
          EXPECT_EQ(record.status, Status::passed) << record.command << "\n  " << record.reason;
        }
      });
  EXPECT_EQ(counts.failed, 0) << "on " << name(cpu_isa());
  EXPECT_EQ(counts.invalid, 0);
  EXPECT_EQ(counts.unsupported, unsupported);
  EXPECT_GT(counts.passed + counts.unsupported, 0) << "nothing ran";
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryKernel,
                         testing::Combine(testing::ValuesIn(cpu_kernels()),
                                          testing::Values("smoke", "ci", "edges")),
                         [](const auto& test) {
                           const OneKernel& kernel = std::get<0>(test.param);
                           return kernel.op + "_" + kernel.kernel + "_" + std::get<1>(test.param);
                         });

// A catalogue whose kernels all decline would pass the above.
TEST(EveryOperation, HasAKernelForEveryCase) {
  const auto device = make_cpu_device(1);
  for (const Operation& operation : catalogue().operations())
    for (const Problem& problem : problems_of(*operation.def, "all")) {
      bool is_supported = false;
      for (const KernelDef* kernel : operation.kernels)
        is_supported |= static_cast<bool>(supports(*kernel, problem, device->properties()));
      EXPECT_TRUE(is_supported) << problem.text();
    }
}

TEST(EveryOperation, IsDeclaredWithoutFault) {
  EXPECT_GE(catalogue().operations().size(), 3U);
  for (const Operation& operation : catalogue().operations()) {
    EXPECT_TRUE(declaration_errors(*operation.def).empty());
    for (const char* set : {"smoke", "ci", "edges"})
      EXPECT_FALSE(problems_of(*operation.def, set).empty()) << operation.def->name << " " << set;
    for (const Case& entry : operation.def->cases)
      EXPECT_NO_THROW((void)catalogue().bind(operation.def->name + " " + entry.text)) << entry.text;
  }
}

}  // namespace
}  // namespace rooftile
