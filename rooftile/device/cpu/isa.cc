// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cpu/isa.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr std::array<std::string_view, 4> kNames{"scalar", "avx2", "avx512", "avx512_bf16"};

Isa detect() {
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                        __builtin_cpu_supports("f16c") != 0;
  const bool has_avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  const bool has_bf16 =
      __builtin_cpu_supports("avx512bf16") != 0 && __builtin_cpu_supports("avx512vnni") != 0;
  if (!has_avx2) return Isa::scalar;
  if (!has_avx512) return Isa::avx2;
  return has_bf16 ? Isa::avx512_bf16 : Isa::avx512;
#else
  return Isa::scalar;
#endif
}

Isa allowed() {
  const char* text = std::getenv("ROOFTILE_ISA");
  if (text == nullptr || *text == '\0') return Isa::avx512_bf16;
  const auto* found = std::find(kNames.begin(), kNames.end(), text);
  if (found == kNames.end())
    fail_input("ROOFTILE_ISA: " +
               unknown_name("instruction set", text,
                            std::vector<std::string>(kNames.begin(), kNames.end())));
  return static_cast<Isa>(found - kNames.begin());
}

}  // namespace

std::string_view name(Isa isa) { return kNames.at(static_cast<std::size_t>(isa)); }

Isa cpu_isa() {
  static const Isa isa = std::min(detect(), allowed());
  return isa;
}

}  // namespace rooftile
