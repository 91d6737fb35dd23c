// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/formats/element.h"
#include "rooftile/model/check_packed.h"
#include "rooftile/workbench/verify.h"

namespace rooftile {
namespace {

using Row = std::vector<float>;
using Tokens = std::vector<std::int32_t>;

// How far apart two rows of logits are.
struct Difference {
  bool is_same = true;
  double most = 0;       // absolute
  double magnitude = 0;  // the largest logit
};

Difference difference(const Row& a, const Row& b) {
  Difference d{.is_same = std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0};
  for (std::size_t i = 0; i < a.size(); ++i) {
    d.most = std::max(d.most, double{std::abs(a[i] - b[i])});
    d.magnitude = std::max(d.magnitude, double{std::abs(a[i])});
    if (std::isnan(a[i]) || std::isnan(b[i])) d.most = HUGE_VAL;
  }
  return d;
}

// Of the largest logit. Sums of f32 in another order change a value by rounding, 1e-4 through all
// the layers; where such a value lies at the edge between two numbers of a narrower type on its way
// (the cache's, or 8-bit activations), one step of that type follows. Far below what a wrong mask
// or position does.
double allowed_error(const ModelCheckOptions& options) {
  const double of_cache = options.kv == DType::f32 ? 0 : ulp_of(options.kv, 1);
  const double of_activations = options.activations == "q8" ? 1.0 / 127 : 0;
  return 1e-4 + of_cache + of_activations;
}

class Checker {
 public:
  Checker(const Model& model, Device& device, const Registry& registry,
          const ModelCheckOptions& options)
      : model_(model), device_(device), registry_(registry), options_(options) {
    if (options.prompt.size() < 24)
      fail_input("a check needs a prompt of at least 24 tokens; this one has " +
                 std::to_string(options.prompt.size()));
  }

  // Kernels that promise batch invariance give the same bits; the others may sum in another order.
  [[nodiscard]] ModelCheck judge(std::string name, const Difference& d, bool is_bitwise,
                                 const std::string& what) const {
    const double allowed = allowed_error(options_) * d.magnitude;
    const bool passed = is_bitwise ? d.is_same : d.most <= allowed;
    std::string detail = what + ": ";
    if (d.is_same)
      detail += "the same bits";
    else
      detail += "logits differ by up to " + figures(d.most) + " of " + figures(d.magnitude) +
                (is_bitwise ? "; every kernel used promises the same bits"
                            : ", allowed " + figures(allowed));
    return {std::move(name), passed, std::move(detail)};
  }

  ModelCheck packed() const { return check_packed_values(model_, device_, registry_); }

  ModelCheck repeated() {
    Row first = last_logits(fresh(512), options_.prompt);
    const Difference d = difference(first, last_logits(fresh(512), options_.prompt));
    const Tokens a = completion();
    const Tokens b = completion();
    ModelCheck check = judge("repeated runs", d, true, "prompt twice");
    check.passed = check.passed && a == b;
    check.detail += a == b ? "; " + std::to_string(a.size()) + " tokens the same"
                           : "; the generated tokens differ";
    return check;
  }

  ModelCheck chunked() {
    const Row whole = last_logits(fresh(512), options_.prompt);
    const Row parts = last_logits(fresh(7), options_.prompt);
    return judge("chunked prompt", difference(whole, parts), is_invariant(),
                 "in chunks of 7 against whole");
  }

  // Three sequences of unequal length in one pass, each against itself alone.
  ModelCheck batched() {
    const std::size_t n = options_.prompt.size();
    const std::vector<Tokens> prompts{head(n), head(n / 2), head(n / 3)};
    const auto runner = fresh(512, 3);
    std::vector<Sequence> sequences(prompts.size());
    std::vector<PassInput> inputs;
    for (std::size_t i = 0; i < prompts.size(); ++i)
      inputs.push_back({&sequences[i], prompts[i], 1});
    const TensorView logits = runner->transformer().forward(runner->stream(), inputs);
    Difference worst;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const Difference d = difference(row_of(logits, static_cast<std::int64_t>(i)),
                                      last_logits(fresh(512), prompts[i]));
      if (d.most >= worst.most) worst = {worst.is_same && d.is_same, d.most, d.magnitude};
    }
    std::vector<const Sequence*> held;
    for (const Sequence& sequence : sequences) held.push_back(&sequence);
    return judge("one row against a batch", worst, is_invariant(),
                 "3 sequences of unequal length (" + figures(100 * runner->cache().waste(held)) +
                     " % of their pages empty)");
  }

  ModelCheck shared_head() {
    const auto runner = fresh(512, 2);
    Sequence first;
    const Row cold = logits_of(*runner, first, options_.prompt);
    runner->cache().publish(first);
    Sequence second = runner->cache().start(options_.prompt);
    const std::int64_t shared = second.length();
    const Row warm = logits_of(*runner, second, tail(shared));
    return judge("shared prompt", difference(cold, warm), is_invariant(),
                 std::to_string(shared) + " of " + std::to_string(options_.prompt.size()) +
                     " tokens from the cache");
  }

  ModelCheck resumed() {
    const auto before = fresh(512);
    Sequence sequence;
    const std::size_t half = options_.prompt.size() / 2;
    logits_of(*before, sequence, head(half));
    before->cache().save(sequence, model_.fingerprint(), options_.scratch_file);
    const Row straight = logits_of(*before, sequence, tail(static_cast<std::int64_t>(half)));
    const auto after = fresh(512);
    Sequence resumed = after->cache().resume(model_.fingerprint(), options_.scratch_file);
    std::remove(options_.scratch_file.c_str());
    const Row again = logits_of(*after, resumed, tail(static_cast<std::int64_t>(half)));
    return judge("saved and resumed", difference(straight, again), true,
                 std::to_string(half) + " tokens from a file");
  }

  // Every kernel that the checks so far have used, on its problem.
  ModelCheck kernels(const std::function<void(const Record&)>& on_kernel) {
    int passed = 0;
    std::string failures;
    const auto runner = fresh(512);
    last_logits(*runner, options_.prompt);
    completion(*runner);
    for (const Plan* plan : runner->plans().plans()) {
      const Record record = verify(*registry_.operation(plan->problem().op).def, plan->kernel(),
                                   plan->problem(), device_, {.repeats = 2});
      on_kernel(record);
      if (record.status == Status::passed)
        ++passed;
      else
        failures += (failures.empty() ? "" : "; ") + record.problem + ": " + record.reason;
    }
    return {"kernels at the model's shapes", failures.empty() && passed > 0,
            std::to_string(passed) + " verified" + (failures.empty() ? "" : "; " + failures)};
  }

 private:
  std::unique_ptr<Runner> fresh(std::int64_t chunk, std::int64_t sequences = 1) {
    RunnerOptions options{.tokens = sequences * (static_cast<std::int64_t>(options_.prompt.size()) +
                                                 options_.tokens + 1),
                          .kv = options_.kv};
    options.transformer = {
        .activations = options_.activations, .most_tokens = chunk, .most_sequences = sequences};
    return std::make_unique<Runner>(model_, device_, registry_, options);
  }
  [[nodiscard]] Tokens head(std::size_t count) const {
    return {options_.prompt.begin(), options_.prompt.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  [[nodiscard]] Tokens tail(std::int64_t from) const {
    return {options_.prompt.begin() + from, options_.prompt.end()};
  }

  [[nodiscard]] Row row_of(const TensorView& logits, std::int64_t row) const {
    const float* data = logits.as<const float>() + row * logits.stride(0);
    return {data, data + logits.extent(1)};
  }

  // In passes of what the runner takes at once.
  Row logits_of(Runner& runner, Sequence& sequence, const Tokens& tokens) {
    TensorView logits;
    const auto most = static_cast<std::size_t>(runner.transformer().options().most_tokens);
    for (std::size_t at = 0; at < tokens.size(); at += most) {
      const std::size_t end = std::min(at + most, tokens.size());
      const PassInput input{&sequence,
                            {tokens.begin() + static_cast<std::ptrdiff_t>(at),
                             tokens.begin() + static_cast<std::ptrdiff_t>(end)},
                            1};
      logits = runner.transformer().forward(runner.stream(), std::span(&input, 1));
    }
    runner.stream().synchronise();
    for (const Plan* plan : runner.plans().plans())
      is_invariant_ = is_invariant_ && plan->kernel().determinism == Determinism::batch_invariant;
    return row_of(logits, 0);
  }
  Row last_logits(Runner& runner, const Tokens& tokens) {
    Sequence sequence;
    Row logits = logits_of(runner, sequence, tokens);
    runner.cache().release(sequence);
    return logits;
  }
  Row last_logits(const std::unique_ptr<Runner>& runner, const Tokens& tokens) {
    return last_logits(*runner, tokens);
  }

  Tokens completion() { return completion(*fresh(512)); }
  Tokens completion(Runner& runner) const {
    const Request request{.prompt = options_.prompt, .max_tokens = options_.tokens};
    CleanRun times;
    return runner.generate(std::span(&request, 1), times).front().tokens;
  }

  // Whether every kernel that has run promises bits that do not depend on the batch.
  [[nodiscard]] bool is_invariant() const { return is_invariant_; }

  const Model& model_;
  Device& device_;
  const Registry& registry_;
  const ModelCheckOptions& options_;
  bool is_invariant_ = true;
};

}  // namespace

std::vector<ModelCheck> check_model(const Model& model, Device& device, const Registry& registry,
                                    const ModelCheckOptions& options,
                                    const std::function<void(const ModelCheck&)>& on_check,
                                    const std::function<void(const Record&)>& on_kernel) {
  Checker checker(model, device, registry, options);
  std::vector<ModelCheck> checks;
  const auto keep = [&](ModelCheck check) {
    on_check(check);
    checks.push_back(std::move(check));
  };
  keep(checker.packed());
  keep(checker.repeated());
  keep(checker.chunked());
  keep(checker.batched());
  keep(checker.shared_head());
  keep(checker.resumed());
  keep(checker.kernels(on_kernel));
  return checks;
}

}  // namespace rooftile
