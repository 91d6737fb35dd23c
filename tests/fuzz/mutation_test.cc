// SPDX-License-Identifier: Apache-2.0
// A short fuzz run that is the same every time: each file of the corpus, changed at random places a
// few thousand times. tools/fuzz searches on from the same corpus with coverage as its guide.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/rng.h"
#include "rooftile/base/test_folder.h"
#include "tests/fuzz/targets.h"

namespace rooftile {
namespace {

constexpr int kMutations = 3000;  // of each file

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

void run(const std::string& target, const std::function<void(std::span<const std::byte>)>& read) {
  const std::filesystem::path folder =
      std::filesystem::path(ROOFTILE_SOURCE_DIR) / "tests/fuzz/corpus" / target;
  const Rng rng(1, "mutation." + target);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string seed = text_of_file(entry.path());
    const auto draw = std::hash<std::string>{}(entry.path().filename());
    ++files;
    for (std::uint64_t i = 0; i < kMutations; ++i) {
      const std::string text = i == 0 ? seed : mutated(seed, rng, draw + i * 1000);
      // A copy of exactly this size: a sanitizer sees the first byte past it.
      const std::vector<char> exact(text.begin(), text.end());
      read(std::as_bytes(std::span(exact)));
    }
  }
  EXPECT_GT(files, 0) << folder << " is empty";
}

TEST(Mutation, GgufIsReadOrRefused) { run("gguf", fuzz::gguf); }
TEST(Mutation, SafetensorsIsReadOrRefused) { run("safetensors", fuzz::safetensors); }
TEST(Mutation, ConfigIsReadOrRefused) { run("config", fuzz::config); }

}  // namespace
}  // namespace rooftile
