// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/shadow.h"

#include <sys/mman.h>

#include <algorithm>

#include "rooftile/device/sim/global_memory.h"

namespace rooftile::sim {

ShadowPage::ShadowPage() {
  levels_[kCoarse] = std::make_unique<Cell[]>(kShadowPageBytes >> kCoarse);
}

std::uint32_t ShadowPage::split(std::uint32_t wanted) {
  const std::scoped_lock lock(mutex_);
  std::uint32_t shift = shift_.load(std::memory_order_relaxed);
  const std::uint32_t finer = (wanted & 3) == 0 ? kWord : kByte;
  if (shift <= finer) return shift;
  const std::size_t count = kShadowPageBytes >> finer;
  auto cells = std::make_unique_for_overwrite<Cell[]>(count);
  for (std::size_t i = 0; i < count; ++i) cells[i] = levels_[shift][i >> (shift - finer)];
  levels_[finer] = std::move(cells);
  shift_.store(finer, std::memory_order_release);
  return finer;
}

Shadow::Shadow(std::uint64_t bytes)
    : bytes_(bytes / kShadowPageBytes * sizeof(std::atomic<ShadowPage*>)),
      pages_(static_cast<std::atomic<ShadowPage*>*>(reserve_pages(bytes_))) {}

Shadow::~Shadow() { munmap(pages_, bytes_); }

ShadowPage& Shadow::make_page(std::atomic<ShadowPage*>& slot) {
  const std::scoped_lock lock(mutex_);
  if (slot.load(std::memory_order_relaxed) == nullptr) {
    made_.push_back(std::make_unique<ShadowPage>());
    slots_.push_back(&slot);
    slot.store(made_.back().get(), std::memory_order_release);
  }
  return *slot.load(std::memory_order_relaxed);
}

void Shadow::clear() {
  const std::scoped_lock lock(mutex_);
  for (std::atomic<ShadowPage*>* slot : slots_) slot->store(nullptr, std::memory_order_relaxed);
  slots_.clear();
  made_.clear();
}

}  // namespace rooftile::sim
