// SPDX-License-Identifier: Apache-2.0
// A wgmma's arithmetic: operands from shared memory as it is now, accumulators in the engine.
#include <array>
#include <cstring>

#include "rooftile/device/sim/wgmma.h"
#include "rooftile/tile/fragment.h"

namespace rooftile::sim {
namespace {

constexpr int kLargestK = 32;
constexpr int kLargestN = 256;

template <int kBits>
void read_a_registers(MatrixValue* values, const WgmmaOperation& operation) {
  constexpr int kElements = 4 * 32 / kBits;  // of a thread
  std::array<MatrixValue, kElements> elements;
  for (int thread = 0; thread < kWarpgroupThreads; ++thread) {
    unpack(elements.data(), 1,
           operation.a_registers.data() + 4 * static_cast<std::ptrdiff_t>(thread), kElements,
           operation.form.a, operation.form.scale_a);
    for (int i = 0; i < kElements; ++i) {
      const FragmentElement at = wgmma_operand_a<kBits>(thread, i);
      values[at.row * operation.form.k + at.column] = elements[static_cast<std::size_t>(i)];
    }
  }
}

void read_a(MatrixValue* values, const WgmmaOperation& operation, Block& block) {
  if (operation.is_a_shared)
    read_operand(values, operation.form.k, 1, operation.operand_a(), block);
  else if (operation.form.k == 8)
    read_a_registers<32>(values, operation);
  else if (operation.form.k == 16)
    read_a_registers<16>(values, operation);
  else
    read_a_registers<8>(values, operation);
}

void happen(Warpgroup& group, const WgmmaOperation& operation) {
  static thread_local std::array<MatrixValue, kWgmmaRows * kLargestK> a;
  static thread_local std::array<MatrixValue, kLargestN * kLargestK> b;
  const WgmmaForm& form = operation.form;
  read_a(a.data(), operation, *group.block);
  read_operand(b.data(), 1, form.n, operation.operand_b(), *group.block);
  Accumulators& d = group.accumulators[static_cast<std::size_t>(operation.accumulators)];
  if (!operation.accumulate)
    std::memset(static_cast<void*>(d.values.data()), 0, d.values.size() * sizeof(MatrixValue));
  multiply_add(MatrixUnit::wgmma, {form.a, form.b, form.d}, kWgmmaRows, form.n, form.k, a.data(),
               b.data(), d.values.data());
}

}  // namespace

void happen_until(Warpgroup& group, std::uint64_t last) {
  for (std::size_t i = 0; i < group.operations.size(); ++i) {
    if (group.first_operation + i > last) return;
    WgmmaOperation& operation = group.operations[i];
    if (operation.has_happened || operation.arrived != kWarpgroupThreads) continue;
    happen(group, operation);
    operation.has_happened = true;
  }
}

}  // namespace rooftile::sim
