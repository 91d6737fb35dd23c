// SPDX-License-Identifier: Apache-2.0
// The published split patterns of models, by the names that GGUF files give them.
#include <array>
#include <string>

#include "rooftile/base/error.h"
#include "rooftile/model/text_pipeline.h"

namespace rooftile {

// GPT-2: contractions, then a word, a number or signs, each with the blank before it.
const char* const kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

// Llama 3: digits in threes, signs keep the line ends that follow.
constexpr const char* kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Qwen 2: the same with digits one by one.
constexpr const char* kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kEachDigit = R"(\p{N})";

struct Named {
  const char* name;
  std::array<const char*, 4> patterns;  // applied one after the other; null: none
};

const std::array kNamed{
    // What converters write for a model that they do not know.
    Named{"default",
          {R"([\p{P}\$\+<=>\^~\|]+)",
           R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))", R"(\p{N}+)",
           "[0-9][0-9][0-9]"}},
    Named{"gpt-2", {kGpt2Pattern}},
    Named{"phi-2", {kGpt2Pattern}},
    Named{"mpt", {kGpt2Pattern}},
    Named{"olmo", {kGpt2Pattern}},
    Named{"smollm", {kEachDigit, kGpt2Pattern}},
    Named{"starcoder", {kEachDigit, kGpt2Pattern}},
    Named{"refact", {kEachDigit, kGpt2Pattern}},
    Named{"command-r", {kEachDigit, kGpt2Pattern}},
    Named{"llama-bpe", {kLlama3Pattern}},
    Named{"llama-v3", {kLlama3Pattern}},
    Named{"llama3", {kLlama3Pattern}},
    Named{"falcon3", {kLlama3Pattern}},
    Named{"qwen2", {kQwen2Pattern}},
    Named{"stablelm2", {kQwen2Pattern}},
    Named{"deepseek-r1-qwen", {kQwen2Pattern}},
};

}  // namespace

std::vector<SplitStep> splitter_named(std::string_view name) {
  std::vector<std::string> known;
  for (const Named& row : kNamed) {
    known.emplace_back(row.name);
    if (name != row.name) continue;
    std::vector<SplitStep> steps;
    for (const char* pattern : row.patterns)
      if (pattern != nullptr) steps.push_back({.kind = SplitStep::Kind::regex, .pattern = pattern});
    return steps;
  }
  fail_input(unknown_name("pre-tokenizer", name, known));
}

}  // namespace rooftile
