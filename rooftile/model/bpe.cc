// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding: of all neighbours that may merge, the best do, the leftmost first among
// equals. Symbols are a linked list and candidates a heap, so that a word of n bytes takes O(n log
// n).
#include <cstddef>
#include <queue>
#include <string>
#include <unordered_map>

#include "rooftile/base/error.h"
#include "rooftile/base/rng.h"
#include "rooftile/model/text_model.h"
#include "rooftile/model/utf8.h"

namespace rooftile {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Symbol {
  std::string_view text;  // empty once it was merged into its neighbour
  std::int32_t id;        // -1: no token
  std::size_t before;
  std::size_t after;
};

struct Result {
  double cost;      // less is better: the rank of the merge, or the negative score
  std::int32_t id;  // of the token that results; -1: the two do not merge
};

struct Candidate {
  double cost;
  std::size_t left;
  std::size_t right;
  std::size_t bytes;  // of both when it was found; another number now means that it is stale
  std::int32_t id;

  bool operator<(const Candidate& other) const {  // the greatest leaves a heap first
    return cost != other.cost ? cost > other.cost : left > other.left;
  }
};

class Bpe final : public TextModel {
 public:
  explicit Bpe(const Vocabulary& vocabulary) : vocabulary_(&vocabulary) {
    const std::vector<Merge>& merges = vocabulary.data().merges;
    merges_.reserve(merges.size());
    for (std::size_t rank = 0; rank < merges.size(); ++rank) add_merge(merges[rank], rank);
  }

  void encode(std::vector<std::int32_t>& ids, std::string_view word) const override {
    if (word.empty()) return;
    if (vocabulary_->data().ignore_merges) {
      const std::int32_t whole = vocabulary_->words().find(word);
      if (whole >= 0) return ids.push_back(whole);
    }
    std::vector<Symbol> symbols = symbols_of(word);
    merge(symbols);
    std::vector<std::int32_t> own;  // apart, so that unknown tokens do not fuse across words
    for (const Symbol& symbol : symbols) {
      if (symbol.text.empty()) continue;
      if (symbol.id >= 0)
        own.push_back(symbol.id);
      else
        vocabulary_->append_fallback(own, symbol.text);
    }
    ids.insert(ids.end(), own.begin(), own.end());
  }

 private:
  struct PairHash {
    std::size_t operator()(std::uint64_t pair) const { return Rng::mix(pair); }
  };

  [[nodiscard]] bool is_byte_level() const {
    return vocabulary_->data().kind == TokenizerKind::byte_level_bpe;
  }

  static std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
           static_cast<std::uint32_t>(right);
  }

  void add_merge(const Merge& merge, std::size_t rank) {
    const auto id_of = [&](const std::string& token) {
      const std::int32_t id = vocabulary_->find(token);
      if (id < 0)
        fail_input("tokenizer: merge " + std::to_string(rank) + ", '" + merge.left + "' and '" +
                   merge.right + "': '" + token + "' is no token");
      return id;
    };
    const std::int32_t left = id_of(merge.left);
    const std::int32_t right = id_of(merge.right);
    const std::int32_t whole = id_of(merge.left + merge.right);
    // Why: text becomes a control token only where it is looked for.
    if (vocabulary_->type(whole) == TokenType::control) return;
    merges_.try_emplace(pair_of(left, right), Result{static_cast<double>(rank), whole});
  }

  [[nodiscard]] std::vector<Symbol> symbols_of(std::string_view word) const {
    std::vector<Symbol> symbols;
    const auto add = [&](std::string_view text, std::int32_t id) {
      symbols.push_back({text, id, symbols.size() - 1, symbols.size() + 1});
    };
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t size = is_byte_level() ? 1 : code_point_at(word, at).size;
      const std::string_view text = word.substr(at, size);
      const std::int32_t id = vocabulary_->words().find(text);
      // Merges by rank are of tokens, byte tokens too; merges by score are of texts.
      if (id < 0 && !merges_.empty() && vocabulary_->has_bytes_of(text)) {
        for (std::size_t i = 0; i < size; ++i)
          add(text.substr(i, 1), vocabulary_->byte_token(text[i]));
      } else {
        add(text, id);
      }
      at += size;
    }
    symbols.back().after = kNone;
    return symbols;
  }

  [[nodiscard]] Result result_of(const Symbol& left, const Symbol& right) const {
    if (!merges_.empty()) {
      const auto found = merges_.find(pair_of(left.id, right.id));
      return found == merges_.end() ? Result{0, -1} : found->second;
    }
    const std::size_t bytes = left.text.size() + right.text.size();
    if (bytes > vocabulary_->words().longest()) return {0, -1};
    const std::int32_t id = vocabulary_->words().find({left.text.data(), bytes});
    const auto& scores = vocabulary_->data().scores;
    return {id < 0 ? 0 : -scores[static_cast<std::size_t>(id)], id};
  }

  void merge(std::vector<Symbol>& symbols) const {
    std::vector<Candidate> storage;
    storage.reserve(symbols.size());
    std::priority_queue<Candidate> heap({}, std::move(storage));
    const auto consider = [&](std::size_t left, std::size_t right) {
      if (left == kNone || right == kNone) return;
      const Result result = result_of(symbols[left], symbols[right]);
      if (result.id < 0) return;
      const std::size_t bytes = symbols[left].text.size() + symbols[right].text.size();
      heap.push({result.cost, left, right, bytes, result.id});
    };
    for (std::size_t i = 1; i < symbols.size(); ++i) consider(i - 1, i);
    while (!heap.empty()) {
      const Candidate best = heap.top();
      heap.pop();
      Symbol& left = symbols[best.left];
      Symbol& right = symbols[best.right];
      const bool is_stale = left.text.empty() || right.text.empty() ||
                            left.text.size() + right.text.size() != best.bytes;
      if (is_stale) continue;
      left.text = {left.text.data(), best.bytes};
      left.id = best.id;
      left.after = right.after;
      right.text = {};
      if (left.after != kNone) symbols[left.after].before = best.left;
      consider(left.before, best.left);
      consider(best.left, left.after);
    }
  }

  const Vocabulary* vocabulary_;
  std::unordered_map<std::uint64_t, Result, PairHash> merges_{};
};

}  // namespace

std::unique_ptr<TextModel> make_bpe(const Vocabulary& vocabulary) {
  return std::make_unique<Bpe>(vocabulary);
}

}  // namespace rooftile
