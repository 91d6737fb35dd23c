// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/text_pipeline.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/model/nfc.h"
#include "rooftile/model/utf8.h"

namespace rooftile {
namespace {

using Kind = SplitStep::Kind;
using Behaviour = SplitStep::Behaviour;

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A text and the words in it, in order; what lies between words was removed.
struct Words {
  std::string text;
  std::vector<Range> ranges;
};

// A stretch of a piece: a match of the step's pattern, or the gap between two.
struct Stretch {
  Range range;
  bool is_match;
};

std::vector<Stretch> stretches(std::string_view piece, const SplitStep& step,
                               const Pattern* pattern) {
  std::vector<Stretch> list;
  std::size_t done = 0;
  const auto gap_to = [&](std::size_t end) {
    if (end > done) list.push_back({{done, end}, step.is_inverted});
    done = end;
  };
  const auto found = [&](std::size_t begin, std::size_t end) {
    gap_to(begin);
    list.push_back({{begin, end}, !step.is_inverted});
    done = end;
  };
  if (pattern == nullptr) {
    for (std::size_t at = piece.find(step.pattern); at != std::string_view::npos;
         at = piece.find(step.pattern, at + step.pattern.size()))
      found(at, at + step.pattern.size());
  } else {
    // Patterns are defined on characters, so a run of bytes that are none is a gap of its own.
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t size = valid_run(piece, at);
      pattern->each_match(piece.substr(at, size),
                          [&](std::size_t begin, std::size_t end) { found(at + begin, at + end); });
      gap_to(at + size);
      at += size + invalid_run(piece, at + size);
      gap_to(at);
    }
  }
  gap_to(piece.size());
  return list;
}

// Whether this stretch continues the word of the one before it.
bool joins(const std::vector<Stretch>& list, std::size_t i, Behaviour behaviour) {
  if (i == 0) return false;
  const bool is_match = list[i].is_match;
  const bool was_match = list[i - 1].is_match;
  if (behaviour == Behaviour::merged_with_previous) return is_match && !was_match;
  if (behaviour == Behaviour::merged_with_next) return was_match && !is_match;
  return behaviour == Behaviour::contiguous && is_match == was_match;
}

void split_piece(std::vector<Range>& out, std::string_view text, Range piece, const SplitStep& step,
                 const Pattern* pattern) {
  const auto list = stretches(text.substr(piece.begin, piece.end - piece.begin), step, pattern);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_match && step.behaviour == Behaviour::removed) continue;
    const Range range{piece.begin + list[i].range.begin, piece.begin + list[i].range.end};
    if (joins(list, i, step.behaviour))
      out.back().end = range.end;
    else
      out.push_back(range);
  }
}

// The steps that write: blanks become the marker, and a missing one is put in front.
Words rewritten(const Words& words, const SplitStep& step, bool is_at_start) {
  Words out;
  for (const Range& range : words.ranges) {
    std::string piece = words.text.substr(range.begin, range.end - range.begin);
    if (step.kind == Kind::prefix_space) {
      if (!piece.starts_with(' ')) piece.insert(0, " ");
    } else {
      piece = replaced(piece, " ", step.pattern);
      const bool is_first = is_at_start && range.begin == 0;
      if ((step.prefix == MarkerPrefix::always ||
           (step.prefix == MarkerPrefix::first && is_first)) &&
          !piece.starts_with(step.pattern))
        piece.insert(0, step.pattern);
    }
    out.ranges.push_back({out.text.size(), out.text.size() + piece.size()});
    out.text += piece;
  }
  return out;
}

}  // namespace

std::string normalised(std::string_view text, const std::vector<NormaliseStep>& steps) {
  std::string out(text);
  for (const NormaliseStep& step : steps) {
    if (out.empty()) break;
    switch (step.kind) {
      case NormaliseStep::Kind::prepend:
        out.insert(0, step.to);
        break;
      case NormaliseStep::Kind::replace:
        out = replaced(out, step.from, step.to);
        break;
      case NormaliseStep::Kind::nfc:
        out = nfc(out);
        break;
    }
  }
  return out;
}

Splitter::Splitter(const std::vector<SplitStep>& steps) {
  for (const SplitStep& step : steps) {
    if (step.kind != Kind::prefix_space && step.pattern.empty())
      fail_input("pre-tokenizer step without a pattern");
    Step& made = steps_.emplace_back(Step{step, {}});
    if (step.kind == Kind::regex) made.pattern.emplace_back(step.pattern);
  }
}

void Splitter::each_word(std::string_view text, bool is_at_start,
                         FunctionRef<void(std::string_view)> word) const {
  Words words{std::string(text), {{0, text.size()}}};
  if (text.empty()) return;
  for (const Step& step : steps_) {
    if (step.step.kind == Kind::metaspace || step.step.kind == Kind::prefix_space) {
      words = rewritten(words, step.step, is_at_start);
      continue;
    }
    std::vector<Range> pieces;
    const Pattern* pattern = step.pattern.empty() ? nullptr : step.pattern.data();
    for (const Range& piece : words.ranges)
      split_piece(pieces, words.text, piece, step.step, pattern);
    words.ranges = std::move(pieces);
  }
  for (const Range& range : words.ranges)
    word(std::string_view(words.text).substr(range.begin, range.end - range.begin));
}

}  // namespace rooftile
