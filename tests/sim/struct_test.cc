// SPDX-License-Identifier: Apache-2.0
// A copy of a struct reads its padding, which nobody writes.
#include <gtest/gtest.h>

#include "tests/sim/sim_test_support.h"
#include "tests/sim/struct_parameters.h"

extern const rooftile::KernelTable struct_kernels;

namespace rooftile::sim_test {
namespace {

template <class T>
void expect_padding_is_free(const std::string& type) {
  for (int fault = 0; fault <= 2; ++fault)
    for (const SimOptions& options : schedules(2)) {
      Simulated sim;
      sim.device->set_options(options);
      const std::string kernel = "copy_structs<" + type + ", " + std::to_string(fault) + ">";
      const SimLaunch launch =
          sim.run(struct_kernels, kernel, {{1}, {32}}, sim.memory<T>(32), sim.memory<T>(64));
      EXPECT_EQ(has(launch, FindingKind::uninitialised), fault != 0) << kernel << "\n"
                                                                     << findings(launch);
      if (fault == 0) {
        EXPECT_EQ(findings(launch), "");
      }
    }
}

TEST(SimStruct, PaddingNeedsNoWrite) {
  expect_padding_is_free<struct_test::Narrow>("Narrow");
  expect_padding_is_free<struct_test::Wide>("Wide");
}

}  // namespace
}  // namespace rooftile::sim_test
