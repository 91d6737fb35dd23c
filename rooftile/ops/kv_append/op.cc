// SPDX-License-Identifier: Apache-2.0
// The declaration of kv_append, and its typed call.
#include "rooftile/op/op.h"

#include "rooftile/formats/element.h"
#include "rooftile/op/call.h"
#include "rooftile/op/registry.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/ops/kv_append/kv_append.h"

namespace rooftile::ops::kv_append {
namespace {

std::int64_t num_slots(const Problem& problem) {
  return checked_product({problem.axis("pages"), problem.axis("page_size")}, "pages * page_size");
}

bool is_slot(const Problem& problem, double slot) {
  return slot >= 0 && slot < static_cast<double>(num_slots(problem));
}

void meaning(const Problem& problem, Values& values) {
  const std::int64_t row = problem.axis("kv_heads") * problem.axis("head_dim");
  for (const char* name : {"k", "v"}) {
    Array& cache = values[std::string(name) + "_cache"];
    const Array& from = values[name];
    for (std::int64_t t = 0; t < problem.axis("tokens"); ++t) {
      const double slot = values["slots"][t];
      if (!is_slot(problem, slot)) continue;
      for (std::int64_t i = 0; i < row; ++i)
        cache[static_cast<std::int64_t>(slot) * row + i] = from[t * row + i];
    }
  }
}

Cost cost(const Problem& problem, const Values* data) {
  const std::int64_t tokens = problem.axis("tokens");
  double written = static_cast<double>(tokens);
  if (data != nullptr) {
    written = 0;
    for (std::int64_t t = 0; t < tokens; ++t)
      written += is_slot(problem, (*data)["slots"][t]) ? 1 : 0;
  }
  const double elements = written * static_cast<double>(problem.axis("kv_heads")) *
                          static_cast<double>(problem.axis("head_dim"));
  const auto bytes = [&](const char* arg) {
    return elements * info(problem.dtype(arg)).unit_bytes;
  };
  Cost cost;
  cost.bytes_read = bytes("k") + bytes("v") + problem.bytes("slots");
  cost.bytes_written = bytes("k_cache") + bytes("v_cache");
  return cost;
}

Tolerance tolerance(const Problem&, const std::string&) {
  return {.ulps = 0.5, .reason = "one rounding; nothing where no token is written"};
}

std::string invalid(const Problem& problem) {
  return num_slots(problem) > 0x7fffffff ? "pages * page_size must be below 2^31" : "";
}

// Distinct slots in any order, with skipped tokens and slots beyond the cache between them.
void generate_slots(const Problem& problem, const Rng& rng, const Values&,
                    std::vector<double>& slots) {
  constexpr std::int64_t kSkipEvery = 6;
  const auto count = static_cast<std::uint64_t>(num_slots(problem));
  const auto first = static_cast<std::uint64_t>(rng.bits(0) >> 32);
  for (std::size_t t = 0; t < slots.size(); ++t) {
    const std::int64_t wrong[]{-1, static_cast<std::int64_t>(count), 0x7fffffff};
    const bool is_skipped = t >= count || rng.below(2 * t + 1, kSkipEvery) == 0;
    // Backwards from a random slot: neighbours in memory are written by different tokens.
    slots[t] = is_skipped ? static_cast<double>(wrong[rng.below(2 * t + 2, 3)])
                          : static_cast<double>((first + count - t) % count);
  }
}

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "tokens=5 kv_heads=2 head_dim=16 pages=4"},
      {"ci", "tokens=100 kv_heads=3 head_dim=64 pages=20 k=f32 k_cache=bf16"},
      {"smollm2_135m.prefill", "tokens=512 kv_heads=3 head_dim=64 pages=64 k=bf16"},
      {"llama3_8b.decode", "tokens=16 kv_heads=8 head_dim=128 pages=1024 k=bf16"},
      {"roof", "tokens=8192 kv_heads=8 head_dim=128 pages=1024 k=f32 k_cache=bf16"},
      {"roof", "tokens=8192 kv_heads=8 head_dim=128 pages=1024 k=bf16"},
  };
  const auto edge = [&](std::string text) { list.push_back({"edges", std::move(text)}); };
  for (const char* cache : {"f32", "bf16", "fp16"})
    for (const char* k : {"f32", "bf16", "fp16"}) {
      const std::string dtypes = " k_cache=" + std::string(cache) + " k=" + k;
      for (const char* dim : {"1", "15", "16", "17", "33", "64"})
        edge("tokens=7 kv_heads=3 pages=3 page_size=3 head_dim=" + std::string(dim) + dtypes);
      edge("tokens=20 kv_heads=2 head_dim=16 pages=2 page_size=4" + dtypes);  // more than slots
      edge("tokens=9 kv_heads=2 head_dim=40 pages=2 data=extreme" + dtypes);
      edge(
          "tokens=9 kv_heads=2 head_dim=16 pages=3 k_cache.stride=512,16,256,1 "
          "v_cache.stride=700,40,20,1 k.stride=50,20,1 v.offset=3 k_cache.offset=1" +
          dtypes);
      edge("tokens=9 kv_heads=2 head_dim=16 pages=3 k_cache.stride=1,3,768,48 v.stride=1,9,18" +
           dtypes);
    }
  edge("tokens=0 kv_heads=2 head_dim=16 pages=2");
  edge("tokens=3 kv_heads=2 head_dim=16 pages=0");
  edge("tokens=5 kv_heads=2 head_dim=4 pages=3 page_size=2 k_cache.stride=1073741824,8,4,1");
  return list;
}

}  // namespace

#define ROOFTILE_KERNEL(id) extern const KernelDef id;
#include "rooftile/ops/kv_append/kernels.inc"
#undef ROOFTILE_KERNEL

const OpDef def{
    .name = "kv_append",
    .summary = "Keys and values of new tokens into a paged KV cache",
    .formula =
        "k_cache[slot[t] / page_size, slot[t] % page_size] = k[t], v alike; other slots keep "
        "what they hold",
    .source = "Kwon et al. (PagedAttention) 2023",
    .axes = {{"tokens", "rows to write"},
             {"kv_heads", "heads of the cache", 1},
             {"head_dim", "elements of a head", 1},
             {"page_size", "keys of a page", 1, 16},
             {"pages", "of the cache"}},
    .args = {inout("k_cache", {"pages", "page_size", "kv_heads", "head_dim"}).like("k"),
             inout("v_cache", {"pages", "page_size", "kv_heads", "head_dim"}).like("k_cache"),
             in("k", {"tokens", "kv_heads", "head_dim"}),
             in("v", {"tokens", "kv_heads", "head_dim"}).like("k"),
             in("slots", {"tokens"})
                 .types({DType::i32})
                 .data(generate_slots)
                 .help("page * page_size + offset; negative or beyond the cache: skipped")},
    .meaning = meaning,
    .cost = cost,
    .tolerance = tolerance,
    .invalid = invalid,
    .cases = cases(),
    .why_these_inputs =
        "Slots are distinct, in no order of memory, with skipped and impossible ones between them; "
        "every pair of dtypes, head_dims around a vector, caches ordered by page, by head and "
        "transposed. What no token names must stay as it was, bit for bit.",
};

void add_to(Registry& registry) {
  registry.add(def);
#define ROOFTILE_KERNEL(id) registry.add(id);
#include "rooftile/ops/kv_append/kernels.inc"
#undef ROOFTILE_KERNEL
}

}  // namespace rooftile::ops::kv_append

namespace rooftile {

void kv_append(Stream& stream, const TensorView& k_cache, const TensorView& v_cache,
               const TensorView& k, const TensorView& v, const TensorView& slots) {
  const TensorView views[]{k_cache, v_cache, k, v, slots};
  call(catalogue(), "kv_append", stream, views, {});
}

}  // namespace rooftile
