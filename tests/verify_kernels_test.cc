// SPDX-License-Identifier: Apache-2.0
// Every kernel of the catalogue that runs on this processor, on the cases of every small set. CMake
// runs this program once for each instruction set: ROOFTILE_ISA is read once in a process.
#include "rooftile/device/cpu/cpu_device.h"
#include "tests/hard_rows.h"
#include "tests/verify_support.h"

namespace rooftile {
namespace {

class EveryKernel : public testing::TestWithParam<KernelAndSet> {};

TEST_P(EveryKernel, IsRightOnTheSet) { expect_right(GetParam(), *make_cpu_device(2), {}); }

INSTANTIATE_TEST_SUITE_P(Cpu, EveryKernel,
                         testing::Combine(testing::ValuesIn(kernels_for(Target::cpu)),
                                          testing::Values("smoke", "ci", "edges")),
                         test_name);

TEST(HardRows, AreRight) { expect_all_right_on_hard_rows(*make_cpu_device(2)); }

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
