// SPDX-License-Identifier: Apache-2.0
// Every kernel for sm90 on the simulated H200, under several schedules: right, and without a race,
// a missing wait, an access out of bounds or a read of what nobody wrote.
#include "rooftile/device/sim/sim_device.h"
#include "tests/verify_support.h"

namespace rooftile {
namespace {

constexpr VerifyOptions kOptions{.repeats = 2, .schedules = 4};

class EverySm90Kernel : public testing::TestWithParam<KernelAndSet> {};

TEST_P(EverySm90Kernel, IsRightOnTheSet) {
  expect_right(GetParam(), *make_sim_device("h200"), kOptions);
}

INSTANTIATE_TEST_SUITE_P(Sim, EverySm90Kernel,
                         testing::Combine(testing::ValuesIn(kernels_for(Target::sm90)),
                                          testing::Values("smoke", "ci", "edges")),
                         test_name);

}  // namespace
}  // namespace rooftile
