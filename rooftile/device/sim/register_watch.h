// SPDX-License-Identifier: Apache-2.0
// The registers of a thread that wgmma uses, which are an array on its stack: while an instruction
// is in flight nobody may touch them, and what touched them since the last wgmma.fence must be
// fenced before the next instruction uses them.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace rooftile::sim {

struct RegisterArray {
  std::uint64_t begin = 0, end = 0;
  int accumulators = -1;         // of Warpgroup, -1 for registers of operand A
  std::uint32_t last_group = 0;  // of the wgmma that use it
  std::uint32_t pc = 0;          // of the latest
};

class RegisterWatch {
 public:
  bool has_fenced = false;

  [[nodiscard]] std::vector<RegisterArray>& in_flight() { return in_flight_; }
  /// The array in flight that overlaps [begin, end), or null.
  RegisterArray* find(std::uint64_t begin, std::uint64_t end);

  /// Called for each access of the thread's stack once it has used wgmma.
  void note(std::uint64_t address, std::uint32_t bytes, bool is_write, std::uint32_t pc);
  void fence();
  /// Where [begin, end) was accessed since the last fence, 0 if it was not.
  [[nodiscard]] std::uint32_t touched(std::uint64_t begin, std::uint64_t end,
                                      bool by_writes_only) const;

 private:
  struct Touch {
    std::uint64_t begin, end;
    bool is_write;
    std::uint32_t pc;
  };
  // Why a limit: only what is touched between a fence and a wgmma matters, which is little.
  static constexpr std::size_t kTouches = 64;
  std::vector<RegisterArray> in_flight_;
  std::vector<Touch> touches_;
};

/// Whether any thread of the launch that runs has used wgmma. Why: every access of a local asks.
extern std::atomic<bool> registers_are_watched;

/// The same for what the simulator itself does to registers of the current thread.
void note_registers(const void* registers, std::uint32_t bytes, bool is_write, std::uint32_t pc);

}  // namespace rooftile::sim
