// SPDX-License-Identifier: Apache-2.0
#include "rooftile/hardware/sm_limits.h"

#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kCarve100[] = {0, 8 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 100 * kKiB};
constexpr std::int64_t kCarve164[] = {0,         8 * kKiB,   16 * kKiB,  32 * kKiB,
                                      64 * kKiB, 100 * kKiB, 132 * kKiB, 164 * kKiB};
constexpr std::int64_t kCarve228[] = {0,          8 * kKiB,   16 * kKiB,  32 * kKiB,  64 * kKiB,
                                      100 * kKiB, 132 * kKiB, 164 * kKiB, 196 * kKiB, 228 * kKiB};

// Why the barrier columns differ: the calculator counts barriers from 9.0 on, and gives each SM
// twice as many as blocks on 9.0, 10.0 and 10.3, but only as many as blocks on the others.
// capability  warps blocks    shared/SM  shared/block  bar  virt  carve-outs
constexpr SmLimits kLimits[] = {
    {{8, 0}, 64, 32, 164 * kKiB, 163 * kKiB, 0, 0, kCarve164},
    {{8, 6}, 48, 16, 100 * kKiB, 99 * kKiB, 0, 0, kCarve100},
    {{8, 7}, 48, 16, 164 * kKiB, 163 * kKiB, 0, 0, kCarve164},
    {{8, 9}, 48, 24, 100 * kKiB, 99 * kKiB, 0, 0, kCarve100},
    {{9, 0}, 64, 32, 228 * kKiB, 227 * kKiB, 64, 0, kCarve228},
    {{10, 0}, 64, 32, 228 * kKiB, 227 * kKiB, 64, 128, kCarve228},
    {{10, 1}, 64, 24, 228 * kKiB, 227 * kKiB, 24, 128, kCarve228},
    {{10, 3}, 64, 32, 228 * kKiB, 227 * kKiB, 64, 128, kCarve228},
    {{11, 0}, 48, 24, 228 * kKiB, 227 * kKiB, 24, 128, kCarve228},
    {{12, 0}, 48, 24, 100 * kKiB, 99 * kKiB, 24, 128, kCarve100},
    {{12, 1}, 48, 24, 100 * kKiB, 99 * kKiB, 24, 128, kCarve100},
};

}  // namespace

std::string name(ComputeCapability capability) {
  return std::to_string(capability.major) + "." + std::to_string(capability.minor);
}

std::span<const SmLimits> sm_limits() { return kLimits; }

const SmLimits& sm_limits(ComputeCapability capability) {
  std::vector<std::string> known;
  for (const SmLimits& limits : kLimits) {
    if (limits.capability == capability) return limits;
    known.push_back(name(limits.capability));
  }
  throw Error(ErrorCode::unsupported, "the limits of compute capability " + name(capability) +
                                          " are not known here; known: " + join(known, ", "));
}

}  // namespace rooftile
