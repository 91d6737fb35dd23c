// SPDX-License-Identifier: Apache-2.0
// The readers of what comes from outside, each as one function of any bytes: the one list that the
// fuzzer (fuzz.cc, tools/fuzz) and the test of mutations go through.
#pragma once

#include <span>
#include <stdexcept>
#include <string_view>

#include "rooftile/base/error.h"

namespace rooftile::fuzz {

/// `read` touches all that it read, so that a bad pointer shows. It throws Error where it refuses
/// the bytes; whatever else it throws is a fault.
struct Target {
  std::string_view name;  // also the folder in tests/fuzz/corpus
  void (*read)(std::string_view bytes);
};

std::span<const Target> model_targets();  // files of models
std::span<const Target> text_targets();   // what Rooftile itself writes, and a person types

/// Whether the bytes are accepted.
inline bool accepts(const Target& target, std::string_view bytes) {
  try {
    target.read(bytes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Throws a fault that no reader may have.
inline void require(bool is_so, const char* what) {
  if (!is_so) throw std::logic_error(what);
}

}  // namespace rooftile::fuzz
