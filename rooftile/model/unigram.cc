// SPDX-License-Identifier: Apache-2.0
// Unigram: Viterbi over the places between characters. A character that begins no token of its own
// length may always be skipped at the cost of an unknown one, so every text has a path.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "rooftile/model/text_model.h"
#include "rooftile/model/utf8.h"

namespace rooftile {
namespace {

// How much less probable than the least probable token an unknown character is.
constexpr double kUnknownPenalty = 10;

class Unigram final : public TextModel {
 public:
  explicit Unigram(const Vocabulary& vocabulary) : vocabulary_(&vocabulary) {
    const auto& scores = vocabulary.data().scores;
    unknown_score_ = *std::min_element(scores.begin(), scores.end()) - kUnknownPenalty;
  }

  void encode(std::vector<std::int32_t>& ids, std::string_view word) const override {
    if (word.empty()) return;
    const std::vector<Step> best = best_steps(word);
    std::vector<std::size_t> ends;
    for (std::size_t at = word.size(); at != 0; at = best[at].begin) ends.push_back(at);
    std::vector<std::int32_t> own;  // apart, so that unknown tokens do not fuse across words
    std::string_view unknown;
    const auto flush = [&] {
      if (!unknown.empty()) vocabulary_->append_fallback(own, unknown);
      unknown = {};
    };
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const Step& step = best[*end];
      if (step.id >= 0 || !vocabulary_->data().fuse_unknown) flush();
      if (step.id >= 0)
        own.push_back(step.id);
      else
        unknown = unknown.empty()
                      ? word.substr(step.begin, *end - step.begin)
                      : std::string_view(unknown.data(), unknown.size() + *end - step.begin);
    }
    flush();
    ids.insert(ids.end(), own.begin(), own.end());
  }

 private:
  struct Step {
    double score = -std::numeric_limits<double>::infinity();  // of the best path that ends here
    std::size_t begin = 0;                                    // where its last token begins
    std::int32_t id = -1;                                     // -1: an unknown character
  };

  [[nodiscard]] std::vector<Step> best_steps(std::string_view word) const {
    std::vector<Step> best(word.size() + 1);
    best[0].score = 0;
    const auto& scores = vocabulary_->data().scores;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t size = code_point_at(word, at).size;
      bool has_token_of_size = false;
      const auto offer = [&](std::size_t bytes, double score, std::int32_t id) {
        Step& step = best[at + bytes];
        const double total = best[at].score + score;
        if (total > step.score) step = {total, at, id};
      };
      vocabulary_->words().visit_prefixes(word.substr(at), [&](const PrefixIndex::Entry& entry) {
        offer(entry.text.size(), scores[static_cast<std::size_t>(entry.id)], entry.id);
        has_token_of_size |= entry.text.size() == size;
      });
      if (!has_token_of_size) offer(size, unknown_score_, -1);
      at += size;
    }
    return best;
  }

  const Vocabulary* vocabulary_;
  double unknown_score_;
};

}  // namespace

std::unique_ptr<TextModel> make_unigram(const Vocabulary& vocabulary) {
  return std::make_unique<Unigram>(vocabulary);
}

}  // namespace rooftile
