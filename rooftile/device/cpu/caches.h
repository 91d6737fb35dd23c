// SPDX-License-Identifier: Apache-2.0
// How much the last-level caches hold, as the kernel lists them for each processor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rooftile {

/// The bytes of all distinct last-level caches of these processors, from `folder`/cpuN/cache
/// (Linux: /sys/devices/system/cpu); 0 where it lists none. Why not sysconf() alone: it asks CPUID,
/// which may count the caches of a whole socket inside a virtual machine that has two of its cores.
std::int64_t last_level_cache_bytes(const std::string& folder, const std::vector<int>& processors);

/// The same for the processors that this process may run on; 32 MiB where nothing is known.
std::int64_t last_level_cache_bytes();

/// What must be read to be sure that no cache holds anything else: the larger of the above and what
/// CPUID says, since a virtual machine may list less than there is.
std::int64_t most_cache_bytes();

}  // namespace rooftile
