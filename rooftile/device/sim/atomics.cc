// SPDX-License-Identifier: Apache-2.0
// Atomics, strong loads and stores, and fences, with what they order. Source: PTX ISA, "Memory
// Consistency Model": a fence before a strong write publishes what the thread has done and knows; a
// strong read that sees it, and a fence after it, learns that.
#include <cmath>
#include <cstring>
#include <limits>

#include "rooftile/device/sim/global_memory.h"
#include "rooftile/device/sim/machine.h"
#include "rooftile/formats/bf16.h"
#include "rooftile/formats/fp16.h"

namespace rooftile::sim {
namespace {

template <class T>
T from(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T>
std::uint64_t bits(T value) {
  std::uint64_t out = 0;
  std::memcpy(&out, &value, sizeof(T));
  return out;
}

template <class T>
std::uint64_t arithmetic(Atomic op, std::uint64_t old, std::uint64_t value) {
  const T a = from<T>(old);
  const T b = from<T>(value);
  switch (op) {
    case Atomic::min:
      return bits<T>(b < a ? b : a);
    case Atomic::max:
      return bits<T>(a < b ? b : a);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return bits<T>(static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
  } else {
    return bits<T>(a + b);
  }
}

/// Of each 16-bit number of a word. Sums round to nearest even; the least and the greatest ignore
/// NaN.
template <class T>
std::uint64_t arithmetic16(Atomic op, std::uint64_t old, std::uint64_t value) {
  std::uint64_t out = 0;
  for (int part = 0; part < 4; ++part) {
    const T first{static_cast<std::uint16_t>(old >> 16 * part)};
    const T second{static_cast<std::uint16_t>(value >> 16 * part)};
    const auto a = static_cast<float>(first);
    const auto b = static_cast<float>(second);
    T result = T::from(a + b, T::kOverflow, Rounding::nearest_even);
    if (op == Atomic::min) result = std::isnan(b) || a < b ? first : second;
    if (op == Atomic::max) result = std::isnan(b) || a > b ? first : second;
    out |= std::uint64_t{result.bits} << 16 * part;
  }
  return out;
}

std::uint64_t apply(Atomic op, Number type, int bytes, std::uint64_t old, std::uint64_t value,
                    std::uint64_t compare) {
  switch (op) {
    case Atomic::exchange:
      return value;
    case Atomic::compare_exchange:
      return old == compare ? value : old;
    case Atomic::bit_and:
      return old & value;
    case Atomic::bit_or:
      return old | value;
    case Atomic::bit_xor:
      return old ^ value;
    case Atomic::increment:
      return old >= value ? 0 : old + 1;
    case Atomic::decrement:
      return old == 0 || old > value ? value : old - 1;
    default:
      break;
  }
  switch (type) {
    case Number::unsigned_integer:
      return bytes == 8 ? arithmetic<std::uint64_t>(op, old, value)
                        : arithmetic<std::uint32_t>(op, old, value);
    case Number::signed_integer:
      return bytes == 8 ? arithmetic<std::int64_t>(op, old, value)
                        : arithmetic<std::int32_t>(op, old, value);
    case Number::floating_point:
      return bytes == 8 ? arithmetic<double>(op, old, value) : arithmetic<float>(op, old, value);
    case Number::f16:
    case Number::f16x2:
      return arithmetic16<fp16>(op, old, value);
    case Number::bf16:
    case Number::bf16x2:
      return arithmetic16<bf16>(op, old, value);
  }
  return old;
}

template <class T>
std::uint64_t exchange_until(void* address, Atomic op, Number type, std::uint64_t value,
                             std::uint64_t compare) {
  auto* at = static_cast<T*>(address);
  T old = __atomic_load_n(at, __ATOMIC_RELAXED);
  T next;
  do {
    next = static_cast<T>(apply(op, type, sizeof(T), old, value, compare));
  } while (!__atomic_compare_exchange_n(at, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old;
}

Launch::Published& published_at(std::uint64_t address) {
  return worker()->launch.published[address / 8 % worker()->launch.published.size()];
}

/// What the thread's last fence covers: relaxed strong writes publish no more than that.
Knowledge fenced_knowledge(Block& block, int number) {
  const Thread& thread = block[number];
  Knowledge known;
  if (thread.fenced_clock == 0 && thread.fenced_floor == 0) return known;
  Knowledge::OfBlock& mine = known.of(block.number % Epoch::kBlocks);
  mine.floor = thread.fenced_floor;
  mine.actors.assign(kActors, 0);
  mine.actors[static_cast<std::size_t>(number)] = thread.fenced_clock;
  if (thread.foreign != nullptr) known.join(*thread.foreign);
  return known;
}

void release(std::uint64_t address, bool is_ordered) {
  Block& block = *worker()->block;
  Knowledge known;
  if (is_ordered)
    publish(known, block, worker()->thread);
  else
    known = fenced_knowledge(block, worker()->thread);
  if (known.is_empty()) return;
  Launch::Published& published = published_at(address);
  const std::scoped_lock lock(published.mutex);
  published.known[address].join(known);
}

void acquire(std::uint64_t address, bool is_ordered) {
  Block& block = *worker()->block;
  Knowledge known;
  {
    Launch::Published& published = published_at(address);
    const std::scoped_lock lock(published.mutex);
    const auto found = published.known.find(address);
    if (found == published.known.end()) return;
    known = found->second;
  }
  if (is_ordered) {
    learn(block, worker()->thread, known);
    return;
  }
  std::unique_ptr<Knowledge>& unfenced = block[worker()->thread].unfenced;
  if (unfenced == nullptr) unfenced = std::make_unique<Knowledge>();
  unfenced->join(known);
}

/// A thread that asks again for what it has just seen unchanged waits for it. Why before the
/// access: whatever happened meanwhile is seen by it.
void wait_for_change(const void* address) {
  Thread& thread = worker()->current();
  if (thread.spin_address == reinterpret_cast<std::uint64_t>(address)) yield();
}

void check_strong(const void* address, int bytes, bool is_write, std::uint32_t pc) {
  // AccessOp::atomic marks the access as strong; loads of it race with nothing strong.
  if (!on_access(reinterpret_cast<std::uint64_t>(address), static_cast<std::uint32_t>(bytes),
                 is_write, pc, AccessOp::atomic))
    abandon();
}

}  // namespace

std::uint64_t apply_atomic(Atomic op, Number type, int bytes, void* address, std::uint64_t value,
                           std::uint64_t compare) {
  switch (bytes) {
    case 2:
      return exchange_until<std::uint16_t>(address, op, type, value, compare);
    case 4:
      return exchange_until<std::uint32_t>(address, op, type, value, compare);
    default:
      return exchange_until<std::uint64_t>(address, op, type, value, compare);
  }
}

std::uint64_t atomic(Atomic op, Number type, int bytes, void* address, std::uint64_t value,
                     std::uint64_t compare, bool ordered) {
  const bool checks = worker()->launch.options.check;
  const auto is_unchanged = [&](std::uint64_t old) {
    return apply(op, type, bytes, old, value, compare) == old;
  };
  wait_for_change(address);
  check_strong(address, bytes, true, ROOFTILE_SIM_PC);
  const auto at = reinterpret_cast<std::uint64_t>(address);
  if (checks) release(at, ordered);
  const std::uint64_t old = apply_atomic(op, type, bytes, address, value, compare);
  if (checks) acquire(at, ordered);
  const bool is_same = is_unchanged(old);
  worker()->current().spin_address = is_same ? at : 0;
  if (!is_same) note_progress();
  return old;
}

std::uint64_t strong_load(const void* address, int bytes, bool acquires) {
  wait_for_change(address);
  check_strong(address, bytes, false, ROOFTILE_SIM_PC);
  worker()->current().spin_address = reinterpret_cast<std::uint64_t>(address);
  std::uint64_t value = 0;
  switch (bytes) {
    case 2:
      value = __atomic_load_n(static_cast<const std::uint16_t*>(address), __ATOMIC_SEQ_CST);
      break;
    case 4:
      value = __atomic_load_n(static_cast<const std::uint32_t*>(address), __ATOMIC_SEQ_CST);
      break;
    default:
      value = __atomic_load_n(static_cast<const std::uint64_t*>(address), __ATOMIC_SEQ_CST);
      break;
  }
  if (worker()->launch.options.check) acquire(reinterpret_cast<std::uint64_t>(address), acquires);
  return value;
}

void strong_store(void* address, int bytes, std::uint64_t value, bool releases) {
  check_strong(address, bytes, true, ROOFTILE_SIM_PC);
  if (worker()->launch.options.check) release(reinterpret_cast<std::uint64_t>(address), releases);
  switch (bytes) {
    case 2:
      __atomic_store_n(static_cast<std::uint16_t*>(address), static_cast<std::uint16_t>(value),
                       __ATOMIC_SEQ_CST);
      break;
    case 4:
      __atomic_store_n(static_cast<std::uint32_t*>(address), static_cast<std::uint32_t>(value),
                       __ATOMIC_SEQ_CST);
      break;
    default:
      __atomic_store_n(static_cast<std::uint64_t*>(address), value, __ATOMIC_SEQ_CST);
      break;
  }
  note_progress();
}

void fence(Scope scope) {
  Block& block = *worker()->block;
  Thread& thread = block[worker()->thread];
  ++worker()->counters[SimCounter::fences];
  if (scope == Scope::block) return;
  if (thread.unfenced != nullptr) {
    learn(block, worker()->thread, *thread.unfenced);
    thread.unfenced.reset();
  }
  thread.fenced_clock = thread.clock;
  thread.fenced_floor = thread.floor;
  tick(block, thread);
}

void yield() {
  Thread& thread = worker()->current();
  ++thread.spins;
  block_thread(State::yielded);
}

std::uint64_t clock() {
  yield();
  return worker()->counters[SimCounter::fiber_switches];
}

}  // namespace rooftile::sim
