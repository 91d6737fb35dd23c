// SPDX-License-Identifier: Apache-2.0
// The declaration of attention, and its typed call.
#include "rooftile/op/op.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "rooftile/base/text.h"
#include "rooftile/op/call.h"
#include "rooftile/op/generate_ragged.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/attention/attention.h"
#include "rooftile/ops/attention/meaning.h"
#include "rooftile/ops/catalogue.h"

namespace rooftile::ops::attention {
namespace {

constexpr std::int64_t kMostExtent = std::int64_t{1} << 48;

Unit unit_of(const Problem& problem) {
  const DType q = problem.dtype("q");
  if (q != problem.dtype("k_cache") || q != problem.dtype("v_cache")) return Unit::fp32;
  return q == DType::bf16 ? Unit::bf16 : q == DType::fp16 ? Unit::fp16 : Unit::fp32;
}

// What the data make of a problem; without data the most that its shapes allow.
struct Work {
  double pairs = 0;  // (row, key) that meet, of one head
  double keys = 0;   // distinct ones that are read, of one kv head
};

Work most_work(const Problem& problem) {
  const auto rows = static_cast<double>(problem.axis("tokens"));
  const auto keys = static_cast<double>(capacity(problem));
  const double window = problem.number("window");
  return {.pairs = rows * (window > 0 ? std::min(window, keys) : keys),
          .keys = std::min(static_cast<double>(problem.axis("sequences")) * keys,
                           static_cast<double>(problem.axis("pages")) *
                               static_cast<double>(problem.axis("page_size")))};
}

Work work_of(const Problem& problem, const Values* data) {
  if (data == nullptr) return most_work(problem);
  Work work;
  std::set<std::pair<std::int64_t, std::int64_t>> slots;  // (page, offset)
  const std::int64_t page_size = problem.axis("page_size");
  std::int64_t last_sequence = -1;
  KeyRange read{};  // of the last sequence
  for (std::int64_t r = 0; r < problem.axis("tokens"); ++r) {
    const RowPlace place = place_of(problem, *data, r);
    work.pairs += static_cast<double>(place.keys.end - place.keys.begin);
    if (place.sequence < 0) continue;
    if (place.sequence != last_sequence) read = {place.keys.begin, place.keys.begin};
    last_sequence = place.sequence;
    for (std::int64_t j = read.end; j < place.keys.end; ++j)
      slots.emplace(
          static_cast<std::int64_t>((*data)["page_table"].at(place.sequence, j / page_size)),
          j % page_size);
    read.end = std::max(read.end, place.keys.end);
  }
  work.keys = static_cast<double>(slots.size());
  return work;
}

Cost cost(const Problem& problem, const Values* data) {
  const Work work = work_of(problem, data);
  const auto heads = static_cast<double>(problem.axis("heads"));
  const auto dim = static_cast<double>(problem.axis("head_dim"));
  Cost cost;
  cost[unit_of(problem)] = 4 * work.pairs * heads * dim;  // q.k and p.v
  cost[Unit::fp32] += 4 * work.pairs * heads;             // scale, maximum, subtract, sum
  if (problem.has("slopes")) cost[Unit::fp32] += 2 * work.pairs * heads;
  if (problem.number("softcap") > 0) cost[Unit::fp32] += 2 * work.pairs * heads;
  if (problem.has("bias")) {
    cost[Unit::fp32] += work.pairs * heads;
    const double entries = work.pairs * static_cast<double>(problem.axis("bias_heads"));
    cost.bytes_read += std::min(problem.bytes("bias"), entries * sizeof(float));
  }
  cost[Unit::special] = work.pairs * heads * (problem.number("softcap") > 0 ? 2 : 1);
  const double elements = work.keys * static_cast<double>(problem.axis("kv_heads")) * dim;
  cost.bytes_read += problem.bytes("q") + problem.bytes("kv_lengths") + problem.bytes("q_starts") +
                     problem.bytes("slopes") +
                     elements * (info(problem.dtype("k_cache")).unit_bytes +
                                 info(problem.dtype("v_cache")).unit_bytes) +
                     4 * work.keys / static_cast<double>(problem.axis("page_size"));
  cost.bytes_written = problem.bytes("out") + problem.bytes("lse");
  return cost;
}

// Magnitudes hold what was summed times the root of the number of its roundings, and each score's
// own error, which its exponential inherits.
Tolerance tolerance(const Problem& problem, const std::string& output) {
  Tolerance bound = sum_tolerance(problem.dtype(output), DType::f32, 1);
  bound.absolute = 0x1p-126;
  bound.reason = "one rounding to " + std::string(name(problem.dtype(output))) +
                 ", sums over keys and head_dim in f32, each score's error passed on by exp; "
                 "weights below f32's normal range may be 0";
  return bound;
}

std::string invalid(const Problem& problem) {
  if (problem.axis("heads") % problem.axis("kv_heads") != 0)
    return "heads=" + std::to_string(problem.axis("heads")) +
           " must be a multiple of kv_heads=" + std::to_string(problem.axis("kv_heads"));
  if (problem.axis("starts") != problem.axis("sequences") + 1)
    return "q_starts must have sequences + 1 = " + std::to_string(problem.axis("sequences") + 1) +
           " entries, not " + std::to_string(problem.axis("starts"));
  if (problem.has("bias") && problem.axis("bias_heads") != 1 &&
      problem.axis("bias_heads") != problem.axis("heads"))
    return "bias_heads=" + std::to_string(problem.axis("bias_heads")) +
           " must be 1 or heads=" + std::to_string(problem.axis("heads"));
  if (capacity(problem) > 0x7fffffff) return "max_pages * page_size must be below 2^31";
  if (problem.option("mask") == "none" && problem.number("window") != 0)
    return "window needs a causal mask";
  return "";
}

// Scores whose rounding stays far below 1 (exp makes it relative), and sums of v within f32.
double extreme_limit(const Problem& problem, const ArgChoice& arg) {
  if (arg.name == "q" || arg.name == "k_cache") return 16;
  if (arg.name == "slopes") return 1;
  return std::min(info(problem.dtype("out")).max_finite / 4, 0x1p100);
}

std::int64_t product_of(const Problem& problem, const char* a, const char* b) {
  const std::int64_t x = problem.axis(a);
  const std::int64_t y = problem.axis(b);
  return y > 0 && x > kMostExtent / y ? kMostExtent : x * y;
}

// Random entries, and where the data are not to be smooth the masks that people write as a bias:
// -inf, the lowest number, rows of nothing but -inf.
void generate_bias(const Problem& problem, const Rng& rng, const Values&,
                   std::vector<double>& bias) {
  constexpr std::uint64_t kRows = 1ULL << 40;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (problem.data == "zeros") return;
  const auto keys = static_cast<std::uint64_t>(problem.axis("bias_keys"));
  for (std::uint64_t i = 0; i < bias.size(); ++i) {
    bias[i] = rng.normal(i);
    if (problem.data == "uniform") continue;
    const std::int64_t draw = rng.below(i, 16);
    const bool is_row_masked = rng.below(kRows + i / keys, 6) == 0;
    if (draw == 0) bias[i] = -info(DType::f32).max_finite;
    if (draw > 12 || is_row_masked) bias[i] = -kInfinity;
  }
}

std::vector<Case> cases();

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/attention/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "attention",
    .summary = "Attention over a paged KV cache: prefill, chunked prefill and decode",
    .formula =
        "out[t,h] = sum_j softmax_j(softcap(scale*q[t,h].k[j]) + slope[h]*(j - position) + "
        "bias[t,h,j]) v[j], j the keys that the mask shows",
    .source = "Vaswani et al. 2017; Kwon et al. (PagedAttention) 2023; Press et al. (ALiBi) 2022",
    .axes =
        {{"tokens", "query rows of all sequences"},
         {.name = "sequences", .help = "with queries or without", .default_extent = 1},
         {.name = "starts",
          .help = "sequences + 1",
          .least = 1,
          .default_from = [](const Problem& p) { return p.axis("sequences") + 1; }},
         {"heads", "query heads", 1},
         {.name = "kv_heads",
          .help = "divides heads: query head h reads kv head h / (heads / kv_heads)",
          .least = 1,
          .default_from = [](const Problem& p) { return p.axis("heads"); }},
         {"head_dim", "elements of a head", 1},
         {"page_size", "keys of a page", 1, 16},
         {"max_pages", "entries of a sequence in the page table"},
         {.name = "pages",
          .help = "of the cache",
          .default_from = [](const Problem& p) { return product_of(p, "sequences", "max_pages"); }},
         {.name = "bias_heads",
          .help = "of the bias: heads, or 1 that all share",
          .least = 1,
          .default_from = [](const Problem& p) { return p.axis("heads"); },
          .only_of = "bias"},
         {.name = "bias_keys",
          .help = "of the bias, from a sequence's first; a row that sees one beyond is NaN",
          .default_from = [](const Problem& p) { return product_of(p, "max_pages", "page_size"); },
          .only_of = "bias"}},
    .args = {out("out", {"tokens", "heads", "head_dim"}).like("q"),
             out("lse", {"tokens", "heads"})
                 .types({DType::f32})
                 .optional()
                 .help("natural log of the sum of exp(score); -inf for a row that sees nothing"),
             in("q", {"tokens", "heads", "head_dim"}),
             in("k_cache", {"pages", "page_size", "kv_heads", "head_dim"}).like("q"),
             in("v_cache", {"pages", "page_size", "kv_heads", "head_dim"}).like("k_cache"),
             in("q_starts", {"starts"})
                 .types({DType::i32})
                 .data(ragged_offsets("tokens"))
                 .help("first row of each sequence, and the end of the last"),
             in("kv_lengths", {"sequences"})
                 .types({DType::i32})
                 .data(ragged_lengths("q_starts", capacity))
                 .help("keys of each sequence, those of its queries included"),
             in("page_table", {"sequences", "max_pages"})
                 .types({DType::i32})
                 .data(page_table("kv_lengths", "page_size", "pages"))
                 .help("page ids; those beyond a length are not read"),
             in("slopes", {"heads"})
                 .types({DType::f32})
                 .optional()
                 .help("ALiBi: slope * (key - position) is added to the score before the mask"),
             in("bias", {"tokens", "bias_heads", "bias_keys"})
                 .types({DType::f32})
                 .optional()
                 .data(generate_bias)
                 .help("added to the score after scale and soft cap, before the mask; -inf: the "
                       "key weighs nothing. A tensor [heads, queries, keys] by its strides")},
    .options = {{.name = "scale",
                 .default_value = "0",
                 .help = "multiplies q.k; 0: 1/sqrt(head_dim)",
                 .least = 0,
                 .greatest = 1e6},
                {.name = "mask",
                 .kind = OptionKind::choice,
                 .default_value = "causal_bottom_right",
                 .help = "bottom_right: the last query stands at the last key; top_left: the first "
                         "at the first",
                 .choices = {"causal_bottom_right", "causal_top_left", "none"}},
                {.name = "window",
                 .kind = OptionKind::integer,
                 .default_value = "0",
                 .help = "a query sees its last `window` keys, its own included; 0: all",
                 .least = 0,
                 .greatest = 0x7fffffff},
                {.name = "softcap",
                 .default_value = "0",
                 .help = "cap * tanh(score / cap), before slopes, bias and mask; 0: none",
                 .least = 0,
                 .greatest = 1e6}},
    .batch_axis = "tokens",
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .invalid = invalid,
    .row_alone = row_alone,
    .extreme_limit = extreme_limit,
    .cases = cases(),
    .case_set_version = 2,
    .why_these_inputs =
        "Sequences are ragged: without queries, without keys, with fewer keys than queries, one key "
        "either side of a page, a vector and a chunk; pages lie in any order and are shared; entries "
        "that no length covers are -1. Extreme data adds ids, lengths and starts that are out of "
        "range, which must give NaN rows and no access outside, and values that underflow. Groups of "
        "1, 3, 4 and 8 query heads share a kv head; head_dims are those of models and odd ones. "
        "A bias has entries of -inf and of the lowest number, rows of -inf only, which must be (0, "
        "-inf), and ends before the keys do, which must give NaN. "
        "A token's bits must be the same alone (decode) and in a batch (prefill).",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/attention/kernels.inc"
#undef ROOFTILE_KERNEL
}

namespace {

void add_edges(std::vector<Case>& list, const std::string& dtype) {
  const auto edge = [&](std::string text) { list.push_back({"edges", std::move(text) + dtype}); };
  edge("tokens=0 sequences=2 heads=2 head_dim=16 max_pages=2");
  edge("tokens=3 sequences=0 heads=2 head_dim=16 max_pages=2 lse=f32");
  edge("tokens=4 sequences=2 heads=2 head_dim=16 max_pages=0 lse=f32");
  edge("tokens=4 sequences=2 heads=2 head_dim=16 max_pages=2 pages=0 lse=f32");
  for (const char* dim : {"1", "7", "8", "16", "20", "33", "80", "256"})
    edge("tokens=5 sequences=2 heads=4 kv_heads=2 max_pages=3 head_dim=" + std::string(dim));
  for (const char* pages :
       {"page_size=1 max_pages=300", "page_size=3 max_pages=100", "page_size=16 max_pages=20",
        "page_size=64 max_pages=5", "page_size=128 max_pages=5"})
    edge("tokens=6 sequences=3 heads=3 kv_heads=1 head_dim=16 lse=f32 " + std::string(pages));
  for (const char* mask : {"causal_bottom_right", "causal_top_left", "none"})
    edge("tokens=70 sequences=4 heads=6 kv_heads=2 head_dim=24 max_pages=5 lse=f32 mask=" +
         std::string(mask));
  for (const char* window : {"1", "15", "16", "17", "300"})
    edge("tokens=40 sequences=3 heads=2 kv_heads=1 head_dim=32 max_pages=40 window=" +
         std::string(window));
  edge("tokens=9 sequences=3 heads=2 head_dim=32 max_pages=4 softcap=0.5");
  edge("tokens=9 sequences=3 heads=2 head_dim=32 max_pages=4 scale=30 softcap=50 lse=f32");
  edge("tokens=9 sequences=3 heads=8 kv_heads=1 head_dim=32 max_pages=20 slopes=f32 lse=f32");
  // A bias: of each head, of all, with everything else that changes scores; too short; by heads as
  // [heads, queries, keys]; the same for all queries; with gaps between keys.
  edge("tokens=40 sequences=3 heads=4 kv_heads=2 head_dim=32 max_pages=19 bias=f32 lse=f32");
  edge("tokens=70 sequences=2 heads=2 head_dim=16 max_pages=40 bias=f32 bias_heads=1 mask=none");
  edge(
      "tokens=9 sequences=3 heads=8 kv_heads=1 head_dim=32 max_pages=20 slopes=f32 bias=f32 "
      "softcap=5 lse=f32");
  edge("tokens=3 sequences=3 heads=2 head_dim=24 max_pages=40 window=300 bias=f32 lse=f32");
  for (const char* keys : {"0", "1", "17", "300"})
    edge("tokens=30 sequences=6 heads=2 head_dim=32 max_pages=40 bias=f32 lse=f32 bias_keys=" +
         std::string(keys));
  edge("tokens=9 heads=2 head_dim=32 max_pages=4 bias=f32 bias.stride=64,576,1");
  edge("tokens=9 heads=2 head_dim=32 max_pages=4 bias=f32 bias.stride=0,64,1 bias.offset=1");
  edge("tokens=9 heads=2 head_dim=32 max_pages=4 bias=f32 bias.stride=200,100,-3 lse=f32");
  edge("tokens=11 sequences=11 heads=2 head_dim=32 max_pages=19 bias=f32 data=extreme");
  edge("tokens=9 sequences=2 heads=2 head_dim=32 max_pages=4 bias=f32 data=zeros");
  edge("tokens=40 sequences=7 heads=4 kv_heads=2 head_dim=32 max_pages=3 pages=5");  // shared
  edge("tokens=3 sequences=9 heads=9 kv_heads=3 head_dim=64 max_pages=3");  // few have queries
  edge("tokens=40 sequences=11 heads=2 head_dim=32 max_pages=19 lse=f32 data=extreme");
  edge("tokens=11 sequences=11 heads=6 kv_heads=2 head_dim=32 max_pages=19 data=extreme");
  edge("tokens=9 sequences=2 heads=2 head_dim=32 max_pages=4 data=zeros lse=f32");
  // The cache by heads, as a model keeps it; rows of q and out with gaps; an offset start.
  edge(
      "tokens=21 sequences=2 heads=4 kv_heads=2 head_dim=32 max_pages=4 pages=8 "
      "k_cache.stride=1024,32,512,1 v_cache.stride=1300,40,650,1 q.stride=150,36,1 "
      "out.stride=200,40,1 q.offset=3 out.offset=1 k_cache.offset=5");
  edge("tokens=5 heads=2 head_dim=12 max_pages=3 k_cache.stride=1000,30,15,1 q.stride=40,2,3");
  edge("tokens=5 heads=2 head_dim=12 max_pages=3 v_cache.stride=0,12,0,1");
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "tokens=6 sequences=2 heads=4 kv_heads=2 head_dim=32 max_pages=3 q=bf16"},
      {"smoke", "tokens=20 sequences=2 heads=3 kv_heads=1 head_dim=64 max_pages=4 lse=f32"},
      {"ci", "tokens=100 sequences=3 heads=9 kv_heads=3 head_dim=64 max_pages=20 q=bf16 lse=f32"},
      {"ci", "tokens=5 sequences=5 heads=9 kv_heads=3 head_dim=64 max_pages=80 q=f32 k_cache=bf16"},
      {"ci", "tokens=3 sequences=3 heads=8 kv_heads=2 head_dim=128 max_pages=70 q=bf16 lse=f32"},
      {"ci", "tokens=300 heads=4 kv_heads=1 head_dim=64 max_pages=20 q=fp16"},
      {"ci",
       "tokens=90 sequences=2 heads=4 kv_heads=1 head_dim=256 max_pages=40 window=512 q=bf16"},
  };
  const auto model = [&](const char* name, const char* shape) {
    const std::string text = std::string(shape) + " q=bf16 data=uniform";
    list.push_back({std::string(name) + ".prefill", "tokens=512 max_pages=32" + text});
    list.push_back({std::string(name) + ".decode", "tokens=1 max_pages=64" + text});
    list.push_back({std::string(name) + ".decode", "tokens=16 sequences=16 max_pages=64" + text});
  };
  model("smollm2_135m", " heads=9 kv_heads=3 head_dim=64");
  model("llama3_2_1b", " heads=32 kv_heads=8 head_dim=64");
  model("llama3_8b", " heads=32 kv_heads=8 head_dim=128");
  model("gemma3_270m", " heads=4 kv_heads=1 head_dim=256 window=512");
  for (const char* roof : {"tokens=512 max_pages=32 heads=9 kv_heads=3 head_dim=64",
                           "tokens=512 max_pages=32 heads=32 kv_heads=8 head_dim=128",
                           "tokens=1 max_pages=512 heads=9 kv_heads=3 head_dim=64",
                           "tokens=16 sequences=16 max_pages=128 heads=32 kv_heads=8 head_dim=128"})
    list.push_back({"roof", std::string(roof) + " q=bf16 data=uniform"});
  for (const char* q : {"f32", "bf16", "fp16"}) add_edges(list, " q=" + std::string(q));
  list.push_back({"edges",
                  "tokens=9 sequences=3 heads=4 kv_heads=2 head_dim=40 max_pages=20 q=fp16 "
                  "k_cache=bf16 v_cache=f32 out=f32 lse=f32"});
  list.push_back({"edges",
                  "tokens=4 sequences=2 heads=2 head_dim=16 max_pages=2 page_size=2 pages=4 "
                  "k_cache.stride=1073741824,32,16,1"});  // offsets beyond 2^31
  return list;
}

}  // namespace

}  // namespace rooftile::ops::attention

namespace rooftile {

void attention(Stream& stream, const TensorView& out, const TensorView& q, const PagedKv& kv,
               const TensorView& q_starts, const AttentionOptions& options) {
  const TensorView views[]{
      out,           options.lse,    q,           kv.k, kv.v, q_starts, kv.lengths,
      kv.page_table, options.slopes, options.bias};
  const OptionValue values[]{{"scale", shortest(options.scale)},
                             {"mask", std::string(options.mask)},
                             {"window", std::to_string(options.window)},
                             {"softcap", shortest(options.softcap)}};
  call(catalogue(), "attention", stream, views, values);
}

}  // namespace rooftile
