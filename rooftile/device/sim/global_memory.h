// SPDX-License-Identifier: Apache-2.0
// The global memory of simulated devices: one range of addresses, in which every allocation has a
// gap behind it, and beside which lie what was initialised, what a launch touched, and who did
// (shadow.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace rooftile::sim {

struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Shadow;

class GlobalMemory {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{1} << 38;  // of addresses, not of memory
  static constexpr std::uint64_t kGap = 4096;
  static constexpr std::uint64_t kSectorBytes = 32;
  static constexpr std::uint64_t kSectorsOfGroup = 16;

  /// Reserves the addresses at first use. Throws Error(out_of_memory).
  static GlobalMemory& get();

  void* allocate(std::int64_t bytes);
  void release(void* memory) noexcept;

  [[nodiscard]] bool contains(std::uint64_t address) const { return address - base_ < kBytes; }
  [[nodiscard]] std::uint64_t base() const { return base_; }
  /// Who accessed it, by offset from base().
  [[nodiscard]] Shadow& shadow() { return *shadow_; }
  /// The allocation that holds `address`.
  [[nodiscard]] std::optional<Allocation> find(std::uint64_t address) const;
  /// "16 bytes past the end of an allocation of 4096 bytes", for an address outside of all.
  [[nodiscard]] std::string describe(std::uint64_t address) const;

  // One bit a byte. Neighbouring threads of the host may change one word: hence atomic.
  void mark_initialised(std::uint64_t address, std::uint64_t bytes) {
    if (is_initialised(address, bytes)) return;
    const std::uint64_t at = address - base_;
    if (bytes == 16 && at % 8 == 0)  // as mark_bits() would
      __builtin_memset(initialised_ + at / 8, 0xff, 2);
    else
      mark_bits(address, bytes);
  }
  void mark_undefined(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] bool is_initialised(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t at = address - base_;
    const std::uint64_t bit = at & 7;
    if (bit + bytes > 16) return are_bits_set(address, bytes);
    const auto wanted = static_cast<std::uint32_t>(((1u << bytes) - 1) << bit);
    std::uint16_t bits = 0;
    __builtin_memcpy(&bits, initialised_ + (at >> 3), sizeof bits);
    return (bits & wanted) == wanted;
  }

  // One bit a sector, of the launch that runs. Of 16 sectors those in the mask.
  void mark_touched(std::uint64_t group, std::uint16_t mask, bool is_write) {
    std::uint16_t& bits = touched_[is_write][group];
    if ((__atomic_load_n(&bits, __ATOMIC_RELAXED) & mask) == mask) return;
    if (mask == 0xffff)  // nothing of it can be lost
      __atomic_store_n(&bits, mask, __ATOMIC_RELAXED);
    else
      __atomic_fetch_or(&bits, mask, __ATOMIC_RELAXED);
  }
  [[nodiscard]] std::uint64_t sector(std::uint64_t address) const {
    return (address - base_) / kSectorBytes;
  }
  [[nodiscard]] std::uint64_t touched_sectors(bool is_write) const;
  void clear_touched();

 private:
  GlobalMemory();
  ~GlobalMemory();
  void mark_bits(std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] bool are_bits_set(std::uint64_t address, std::uint64_t bytes) const;
  std::uint64_t base_ = 0;
  std::unique_ptr<Shadow> shadow_;
  std::uint8_t* initialised_ = nullptr;
  std::uint16_t* touched_[2] = {nullptr, nullptr};
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Allocation> live_;     // by begin
  std::map<std::uint64_t, std::uint64_t> free_;  // begin to bytes, gaps included
};

/// Private pages that cost memory only when they are written.
void* reserve_pages(std::uint64_t bytes);

}  // namespace rooftile::sim
