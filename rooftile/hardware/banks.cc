// SPDX-License-Identifier: Apache-2.0
#include "rooftile/hardware/banks.h"

#include <algorithm>
#include <array>

#include "rooftile/hardware/sm_limits.h"

namespace rooftile {
namespace {

constexpr int kLargestAccessBytes = 16;
constexpr int kBytesPerWavefront = kBanks * kBankBytes;

// Whether every active lane's partner (lane ^ distance) is inactive or at the same address.
bool partners_agree(const WarpAccess& access, int distance) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const int partner = lane ^ distance;
    if (access.is_active(lane) && access.is_active(partner) &&
        access.address(lane) != access.address(partner))
      return false;
  }
  return true;
}

int lanes_per_transaction(const WarpAccess& access, AccessKind kind) {
  const int lanes = std::min(kWarpLanes, kBytesPerWavefront / access.bytes_per_lane);
  const bool merges = lanes < kWarpLanes && kind == AccessKind::load &&
                      (partners_agree(access, 1) || partners_agree(access, 2));
  return merges ? 2 * lanes : lanes;
}

// The most distinct words that these lanes want of one bank: 0 when none is active.
int wavefronts_of(const WarpAccess& access, int first_lane, int lanes) {
  std::array<std::uint64_t, kWarpLanes * kLargestAccessBytes / kBankBytes> words;
  std::size_t count = 0;
  const int words_per_lane = std::max(1, access.bytes_per_lane / kBankBytes);
  for (int lane = first_lane; lane < first_lane + lanes; ++lane)
    for (int word = 0; access.is_active(lane) && word < words_per_lane; ++word)
      words[count++] = access.address(lane) / kBankBytes + static_cast<unsigned>(word);
  const auto begin = words.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(count);
  std::sort(begin, end);
  std::array<int, kBanks> wanted{};
  std::for_each(begin, std::unique(begin, end),
                [&](std::uint64_t word) { ++wanted[word % kBanks]; });
  return *std::max_element(wanted.begin(), wanted.end());
}

}  // namespace

BankAccess bank_access(const WarpAccess& access, AccessKind kind) {
  check_access(access, kLargestAccessBytes);
  const int lanes = lanes_per_transaction(access, kind);
  BankAccess result;
  for (int first = 0; first < kWarpLanes; first += lanes) {
    const int wavefronts = wavefronts_of(access, first, lanes);
    result.transactions += wavefronts > 0 ? 1 : 0;
    result.wavefronts += wavefronts;
  }
  return result;
}

}  // namespace rooftile
