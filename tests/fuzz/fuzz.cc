// SPDX-License-Identifier: Apache-2.0
// fuzz TARGET [libFuzzer's arguments]: the entry of libFuzzer, for one of the targets. tools/fuzz
// builds and runs it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.h"

namespace {

using rooftile::fuzz::Target;

const Target* chosen = nullptr;

const Target* find_target(std::string_view name) {
  for (const auto& list : {rooftile::fuzz::model_targets(), rooftile::fuzz::text_targets()})
    for (const Target& target : list)
      if (target.name == name) return &target;
  return nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  chosen = *argc < 2 ? nullptr : find_target((*argv)[1]);
  if (chosen == nullptr) {
    std::fprintf(stderr, "fuzz: the first argument must be a target of tests/fuzz/*_targets.cc\n");
    std::exit(2);
  }
  (*argv)[1] = (*argv)[0];  // libFuzzer sees the rest
  ++*argv;
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)accepts(*chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}
