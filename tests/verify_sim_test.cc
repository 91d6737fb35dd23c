// SPDX-License-Identifier: Apache-2.0
// Every kernel for sm90 on the simulated H200, under several schedules: right, and without a race,
// a missing wait, an access out of bounds or a read of what nobody wrote.
#include "rooftile/device/sim/sim_device.h"
#include "tests/hard_rows.h"
#include "tests/verify_support.h"

namespace rooftile {
namespace {

constexpr VerifyOptions kOptions{.repeats = 2, .schedules = 3};

class EverySm90Kernel : public testing::TestWithParam<KernelAndSet> {};

TEST_P(EverySm90Kernel, IsRightOnTheSet) {
  expect_right(GetParam(), *make_sim_device("h200"), kOptions);
}

INSTANTIATE_TEST_SUITE_P(Sim, EverySm90Kernel,
                         testing::Combine(testing::ValuesIn(kernels_for(Target::sm90)),
                                          testing::Values("smoke", "ci", "edges")),
                         test_name);

TEST(HardRows, AreRight) { expect_all_right_on_hard_rows(*make_sim_device("h200")); }

// Persistent blocks go on with what the tile before left in their barriers: problems of more tiles
// than an H200 has compute units, each of more steps than the ring has stages, which are too large
// for the sets.
TEST(PersistentKernels, AreRightBeyondTheirFirstTile) {
  const std::unique_ptr<SimDevice> device = make_sim_device("h200");
  for (const char* line : {"gemm/sm90_ws m=17032 n=8 k=520 a=bf16 layout=nt",
                           "gemm/sm90_stream m=4 n=17200 k=264 a=bf16 layout=nt",
                           "gemm_glu/sm90_ws m=17032 n=8 k=392 a=bf16 layout=nt"}) {
    const Problem problem = catalogue().bind(line);
    const Operation& operation = catalogue().operation(problem.op);
    const Record record = verify(*operation.def, operation.kernel(problem.kernel), problem, *device,
                                 {.repeats = 1, .schedules = 2});
    EXPECT_EQ(record.status, Status::passed) << record.command << "\n  " << record.reason;
  }
}

}  // namespace
}  // namespace rooftile
