// SPDX-License-Identifier: Apache-2.0
// Indices past an array's end that no address gives away: of a thread's own arrays, which are
// registers on a GPU, and of an inner dimension. g++ -fsanitize=bounds compares each index with the
// array's type before the access; its call has our name (Kernels.cmake), so that programs with the
// sanitizer's own runtime keep that for their own code. Layouts: GCC's ubsan.c.
#include "rooftile/device/sim/machine.h"

namespace rooftile::sim {
namespace {

struct TypeDescriptor {
  std::uint16_t kind;
  std::uint16_t info;  // of integers: whether signed, and above that the logarithm of the bits
  char name[1];        // ends with 0
};

struct OutOfBounds {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
  const TypeDescriptor* array;
  const TypeDescriptor* index;
};

std::string index_text(const TypeDescriptor& type, std::uint64_t value) {
  if ((type.info & 1) == 0) return std::to_string(value);
  const unsigned unused = 64 - (1u << (type.info >> 1));
  return std::to_string(static_cast<std::int64_t>(value << unused) >> unused);
}

}  // namespace
}  // namespace rooftile::sim

extern "C" [[gnu::visibility("default")]] void rooftile_sim_out_of_bounds(
    const rooftile::sim::OutOfBounds* what, std::uint64_t index);

// Abandons the launch: the access might destroy what is not the kernel's.
extern "C" void rooftile_sim_out_of_bounds(const rooftile::sim::OutOfBounds* what,
                                           std::uint64_t index) {
  using namespace rooftile;
  if (sim::worker() == nullptr) return;
  sim::report(FindingKind::out_of_bounds, ROOFTILE_SIM_PC, 0,
              sim::describe_here() + ": index " + sim::index_text(*what->index, index) + " of " +
                  what->array->name);
  sim::abandon();
}
