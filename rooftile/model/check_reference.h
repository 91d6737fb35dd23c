// SPDX-License-Identifier: Apache-2.0
// Against another program's choices: what it drew greedily and how sure it was, compared with this
// library's logits on its very tokens (teacher forcing), so that one early difference does not make
// all that follows incomparable.
#pragma once

#include <string>
#include <vector>

#include "rooftile/model/check.h"

namespace ROOFTILE_API rooftile {

/// One sequence as the other program wrote it.
struct ReferenceSequence {
  std::vector<std::int32_t> prompt{};
  std::vector<std::int32_t> tokens{};  // its greedy choices
  std::vector<std::int32_t> second{};  // its second choice at each place
  std::vector<double> gap{};           // log-probability of the first less that of the second
};

/// {"sequences": [{"prompt_ids": […], "token_ids": […], "second_ids": […], "gaps": […]}]}.
/// Throws Error(bad_input) that names what is wrong; `what` names the file.
std::vector<ReferenceSequence> references_from_json(const std::string& text,
                                                    const std::string& what);

/// One place where the choices differ.
struct Mismatch {
  std::size_t sequence = 0;
  std::size_t place = 0;
  std::int32_t theirs = 0;
  std::int32_t ours = 0;
  double gap = 0;  // theirs
};

struct ReferenceResult {
  std::int64_t compared = 0;
  std::vector<Mismatch> mismatches{};
  /// The difference of the two gaps where the choices agree: its median and its largest.
  double median_error = 0;
  double largest_error = 0;
  /// No choice differs where the other program was surer than the errors seen elsewhere.
  [[nodiscard]] bool passed() const;
};

/// Throws Error(bad_input) for tokens that the model does not have.
ReferenceResult compare_with(const std::vector<ReferenceSequence>& references, const Model& model,
                             Device& device, const Registry& registry,
                             const RunnerOptions& options);

}  // namespace rooftile
