// SPDX-License-Identifier: Apache-2.0
// How many passes (wavefronts) one warp's access of shared memory takes. There are 32 banks of
// 4 bytes; one pass serves one word of each bank, to any number of lanes. The rules of 8- and
// 16-byte accesses are not documented: they are those of NVIDIA's forum (thread 77228), confirmed
// with Nsight Compute's wavefront counts on an H200 (2026-11-29), which showed that stores never
// merge. Compute capabilities other than 9.0 were not measured.
#pragma once

#include "rooftile/base/api.h"
#include "rooftile/hardware/warp_access.h"

namespace ROOFTILE_API rooftile {

constexpr int kBanks = 32;
constexpr int kBankBytes = 4;

enum class AccessKind : std::uint8_t { load, store };

/// An access is served in transactions of the lanes that can at best share a pass:
///
///   bytes a lane   transactions                      lanes 0..31
///    1, 2, 4       1                                 [               0               ]
///    8             2 half warps                      [       0       |       1       ]
///   16             4 quarter warps                   [   0   |   1   |   2   |   3   ]
///
/// Neighbouring transactions of a load merge (16 bytes: the two quarters of a half warp; half warps
/// never) if for every active lane i, lane i^1 is inactive or has the same address; or if that
/// holds of i^2 for every active lane.
struct BankAccess {
  int transactions = 0;  // those with an active lane, after merging
  int wavefronts = 0;    // passes taken; equal to transactions when nothing conflicts
  [[nodiscard]] int conflicts() const { return wavefronts - transactions; }
};

/// bytes_per_lane is 1, 2, 4, 8 or 16. Throws Error(bad_input), see check_access().
BankAccess bank_access(const WarpAccess& access, AccessKind kind = AccessKind::load);

}  // namespace rooftile
