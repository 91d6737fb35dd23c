// SPDX-License-Identifier: Apache-2.0
// The fuzzers' corpus, changed in a few thousand ways that are the same each time: every change is
// accepted or refused with Error, nothing else. The fuzzers themselves go further (tests/fuzz).
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rooftile/base/rng.h"
#include "rooftile/base/test_folder.h"

// Why: each of the files defines the one function that libFuzzer calls.
#define LLVMFuzzerTestOneInput try_tokenizer_json
#include "tests/fuzz/fuzz_tokenizer_json.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput try_chat_template
#include "tests/fuzz/fuzz_chat_template.cc"
#undef LLVMFuzzerTestOneInput

namespace rooftile {
namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);

std::vector<std::string> corpus(const std::string& name) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ROOFTILE_SOURCE_DIR) +
                                                               "/tests/fuzz/corpus/" + name))
    texts.push_back(text_of_file(entry.path()));
  std::sort(texts.begin(), texts.end());
  return texts;
}

// A text with up to four changes: bytes replaced, runs removed, doubled, or taken from another
// place.
std::string changed(std::string text, const Rng& rng, std::uint64_t round) {
  std::uint64_t draw = round * 64;
  const auto below = [&](std::size_t bound) {
    return static_cast<std::size_t>(rng.below(draw++, static_cast<std::int64_t>(bound)));
  };
  for (std::size_t left = 1 + below(4); left > 0 && !text.empty(); --left) {
    const std::size_t at = below(text.size());
    const std::size_t size = 1 + below(12);
    switch (below(4)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(at, text.substr(at, size));
        break;
      default:
        text.insert(at, text.substr(below(text.size()), size));
        break;
    }
  }
  return text;
}

void run(const std::string& name, Target target, std::uint64_t rounds) {
  const std::vector<std::string> texts = corpus(name);
  ASSERT_FALSE(texts.empty());
  const Rng rng(1, name);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::string text = changed(texts[round % texts.size()], rng, round);
    ASSERT_EQ(target(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), 0);
  }
}

TEST(Mutations, OfTokenizerJsonAreAcceptedOrRefused) {
  run("tokenizer_json", try_tokenizer_json, 4000);
}

TEST(Mutations, OfChatTemplatesAreAcceptedOrRefused) {
  run("chat_template", try_chat_template, 4000);
}

}  // namespace
}  // namespace rooftile
