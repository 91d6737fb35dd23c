// SPDX-License-Identifier: Apache-2.0
// Logical time for the detection of races: vector clocks (Lamport 1978, Mattern 1989) with epochs
// (Flanagan and Freund, "FastTrack", 2009), extended by what a GPU has: __syncthreads raises one
// number, the floor, that all threads of the block are known up to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace rooftile::sim {

/// Whoever accesses memory: a thread of a block, or an engine that works for one.
constexpr int kMaxThreads = 1024;
constexpr int kMbarrierAgents = 64;  // TMA loads and bulk copies, by the mbarrier they complete on
constexpr int kWarpgroupAgents = 8;  // wgmma
constexpr int kStoreAgents = 64;     // TMA and bulk stores, by the warp that issued them: 32 that
                                     // read shared memory, 32 that write global memory
constexpr int kCopyAgents = 32;      // cp.async, by warp
constexpr int kFirstMbarrierAgent = kMaxThreads;
constexpr int kFirstWarpgroupAgent = kFirstMbarrierAgent + kMbarrierAgents;
constexpr int kFirstStoreAgent = kFirstWarpgroupAgent + kWarpgroupAgents;
constexpr int kFirstCopyAgent = kFirstStoreAgent + kStoreAgents;
constexpr int kActors = kFirstCopyAgent + kCopyAgents;

/// When an actor did something, and whether with a strong (atomic) access.
///
///   63 many (shadow.h) | 62 strong | 61..55 launch | 54..31 block | 30..20 actor | 19..0 clock
struct Epoch {
  std::uint64_t bits = 0;

  static constexpr std::uint64_t kMany = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kStrong = std::uint64_t{1} << 62;
  static constexpr std::uint32_t kLaunches = 127;  // 1 to 127; 0 is nobody
  static constexpr std::uint32_t kBlocks = 1u << 24;
  static constexpr std::uint32_t kClocks = 1u << 20;

  static Epoch make(std::uint32_t launch, std::uint32_t block, int actor, std::uint32_t clock) {
    return {std::uint64_t{launch} << 55 | std::uint64_t{block % kBlocks} << 31 |
            std::uint64_t(actor) << 20 | clock};
  }
  /// Of a launch, the same of a block of it, by an actor.
  [[nodiscard]] Epoch at(int actor, std::uint32_t clock) const {
    return {bits | std::uint64_t(actor) << 20 | clock};
  }
  [[nodiscard]] bool is_many() const { return (bits & kMany) != 0; }
  [[nodiscard]] bool is_strong() const { return (bits & kStrong) != 0; }
  [[nodiscard]] std::uint32_t launch() const { return bits >> 55 & 127; }
  [[nodiscard]] std::uint32_t block() const { return bits >> 31 & (kBlocks - 1); }
  [[nodiscard]] int actor() const { return static_cast<int>(bits >> 20 & 2047); }
  [[nodiscard]] std::uint32_t clock() const { return bits & (kClocks - 1); }
  /// Of one launch and block; of one block and actor.
  [[nodiscard]] bool is_of_block_of(Epoch other) const { return differing(other, 31, 62) == 0; }
  [[nodiscard]] bool is_of_actor_of(Epoch other) const { return differing(other, 20, 55) == 0; }

 private:
  [[nodiscard]] std::uint64_t differing(Epoch other, int first, int end) const {
    return (bits ^ other.bits) & ((std::uint64_t{1} << end) - (std::uint64_t{1} << first));
  }
};
static_assert(kActors < 2048);

constexpr int kEngines = kActors - kMaxThreads;

/// Of each actor the later of two clocks, in `to` (clocks.cc).
void raise_clocks(std::uint32_t* to, const std::uint32_t* from, std::size_t count);

/// Clocks of the first of some actors, as many as are known.
using Clocks = std::vector<std::uint32_t>;
inline void raise_clocks(Clocks& to, const Clocks& from) {
  if (to.size() < from.size()) to.resize(from.size());
  raise_clocks(to.data(), from.data(), from.size());
}
inline std::uint32_t& clock_of(Clocks& clocks, int actor) {
  const auto at = static_cast<std::size_t>(actor);
  if (clocks.size() <= at) clocks.resize(at + 1);
  return clocks[at];
}

/// How far the knowledge of an access reaches: what it wrote is seen; or it is only over, as after
/// an arrival that releases nothing to other blocks: then a place that it read may be written; or a
/// proxy fence of global memory came behind it, so that the asynchronous proxy sees it there.
enum class Reach : std::uint8_t { seen, over, fenced };

/// What is known of some blocks: everything up to `floor` of every thread, and more of actors. Each
/// reach has entries of its own.
struct Knowledge {
  static constexpr std::uint32_t kBlockBits = 24;  // of a key; above them is the reach
  static std::uint32_t key(std::uint32_t block, Reach reach) {
    return block | std::uint32_t(reach) << kBlockBits;
  }
  static std::uint32_t block_of(std::uint32_t key) { return key & ((1u << kBlockBits) - 1); }
  static Reach reach_of(std::uint32_t key) { return static_cast<Reach>(key >> kBlockBits); }
  /// Whether what is known as `key` says can become known to `reach`.
  static bool can_reach(std::uint32_t key, Reach reach) {
    return reach == Reach::seen || reach_of(key) == Reach::seen || reach_of(key) == reach;
  }
  static std::uint32_t key_at(std::uint32_t known, Reach reach) {
    return reach == Reach::seen ? known : key(block_of(known), reach);
  }
  struct OfBlock {
    std::uint32_t block = 0;  // a key()
    std::uint32_t floor = 0;
    Clocks threads{};
    Clocks engines{};  // from kMaxThreads on
    std::uint32_t& clock(int actor) {
      return actor < kMaxThreads ? clock_of(threads, actor)
                                 : clock_of(engines, actor - kMaxThreads);
    }
    void join(const OfBlock& other) {
      floor = std::max(floor, other.floor);
      raise_clocks(threads, other.threads);
      raise_clocks(engines, other.engines);
    }
    [[nodiscard]] bool has(int actor, std::uint32_t clock) const {
      if (actor < kMaxThreads && clock <= floor) return true;
      const Clocks& clocks = actor < kMaxThreads ? threads : engines;
      const auto at = static_cast<std::size_t>(actor < kMaxThreads ? actor : actor - kMaxThreads);
      return at < clocks.size() && clocks[at] >= clock;
    }
  };
  std::vector<OfBlock> blocks{};

  [[nodiscard]] bool is_empty() const { return blocks.empty(); }
  [[nodiscard]] const OfBlock* find(std::uint32_t block) const {
    for (const OfBlock& of : blocks)
      if (of.block == block) return &of;
    return nullptr;
  }
  OfBlock& of(std::uint32_t block) {
    for (OfBlock& of : blocks)
      if (of.block == block) return of;
    return blocks.emplace_back(OfBlock{block});
  }
  void join(const Knowledge& other, Reach reach = Reach::seen) {
    for (const OfBlock& theirs : other.blocks)
      if (can_reach(theirs.block, reach)) of(key_at(theirs.block, reach)).join(theirs);
  }
  /// Of any block more than that it has fenced.
  [[nodiscard]] bool has_synchronised() const {
    return std::ranges::any_of(
        blocks, [](const OfBlock& of) { return reach_of(of.block) != Reach::fenced; });
  }
};

/// Knowledge that several threads have alike, until one of them learns more.
using SharedKnowledge = std::shared_ptr<Knowledge>;
inline Knowledge& own(SharedKnowledge& known) {
  if (known == nullptr)
    known = std::make_shared<Knowledge>();
  else if (known.use_count() > 1)
    known = std::make_shared<Knowledge>(*known);
  return *known;
}

/// What a thread knows.
struct Known {
  std::uint32_t floor = 0;          // of all threads of its block
  std::uint32_t warp_floor = 0;     // of the warp's threads
  std::uint32_t* actors = nullptr;  // null while nothing but barriers of all threads was used
  SharedKnowledge foreign{};        // of other blocks, and what Reach::fenced has of any
};

/// A thread's proxy fences of shared memory. Why not within its knowledge, as those of global
/// memory are: kernels have many, and every barrier would have to carry them.
struct ProxyFences {
  Clocks clocks{};  // of each
  Known known{};    // at the last
  Clocks actors{};  // of these
};

}  // namespace rooftile::sim
