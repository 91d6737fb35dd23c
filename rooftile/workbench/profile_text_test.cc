// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/profile_text.h"

#include <gmock/gmock.h>

#include "rooftile/base/console.h"
#include "rooftile/base/text.h"
#include "rooftile/workbench/profile_sample.h"

namespace rooftile {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProfileText, FitsTheWidth) {
  for (const int columns : {76, 80, 100, 120}) {
    const std::string text = profile_text(sample::profile(), {.columns = columns});
    for (const std::string& line : split(text, '\n'))
      EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
  }
}

TEST(ProfileText, HasEveryPart) {
  const std::string text = profile_text(sample::profile());
  for (const char* part :
       {"Profile of synthetic:sample-135m", "tokens/s", "Prefill MFU", "Capture cost of decode",
        "3 pairs", "prefill, 2 passes", "decode, 16 passes", "toy_linear/cpu_rows", "lm_head",
        "Roofline", "The arithmetic of decode", "Fusion: what each pair", "traffic in cache",
        "Layouts", "What to do next, in this order", "1. Verify toy_rotate/cpu_plain",
        "note: the weights are synthetic"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(ProfileText, ColourOnlyWhenWanted) {
  EXPECT_THAT(profile_text(sample::profile()), Not(HasSubstr("\033")));
  EXPECT_THAT(profile_text(sample::profile(), {.has_colour = true}), HasSubstr("\033"));
}

TEST(ProfileText, NamesCannotMoveTheCursor) {
  Profile profile = sample::profile();
  const std::string hostile = "\033[2J\rx\n";
  profile.model.name = profile.model.command = profile.device.description = hostile;
  profile.phases[0].kernels[0].name = profile.phases[0].roles[0].name = hostile;
  profile.phases[0].kernels[0].bound = profile.phases[0].mfu_unit = hostile;
  profile.fusion[0].producer = profile.layouts[0].role = profile.advice[0].why = hostile;
  profile.notes[0] = profile.decode->unit = hostile;
  const std::string text = profile_text(profile);
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

}  // namespace
}  // namespace rooftile
