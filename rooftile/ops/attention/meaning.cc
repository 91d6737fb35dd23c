// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/attention/meaning.h"

#include <cmath>
#include <limits>

#include "rooftile/base/parallel.h"

namespace rooftile::ops::attention {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::int64_t integer(const Array& array, std::int64_t i) {
  return static_cast<std::int64_t>(array[i]);
}

struct Key {
  double score = 0;
  double error = 0;           // of the score, in units of its rounding
  const double* v = nullptr;  // null: the page does not exist
};

// One query head against the keys that it sees.
class Row {
 public:
  Row(const Problem& problem, const Values& values, const RowPlace& place, std::int64_t row,
      std::int64_t head)
      : problem_(problem), values_(values), place_(place), row_(row), head_(head) {
    const std::int64_t heads = problem.axis("heads");
    kv_head_ = head / (heads / problem.axis("kv_heads"));
    q_ = values["q"].values.data() + (row * heads + head) * dim_;
  }

  [[nodiscard]] Key key(std::int64_t j) const {
    const std::int64_t page_size = problem_.axis("page_size");
    const Array& table = values_["page_table"];
    const std::int64_t page =
        integer(table, place_.sequence * problem_.axis("max_pages") + j / page_size);
    if (page < 0 || page >= problem_.axis("pages")) return {.score = kNan};
    const std::int64_t kv_heads = problem_.axis("kv_heads");
    const std::int64_t start = ((page * page_size + j % page_size) * kv_heads + kv_head_) * dim_;
    Key key = scored(values_["k_cache"].values.data() + start, j);
    key.v = values_["v_cache"].values.data() + start;
    return key;
  }

 private:
  [[nodiscard]] Key scored(const double* k, std::int64_t j) const {
    double dot = 0;
    double q_square = 0;
    double k_square = 0;
    for (std::int64_t d = 0; d < dim_; ++d) {
      dot += q_[d] * k[d];
      q_square += q_[d] * q_[d];
      k_square += k[d] * k[d];
    }
    const double scale = scale_of(problem_);
    const double cap = problem_.number("softcap");
    double score = scale * dot;
    if (cap > 0) score = cap * std::tanh(score / cap);
    double slope_part = 0;
    if (problem_.has("slopes"))
      slope_part = values_["slopes"][head_] * static_cast<double>(j - place_.position);
    score += slope_part;
    const double bias = bias_of(j);
    score += bias;
    if (score == -kInfinity) return {.score = score};  // its weight is 0, exactly
    // The dot product's chain of roundings (Cauchy and Schwarz), those of tanh, and the score's
    // own.
    const double chain = std::sqrt(static_cast<double>(dim_) * q_square * k_square) * scale;
    return {.score = score,
            .error = chain + 4 * cap + std::abs(slope_part) + std::abs(bias) + std::abs(score)};
  }

  // 0 without a bias; NaN for a key beyond it.
  [[nodiscard]] double bias_of(std::int64_t j) const {
    if (!problem_.has("bias")) return 0;
    const std::int64_t heads = problem_.axis("bias_heads");
    const std::int64_t keys = problem_.axis("bias_keys");
    if (j >= keys) return kNan;
    return values_["bias"][(row_ * heads + (heads > 1 ? head_ : 0)) * keys + j];
  }

  const Problem& problem_;
  const Values& values_;
  const RowPlace& place_;
  std::int64_t row_;
  std::int64_t head_;
  std::int64_t dim_ = problem_.axis("head_dim");
  std::int64_t kv_head_ = 0;
  const double* q_ = nullptr;
};

struct Outputs {
  double* out;
  double* out_magnitude;
  double* lse;  // null: not asked for
  double* lse_magnitude;
};

void attend(const Row& row, const KeyRange& range, std::int64_t dim, const Outputs& to) {
  std::vector<Key> keys;
  double most = -kInfinity;
  for (std::int64_t j = range.begin; j < range.end; ++j) {
    keys.push_back(row.key(j));
    most = std::max(most, keys.back().score);
  }
  double sum = 0;
  double worst = 0;
  for (Key& key : keys) {
    key.score = key.score == -kInfinity ? 0 : std::exp(key.score - most);
    sum += key.score;  // a NaN makes the row one
    if (key.score > 0) worst = std::max(worst, key.error);
  }
  const double roundings = std::sqrt(static_cast<double>(keys.size()));  // of the sums over keys
  for (const Key& key : keys)
    for (std::int64_t d = 0; d < dim && sum != 0; ++d) {
      const double term = key.score / sum * (key.v != nullptr ? key.v[d] : kNan);
      to.out[d] += term;
      to.out_magnitude[d] += std::abs(term) * (roundings + key.error);
    }
  if (to.lse == nullptr) return;
  *to.lse = sum == 0 ? -kInfinity : most + std::log(sum);
  *to.lse_magnitude = sum == 0 ? 0 : roundings + worst + std::abs(most);
}

}  // namespace

std::int64_t capacity(const Problem& problem) {
  return checked_product({problem.axis("max_pages"), problem.axis("page_size")},
                         "max_pages * page_size");
}

double scale_of(const Problem& problem) {
  const double scale = problem.number("scale");
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(problem.axis("head_dim")));
}

RowPlace place_of(const Problem& problem, const Values& values, std::int64_t row) {
  const Array& starts = values["q_starts"];
  const std::int64_t sequences = problem.axis("sequences");
  if (!are_offsets_valid([&](std::int64_t i) { return integer(starts, i); }, sequences + 1,
                         problem.axis("tokens")))
    return {.is_invalid = true};
  for (std::int64_t s = 0; s < sequences; ++s) {
    const std::int64_t begin = integer(starts, s);
    const std::int64_t end = integer(starts, s + 1);
    if (row < begin || row >= end) continue;
    const std::int64_t length = integer(values["kv_lengths"], s);
    if (length < 0 || length > capacity(problem)) return {.sequence = s, .is_invalid = true};
    const Mask mask = parse_mask(problem.option("mask"));
    const std::int64_t position = position_of(mask, row - begin, end - begin, length);
    return {.sequence = s,
            .position = position,
            .keys = visible_keys(mask, static_cast<std::int64_t>(problem.number("window")),
                                 position, length)};
  }
  return {};
}

void meaning(const Problem& problem, Values& values) {
  const std::int64_t heads = problem.axis("heads");
  const std::int64_t dim = problem.axis("head_dim");
  Array& out = values["out"];
  Array* lse = problem.has("lse") ? &values["lse"] : nullptr;
  out.magnitude.assign(out.values.size(), 0);
  if (lse != nullptr) lse->magnitude.assign(lse->values.size(), 0);
  constexpr std::int64_t kKeys = 64;  // as if each row had as many
  for_each_row(problem.axis("tokens"), heads * dim * kKeys, [&](std::int64_t r) {
    const RowPlace place = place_of(problem, values, r);
    for (std::int64_t h = 0; h < heads; ++h) {
      const std::int64_t index = r * heads + h;
      const Outputs to{out.values.data() + index * dim, out.magnitude.data() + index * dim,
                       lse != nullptr ? lse->values.data() + index : nullptr,
                       lse != nullptr ? lse->magnitude.data() + index : nullptr};
      std::fill_n(to.out, dim, place.is_invalid ? kNan : 0);
      if (!place.is_invalid)
        attend(Row(problem, values, place, r, h), place.keys, dim, to);
      else if (to.lse != nullptr)
        *to.lse = kNan;
    }
  });
}

bool row_alone(const Problem& problem, const Values& batch, std::int64_t row, Values& alone) {
  const RowPlace place = place_of(problem, batch, row);
  if (place.is_invalid || place.sequence < 0) return false;
  const Mask mask = parse_mask(problem.option("mask"));
  Array& length = alone["kv_lengths"];
  if (mask == Mask::causal_bottom_right)
    length[place.sequence] = static_cast<double>(place.position + 1);
  const std::int64_t position = position_of(mask, 0, 1, integer(length, place.sequence));
  if (position != place.position && (mask != Mask::none || problem.has("slopes"))) return false;
  if (length[place.sequence] < 0) return false;
  for (std::int64_t s = 0; s <= problem.axis("sequences"); ++s)
    alone["q_starts"][s] = s > place.sequence ? 1 : 0;
  return true;
}

}  // namespace rooftile::ops::attention
