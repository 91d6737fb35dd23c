// SPDX-License-Identifier: Apache-2.0
// The figures of a profile in words: what the terminal and the page both say.
#pragma once

#include <string>
#include <vector>

#include "rooftile/workbench/profile.h"

namespace rooftile {

/// A figure that stands alone at the top.
struct Headline {
  std::string label;
  std::string value;
  std::string detail{};
};
std::vector<Headline> headlines(const Profile& profile);

/// "llama, 30 layers, 135 M parameters in 257 MiB, context 592"
std::string model_facts(const ProfiledModel& model);

/// The arithmetic of decode, a sentence each; empty where it is not known.
std::vector<std::string> decode_sentences(const Profile& profile);

std::string rate_words(const ProfileRow& row);  // in what bounds it
std::string roof_words(const ProfileRow& row);  // "78.6 % memory", "in cache" or "-"
std::string gain_words(const Advice& advice);   // "up to 1.76 ms a pass, 20.1 %"; may be empty
std::string saving_words(
    const FusionRow& row);  // "12.3 us, 4.1 us of overhead", "traffic in cache"
std::string layout_words(const LayoutRow& row);
/// "1950", "310 M": a rate of tokens or a count.
std::string count_words(double count);

}  // namespace rooftile
