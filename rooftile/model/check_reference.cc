// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/check_reference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "rooftile/base/error.h"
#include "rooftile/base/json.h"

namespace rooftile {
namespace {

std::vector<std::int32_t> ids_from(const Json& json, const char* key) {
  const Json& list = json.at(key);
  if (!list.is_array()) fail_input(std::string(key) + " must be a list");
  std::vector<std::int32_t> ids;
  for (const Json& id : list) {
    if (!id.is_number_integer() || !(id.get<double>() >= 0) || !(id.get<double>() <= INT32_MAX))
      fail_input(std::string(key) + " holds " + id.dump().substr(0, 60) + ", which is no token id");
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

ReferenceSequence sequence_from(const Json& json) {
  ReferenceSequence sequence{.prompt = ids_from(json, "prompt_ids"),
                             .tokens = ids_from(json, "token_ids"),
                             .second = ids_from(json, "second_ids"),
                             .gap = json.at("gaps")};
  if (sequence.prompt.empty() || sequence.tokens.empty())
    fail_input("a sequence without prompt or tokens");
  if (sequence.second.size() != sequence.tokens.size() ||
      sequence.gap.size() != sequence.tokens.size())
    fail_input("second_ids and gaps must be as many as token_ids");
  return sequence;
}

// The logits of every place at which the reference chose, a pass at a time.
class Teacher {
 public:
  Teacher(const ReferenceSequence& reference, Runner& runner)
      : reference_(reference), runner_(runner) {}
  ~Teacher() { runner_.cache().release(sequence_); }

  template <class Visit>
  void each(Visit&& visit) {
    std::vector<std::int32_t> all = reference_.prompt;
    all.insert(all.end(), reference_.tokens.begin(), reference_.tokens.end() - 1);
    const std::size_t first = reference_.prompt.size() - 1;  // its logits choose tokens[0]
    const auto most = static_cast<std::size_t>(runner_.transformer().options().most_tokens);
    for (std::size_t at = 0; at < all.size(); at += most) {
      const std::size_t end = std::min(at + most, all.size());
      const std::size_t wanted = end > first ? end - std::max(at, first) : 0;
      const PassInput input{&sequence_,
                            {all.begin() + static_cast<std::ptrdiff_t>(at),
                             all.begin() + static_cast<std::ptrdiff_t>(end)},
                            static_cast<std::int64_t>(wanted)};
      const TensorView logits =
          runner_.transformer().forward(runner_.stream(), std::span(&input, 1));
      runner_.stream().synchronise();
      for (std::size_t i = 0; i < wanted; ++i)
        visit(end - wanted + i - first,
              std::span(logits.as<const float>() + static_cast<std::int64_t>(i) * logits.stride(0),
                        static_cast<std::size_t>(logits.extent(1))));
    }
  }

 private:
  const ReferenceSequence& reference_;
  Runner& runner_;
  Sequence sequence_;
};

}  // namespace

bool ReferenceResult::passed() const {
  return compared > 0 && std::ranges::all_of(mismatches, [&](const Mismatch& mismatch) {
           return mismatch.gap <= largest_error;
         });
}

std::vector<ReferenceSequence> references_from_json(const std::string& text,
                                                    const std::string& what) {
  try {
    std::vector<ReferenceSequence> references;
    const Json all = parse_json(text);
    if (!all.at("sequences").is_array()) fail_input("sequences must be a list");
    for (const Json& sequence : all["sequences"]) references.push_back(sequence_from(sequence));
    if (references.empty()) fail_input("no sequences");
    return references;
  } catch (const Json::exception& error) {
    fail_input("'" + what + "': " + error.what());
  } catch (const Error& error) {
    fail_input("'" + what + "': " + error.what());
  }
}

ReferenceResult compare_with(const std::vector<ReferenceSequence>& references, const Model& model,
                             Device& device, const Registry& registry,
                             const RunnerOptions& options) {
  Runner runner(model, device, registry, options);
  ReferenceResult result;
  std::vector<double> errors;
  for (std::size_t s = 0; s < references.size(); ++s) {
    const ReferenceSequence& reference = references[s];
    for (const std::int32_t id : reference.second)
      if (id < 0 || id >= model.config().vocab)
        fail_input("second_ids holds " + std::to_string(id) + ", outside the vocabulary");
    Teacher(reference, runner).each([&](std::size_t place, std::span<const float> logits) {
      const auto ours =
          static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
      const std::int32_t theirs = reference.tokens[place];
      ++result.compared;
      if (ours != theirs) {
        result.mismatches.push_back({s, place, theirs, ours, reference.gap[place]});
        return;
      }
      const double gap = double{logits[static_cast<std::size_t>(theirs)]} -
                         double{logits[static_cast<std::size_t>(reference.second[place])]};
      errors.push_back(std::abs(gap - reference.gap[place]));
    });
  }
  if (!errors.empty()) {
    std::ranges::sort(errors);
    result.median_error = errors[errors.size() / 2];
    result.largest_error = errors.back();
  }
  return result;
}

}  // namespace rooftile
