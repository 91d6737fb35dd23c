// SPDX-License-Identifier: Apache-2.0
// The formula as loops over one (row, head) at a time, in double, any strides: the first rung of
// the ladder, and the kernel for views that the vector kernel does not take. Scores are computed
// again for each pass, so that nothing needs to be kept.
#include <cmath>
#include <limits>

#include "rooftile/formats/typed.h"
#include "rooftile/op/kernel.h"
#include "rooftile/ops/attention/meaning.h"

namespace rooftile::ops::attention {
namespace {

constexpr std::int64_t kBlock = 64;  // elements of a head that are summed in one pass
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double load(const TensorView& view, std::int64_t offset) {
  return with_float_type(view.dtype, [&](auto type) {
    return double{static_cast<float>(view.as<const decltype(type)>()[offset])};
  });
}

void store(const TensorView& view, std::int64_t offset, double value) {
  with_float_type(view.dtype, [&](auto type) {
    view.as<decltype(type)>()[offset] = from_float<decltype(type)>(static_cast<float>(value));
  });
}

std::int64_t integer(const TensorView& view, std::int64_t offset) {
  return view.as<const std::int32_t>()[offset];
}

class Head {
 public:
  Head(const Arguments& args, std::int64_t row, std::int64_t head)
      : args_(args),
        problem_(args.problem()),
        row_(row),
        head_(head),
        kv_head_(head / (problem_.axis("heads") / problem_.axis("kv_heads"))) {
    find_place();
  }

  void run() const {
    double most = -kInfinity;
    for (std::int64_t j = place_.keys.begin; j < place_.keys.end; ++j)
      most = std::max(most, score(j));
    double sum = place_.is_invalid ? kNan : 0;
    for (std::int64_t j = place_.keys.begin; j < place_.keys.end; ++j) sum += weight(j, most);
    for (std::int64_t d = 0; d < dim_; d += kBlock) write(d, std::min(d + kBlock, dim_), most, sum);
    const TensorView& lse = args_["lse"];
    if (lse.is_present())
      lse.as<float>()[row_ * lse.stride(0) + head_ * lse.stride(1)] =
          static_cast<float>(sum == 0 ? -kInfinity : most + std::log(sum));
  }

 private:
  void find_place() {
    const TensorView& starts = args_["q_starts"];
    const auto start = [&](std::int64_t s) { return integer(starts, s * starts.stride(0)); };
    const std::int64_t sequences = problem_.axis("sequences");
    place_.is_invalid = !are_offsets_valid(start, sequences + 1, problem_.axis("tokens"));
    for (std::int64_t s = 0; s < sequences && !place_.is_invalid; ++s) {
      if (row_ < start(s) || row_ >= start(s + 1)) continue;
      const TensorView& lengths = args_["kv_lengths"];
      const std::int64_t length = integer(lengths, s * lengths.stride(0));
      place_.sequence = s;
      place_.is_invalid = length < 0 || length > capacity(problem_);
      const Mask mask = parse_mask(problem_.option("mask"));
      place_.position = position_of(mask, row_ - start(s), start(s + 1) - start(s), length);
      if (!place_.is_invalid)
        place_.keys = visible_keys(mask, static_cast<std::int64_t>(problem_.number("window")),
                                   place_.position, length);
      return;
    }
  }

  // Offset of key j in a cache; negative: its page does not exist.
  [[nodiscard]] std::int64_t key_offset(const TensorView& cache, std::int64_t j) const {
    const TensorView& table = args_["page_table"];
    const std::int64_t page_size = problem_.axis("page_size");
    const std::int64_t page =
        integer(table, place_.sequence * table.stride(0) + j / page_size * table.stride(1));
    if (page < 0 || page >= problem_.axis("pages")) return kNoPage;
    return page * cache.stride(0) + j % page_size * cache.stride(1) + kv_head_ * cache.stride(2);
  }

  [[nodiscard]] double score(std::int64_t j) const {
    const TensorView& q = args_["q"];
    const TensorView& k = args_["k_cache"];
    const std::int64_t q_offset = row_ * q.stride(0) + head_ * q.stride(1);
    const std::int64_t k_offset = key_offset(k, j);
    if (k_offset == kNoPage) return kNan;
    double score = 0;
    for (std::int64_t d = 0; d < dim_; ++d)
      score += load(q, q_offset + d * q.stride(2)) * load(k, k_offset + d * k.stride(3));
    score *= scale_;
    if (cap_ > 0) score = cap_ * std::tanh(score / cap_);
    const TensorView& slopes = args_["slopes"];
    if (slopes.is_present())
      score += load(slopes, head_ * slopes.stride(0)) * static_cast<double>(j - place_.position);
    return score + bias(j);
  }

  [[nodiscard]] double bias(std::int64_t j) const {
    const TensorView& bias = args_["bias"];
    if (!bias.is_present()) return 0;
    if (j >= bias.extent(2)) return kNan;
    const std::int64_t head = bias.extent(1) > 1 ? head_ : 0;
    return load(bias, row_ * bias.stride(0) + head * bias.stride(1) + j * bias.stride(2));
  }

  [[nodiscard]] double weight(std::int64_t j, double most) const {
    const double s = score(j);
    return s == -kInfinity ? 0 : std::exp(s - most);
  }

  void write(std::int64_t begin, std::int64_t end, double most, double sum) const {
    const TensorView& v = args_["v_cache"];
    const TensorView& out = args_["out"];
    double total[kBlock] = {};
    for (std::int64_t j = place_.keys.begin; j < place_.keys.end; ++j) {
      const double p = weight(j, most);
      const std::int64_t offset = key_offset(v, j);
      for (std::int64_t d = begin; d < end; ++d)
        total[d - begin] += offset == kNoPage ? kNan : p * load(v, offset + d * v.stride(3));
    }
    for (std::int64_t d = begin; d < end; ++d)
      store(out, row_ * out.stride(0) + head_ * out.stride(1) + d * out.stride(2),
            sum == 0 ? 0 : total[d - begin] / sum);
  }

  static constexpr std::int64_t kNoPage = std::numeric_limits<std::int64_t>::min();
  const Arguments& args_;
  const Problem& problem_;
  std::int64_t row_;
  std::int64_t head_;
  std::int64_t kv_head_;
  std::int64_t dim_ = problem_.axis("head_dim");
  double scale_ = scale_of(problem_);
  double cap_ = problem_.number("softcap");
  RowPlace place_;
};

void run(const Context& context, const Arguments& args) {
  const std::int64_t heads = args.problem().axis("heads");
  context.stream->launch(args.problem().axis("tokens") * heads,
                         [&](std::int64_t i) { Head(args, i / heads, i % heads).run(); });
}

}  // namespace

extern const KernelDef cpu_plain;
const KernelDef cpu_plain{
    .op = "attention",
    .name = "cpu_plain",
    .idea = "the formula as loops, a row and head at a time, in double, any strides",
    .determinism = Determinism::batch_invariant,
    .supports = [](const Problem&, const DeviceProperties&) { return supported(); },
    .prepare = [](const Problem&, Device&, const Config&) { return Prepared{.run = run}; },
};

}  // namespace rooftile::ops::attention
