// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/clocks.h"

#include <cstring>

namespace rooftile::sim {
namespace {

/// Why vectors: GCC makes none at -O2 of a loop whose length it does not know. Why signed: AVX2 has
/// a maximum of both, SSE2 compares no others (and clocks are below 2^20).
template <class Vector>
[[gnu::always_inline]] inline void raise(std::uint32_t* to, const std::uint32_t* from,
                                         std::size_t count) {
  constexpr std::size_t kAtOnce = sizeof(Vector) / sizeof(std::uint32_t);
  const std::size_t whole = count - count % kAtOnce;
  for (std::size_t i = 0; i != whole; i += kAtOnce) {
    Vector mine, theirs;
    std::memcpy(&mine, to + i, sizeof mine);
    std::memcpy(&theirs, from + i, sizeof theirs);
    mine = mine < theirs ? theirs : mine;
    std::memcpy(to + i, &mine, sizeof mine);
  }
  for (std::size_t i = whole; i != count; ++i) to[i] = std::max(to[i], from[i]);
}

using Four [[gnu::vector_size(16)]] = std::int32_t;

#if defined(__x86_64__)
using Eight [[gnu::vector_size(32)]] = std::int32_t;

[[gnu::target("avx2")]] void raise_avx2(std::uint32_t* to, const std::uint32_t* from,
                                        std::size_t count) {
  raise<Eight>(to, from, count);
}

bool has_avx2() {
  static const bool answer = __builtin_cpu_supports("avx2") != 0;
  return answer;
}
#endif

}  // namespace

void raise_clocks(std::uint32_t* to, const std::uint32_t* from, std::size_t count) {
#if defined(__x86_64__)
  if (has_avx2()) return raise_avx2(to, from, count);
#endif
  raise<Four>(to, from, count);
}

}  // namespace rooftile::sim
