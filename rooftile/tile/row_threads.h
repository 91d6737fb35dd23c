// SPDX-License-Identifier: Apache-2.0
// How many threads share a row, for the host, which launches them, and for the kernel's bounds.
#pragma once

namespace rooftile::tile {

/// At most so many that keep `kept` packs of 16 bytes each; and of how many such blocks a unit has
/// room, which leaves a thread 64, 40 and 64 registers.
constexpr int most_row_threads(int kept) { return kept == 1 ? 1024 : 512; }
constexpr int row_blocks_at_once(int kept) { return kept == 1 ? 1 : kept == 2 ? 3 : 2; }

}  // namespace rooftile::tile
