// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/global_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "rooftile/base/error.h"
#include "rooftile/device/sim/shadow.h"

namespace rooftile::sim {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

constexpr std::int64_t kMostPoisoned = std::int64_t{256} << 20;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

void drop_pages(void* address, std::uint64_t bytes) { madvise(address, bytes, MADV_DONTNEED); }

}  // namespace

void* reserve_pages(std::uint64_t bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory,
                "the simulator cannot reserve " + std::to_string(bytes >> 30) +
                    " GiB of addresses (a limit of virtual memory: see ulimit -v)");
  return pages;
}

GlobalMemory& GlobalMemory::get() {
  static GlobalMemory memory;
  return memory;
}

GlobalMemory::GlobalMemory() : shadow_(std::make_unique<Shadow>(kBytes)) {
  base_ = round_up(reinterpret_cast<std::uint64_t>(reserve_pages(kBytes + kHugePage)), kHugePage);
  initialised_ = static_cast<std::uint8_t*>(reserve_pages(kBytes / 8 + kPage));
  for (std::uint16_t*& map : touched_)
    map = static_cast<std::uint16_t*>(reserve_pages(kBytes / kSectorBytes / 8));
  free_[base_] = kBytes;
}

GlobalMemory::~GlobalMemory() = default;

void* GlobalMemory::allocate(std::int64_t bytes) {
  const std::uint64_t wanted = round_up(static_cast<std::uint64_t>(bytes), kPage) + kGap;
  const std::scoped_lock lock(mutex_);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [begin, size] = *range;
    if (size < wanted) continue;
    free_.erase(range);
    if (size > wanted) free_[begin + wanted] = size - wanted;
    live_[begin] = {begin, begin + static_cast<std::uint64_t>(bytes)};
    auto* memory = reinterpret_cast<void*>(begin);
    if (bytes >= static_cast<std::int64_t>(kHugePage))
      madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
    // A pattern that is NaN in every floating-point type: what is read unwritten shows in results.
    // Not in the largest, which may have gaps that nobody touches.
    if (bytes <= kMostPoisoned) std::memset(memory, 0xff, static_cast<std::size_t>(bytes));
    return memory;
  }
  throw Error(ErrorCode::out_of_memory,
              "the simulated device has no " + std::to_string(bytes) + " bytes left");
}

void GlobalMemory::release(void* memory) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = live_.find(reinterpret_cast<std::uint64_t>(memory));
  if (found == live_.end()) return;
  std::uint64_t begin = found->second.begin;
  std::uint64_t size = round_up(found->second.end - begin, kPage) + kGap;
  drop_pages(memory, size);
  drop_pages(initialised_ + (begin - base_) / 8, round_up(size / 8, kPage) - kPage);
  std::memset(initialised_ + (begin - base_) / 8, 0, size / 8);
  shadow_->clear(begin - base_, size);
  live_.erase(found);
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == begin + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += size;
      return;
    }
  }
  free_[begin] = size;
}

std::optional<Allocation> GlobalMemory::find(std::uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return std::nullopt;
  const Allocation& allocation = std::prev(after)->second;
  if (address >= allocation.end) return std::nullopt;
  return allocation;
}

std::string GlobalMemory::describe(std::uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  const auto after = live_.upper_bound(address);
  std::string text = "in no allocation";
  std::uint64_t nearest = ~std::uint64_t{0};
  if (after != live_.end()) {
    nearest = after->second.begin - address;
    text = std::to_string(nearest) + " bytes before an allocation of " +
           std::to_string(after->second.end - after->second.begin) + " bytes";
  }
  if (after != live_.begin()) {
    const Allocation& before = std::prev(after)->second;
    if (address >= before.end && address - before.end < nearest)
      text = std::to_string(address - before.end) + " bytes past the end of an allocation of " +
             std::to_string(before.end - before.begin) + " bytes";
  }
  return text;
}

void GlobalMemory::mark_bits(std::uint64_t address, std::uint64_t bytes) {
  std::uint64_t at = address - base_;
  const std::uint64_t end = at + bytes;
  while (at < end) {
    const std::uint64_t bit = at & 7;
    const std::uint64_t count = std::min<std::uint64_t>(8 - bit, end - at);
    std::uint8_t& byte = initialised_[at >> 3];
    if (count == 8) {  // of whole bytes of the map nothing can be lost
      const std::uint64_t whole = (end - at) / 8;
      std::memset(&byte, 0xff, whole);
      at += whole * 8;
      continue;
    }
    const auto mask = static_cast<std::uint8_t>(((1u << count) - 1) << bit);
    if ((__atomic_load_n(&byte, __ATOMIC_RELAXED) & mask) != mask)
      __atomic_fetch_or(&byte, mask, __ATOMIC_RELAXED);
    at += count;
  }
}

void GlobalMemory::mark_undefined(std::uint64_t address, std::uint64_t bytes) {
  std::uint64_t at = address - base_;
  const std::uint64_t end = at + bytes;
  for (; at < end && at % 8 != 0; ++at)
    initialised_[at >> 3] &= static_cast<std::uint8_t>(~(1u << (at & 7)));
  const std::uint64_t whole = (end - at) / 8;
  if (at < end) std::memset(initialised_ + at / 8, 0, whole);
  for (at += whole * 8; at < end; ++at)
    initialised_[at >> 3] &= static_cast<std::uint8_t>(~(1u << (at & 7)));
}

bool GlobalMemory::are_bits_set(std::uint64_t address, std::uint64_t bytes) const {
  constexpr std::uint64_t kWord = 64;
  std::uint64_t at = address - base_;
  const std::uint64_t end = at + bytes;
  while (at < end) {
    if (at % 8 == 0 && end - at >= kWord) {
      std::uint64_t word = 0;
      std::memcpy(&word, initialised_ + (at >> 3), sizeof word);
      if (word != ~std::uint64_t{0}) return false;
      at += kWord;
      continue;
    }
    const std::uint64_t bit = at & 7;
    const std::uint64_t count = std::min<std::uint64_t>(8 - bit, end - at);
    const auto mask = static_cast<std::uint8_t>(((1u << count) - 1) << bit);
    if ((__atomic_load_n(&initialised_[at >> 3], __ATOMIC_RELAXED) & mask) != mask) return false;
    at += count;
  }
  return true;
}

std::uint64_t GlobalMemory::touched_sectors(bool is_write) const {
  const std::scoped_lock lock(mutex_);
  std::uint64_t count = 0;
  for (const auto& [begin, allocation] : live_) {
    const std::uint64_t last = sector(allocation.end + kGap) / kSectorsOfGroup;
    for (std::uint64_t i = sector(begin) / kSectorsOfGroup; i < last; ++i)
      count += static_cast<std::uint64_t>(std::popcount(touched_[is_write][i]));
  }
  return count;
}

void GlobalMemory::clear_touched() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [begin, allocation] : live_) {
    const std::uint64_t first = sector(begin) / kSectorsOfGroup;
    const std::uint64_t last = sector(allocation.end + kGap) / kSectorsOfGroup;
    for (std::uint16_t* map : touched_) std::fill(map + first, map + last, std::uint16_t{0});
  }
}

}  // namespace rooftile::sim
