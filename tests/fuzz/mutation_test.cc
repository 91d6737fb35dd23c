// SPDX-License-Identifier: Apache-2.0
// A short fuzz run that is the same every time: the files of each target's corpus, changed at
// random places a few thousand times. tools/fuzz searches on from there with coverage as its guide.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/rng.h"
#include "rooftile/base/test_folder.h"
#include "tests/fuzz/targets.h"

namespace rooftile {
namespace {

constexpr std::uint64_t kMutations = 6000;  // of each target

// Numbers at which arithmetic on sizes goes wrong.
constexpr std::uint64_t kOdd[]{0,
                               1,
                               0x7f,
                               0xff,
                               0xffff,
                               0x7fffffff,
                               0xffffffff,
                               std::uint64_t{1} << 61,
                               std::uint64_t{1} << 63,
                               ~std::uint64_t{0}};

std::string mutated(std::string text, const Rng& rng, std::uint64_t draw) {
  const auto next = [&](std::size_t n) { return static_cast<std::size_t>(rng.below(draw++, n)); };
  const std::size_t changes = 1 + next(4);
  for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = next(text.size());
    switch (next(6)) {
      case 0:
        text[at] = static_cast<char>(next(256));
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << next(8)));
        break;
      case 2:
        text.resize(at);
        break;
      case 3: {
        const std::uint64_t odd = kOdd[next(std::size(kOdd))];
        const std::size_t width = std::min<std::size_t>(text.size() - at, next(2) == 0 ? 4 : 8);
        text.replace(at, width, reinterpret_cast<const char*>(&odd), width);
        break;
      }
      case 4:
        text.insert(at, text.substr(next(text.size()), next(40)));
        break;
      default:
        text.erase(at, next(20));
    }
  }
  return text;
}

std::vector<std::string> corpus(std::string_view target) {
  const std::filesystem::path folder =
      std::filesystem::path(ROOFTILE_SOURCE_DIR) / "tests/fuzz/corpus" / target;
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    texts.push_back(text_of_file(entry.path()));
  std::ranges::sort(texts);
  return texts;
}

class Mutation : public testing::TestWithParam<fuzz::Target> {};

TEST_P(Mutation, IsReadOrRefused) {
  const std::vector<std::string> seeds = corpus(GetParam().name);
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) EXPECT_NO_THROW(GetParam().read(seed)) << seed;
  const Rng rng(1, "mutation." + std::string(GetParam().name));
  for (std::uint64_t i = 0; i < kMutations; ++i) {
    const std::string text = mutated(seeds[i % seeds.size()], rng, i * 1000);
    // A copy of exactly this size: a sanitizer sees the first byte past it.
    const std::vector<char> exact(text.begin(), text.end());
    try {
      (void)accepts(GetParam(), {exact.data(), exact.size()});
    } catch (const std::exception& fault) {
      FAIL() << fault.what() << " from:\n" << text;
    }
  }
}

std::string name_of(const testing::TestParamInfo<fuzz::Target>& info) {
  return std::string(info.param.name);
}

INSTANTIATE_TEST_SUITE_P(Models, Mutation, testing::ValuesIn(fuzz::model_targets()), name_of);
INSTANTIATE_TEST_SUITE_P(Texts, Mutation, testing::ValuesIn(fuzz::text_targets()), name_of);

}  // namespace
}  // namespace rooftile
