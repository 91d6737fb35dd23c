// SPDX-License-Identifier: Apache-2.0
// The entry of libFuzzer; FUZZ_TARGET is one of targets.h. Built by tools/fuzz.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rooftile::fuzz::FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
