// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/shadow.h"

#include <sys/mman.h>

#include <algorithm>

#include "rooftile/device/sim/global_memory.h"

namespace rooftile::sim {

Cell* ShadowPage::make_split() {
  const std::scoped_lock lock(mutex_);
  if (owned_ == nullptr) {
    owned_ = std::make_unique<Cell[]>(kShadowPageBytes);
    for (std::size_t i = 0; i < kShadowPageBytes; ++i) owned_[i] = words_[i / 4];
    split_.store(owned_.get(), std::memory_order_release);
  }
  return owned_.get();
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
