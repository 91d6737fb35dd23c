// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cpu/caches.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>

#include "rooftile/base/text.h"

namespace rooftile {
namespace {

constexpr std::int64_t kUnknown = 32 << 20;

// The first word of a file of /sys; empty when there is none. (Their sizes are not known before
// they are read.)
std::string word_in(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

// "32768K"
std::int64_t size_in(const std::string& path) {
  std::string text = word_in(path);
  if (!text.ends_with('K')) return 0;
  text.pop_back();
  return parse_int(text).value_or(0) * 1024;
}

struct Cache {
  std::string shared_by;  // "0-7": who it is shared by says which one it is
  std::int64_t bytes = 0;
};

std::optional<Cache> last_cache(const std::string& folder) {
  std::optional<Cache> last;
  std::int64_t deepest = 0;
  for (int i = 0; !word_in(folder + "/index" + std::to_string(i) + "/level").empty(); ++i) {
    const std::string index = folder + "/index" + std::to_string(i);
    const std::int64_t level = parse_int(word_in(index + "/level")).value_or(0);
    if (level <= deepest || word_in(index + "/type") == "Instruction") continue;
    deepest = level;
    last = {.shared_by = word_in(index + "/shared_cpu_list"), .bytes = size_in(index + "/size")};
  }
  return last;
}

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return processors;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  return processors;
}

}  // namespace

std::int64_t last_level_cache_bytes(const std::string& folder, const std::vector<int>& processors) {
  std::map<std::string, std::int64_t> distinct;
  for (const int i : processors)
    if (const auto cache = last_cache(folder + "/cpu" + std::to_string(i) + "/cache"))
      distinct[cache->shared_by] = cache->bytes;
  std::int64_t bytes = 0;
  for (const auto& [shared_by, size] : distinct) bytes += size;
  return bytes;
}

std::int64_t last_level_cache_bytes() {
  const std::int64_t bytes =
      last_level_cache_bytes("/sys/devices/system/cpu", allowed_processors());
  return bytes > 0 ? bytes : kUnknown;
}

std::int64_t most_cache_bytes() {
  std::int64_t most = last_level_cache_bytes();
  for (const int name : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE})
    most = std::max<std::int64_t>(most, sysconf(name));
  return most;
}

}  // namespace rooftile
