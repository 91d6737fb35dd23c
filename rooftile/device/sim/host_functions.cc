// SPDX-License-Identifier: Apache-2.0
// The host's functions that kernels may call by their C++ names (std::exp, memcpy, assert). Those
// with other bits than CUDA's are refused by name and line: the build gives a kernel's calls of
// them the names that are defined here (cmake/Kernels.cmake), so that no overload and no header
// gets past it.
#include <cstring>

#include "rooftile/base/error.h"
#include "rooftile/device/sim/machine.h"
#include "rooftile/tile/sim/math.h"
#include "rooftile/tile/sim/memory.h"

namespace rooftile::sim {
namespace {

[[noreturn]] void refuse(const char* function, std::uint32_t pc) {
  const std::string text =
      std::string("the simulator lacks ") + function +
      ": CUDA's has other bits than the host's (rooftile/tile/math.h has functions with the same)";
  if (worker() == nullptr) throw Error(ErrorCode::unsupported, text);
  report(FindingKind::unsupported, pc, 0, describe_here() + ": " + text);
  abandon();
}

/// As the GPU's loop would access them: by words where all are aligned, else by bytes.
void access_range(const void* address, std::size_t bytes, std::uint64_t alignment, bool is_write,
                  std::uint32_t pc) {
  on_range(address, bytes, alignment % 4 == 0 ? 4 : 1, is_write, pc);
}

}  // namespace

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  const std::uint32_t pc = ROOFTILE_SIM_PC;
  const std::uint64_t alignment =
      reinterpret_cast<std::uint64_t>(to) | reinterpret_cast<std::uint64_t>(from) | bytes;
  access_range(from, bytes, alignment, false, pc);
  access_range(to, bytes, alignment, true, pc);
  std::memmove(to, from, bytes);
}

void set_bytes(void* to, int value, std::size_t bytes) {
  access_range(to, bytes, reinterpret_cast<std::uint64_t>(to) | bytes, true, ROOFTILE_SIM_PC);
  std::memset(to, value, bytes);
}

}  // namespace rooftile::sim

// NOLINTBEGIN: names that the build gives
#define ROOFTILE_LACKS(name, function) \
  void name();                         \
  void name() { rooftile::sim::refuse(function, ROOFTILE_SIM_PC); }
// Of double and of float. Pasted in this order, since the header of kernels has poisoned expf.
#define ROOFTILE_LACKS_BOTH(name)                  \
  ROOFTILE_LACKS(rooftile_sim_lacks_##name, #name) \
  ROOFTILE_LACKS(rooftile_sim_lacks_##name##f, #name "f")

#pragma GCC visibility push(default)
extern "C" {
ROOFTILE_LACKS_BOTH(exp)
ROOFTILE_LACKS_BOTH(exp2)
ROOFTILE_LACKS_BOTH(exp10)
ROOFTILE_LACKS_BOTH(expm1)
ROOFTILE_LACKS_BOTH(log)
ROOFTILE_LACKS_BOTH(log2)
ROOFTILE_LACKS_BOTH(log10)
ROOFTILE_LACKS_BOTH(log1p)
ROOFTILE_LACKS_BOTH(pow)
ROOFTILE_LACKS_BOTH(sin)
ROOFTILE_LACKS_BOTH(cos)
ROOFTILE_LACKS_BOTH(tan)
ROOFTILE_LACKS_BOTH(sincos)
ROOFTILE_LACKS_BOTH(asin)
ROOFTILE_LACKS_BOTH(acos)
ROOFTILE_LACKS_BOTH(atan)
ROOFTILE_LACKS_BOTH(atan2)
ROOFTILE_LACKS_BOTH(sinh)
ROOFTILE_LACKS_BOTH(cosh)
ROOFTILE_LACKS_BOTH(tanh)
ROOFTILE_LACKS_BOTH(asinh)
ROOFTILE_LACKS_BOTH(acosh)
ROOFTILE_LACKS_BOTH(atanh)
ROOFTILE_LACKS_BOTH(erf)
ROOFTILE_LACKS_BOTH(erfc)
ROOFTILE_LACKS_BOTH(tgamma)
ROOFTILE_LACKS_BOTH(lgamma)
ROOFTILE_LACKS_BOTH(cbrt)
ROOFTILE_LACKS_BOTH(hypot)

// The host's may take either of two zeros.
float rooftile_sim_fminf(float a, float b);
float rooftile_sim_fminf(float a, float b) { return rooftile::sim::least(a, b); }
float rooftile_sim_fmaxf(float a, float b);
float rooftile_sim_fmaxf(float a, float b) { return rooftile::sim::greatest(a, b); }
double rooftile_sim_fmin(double a, double b);
double rooftile_sim_fmin(double a, double b) { return rooftile::sim::least(a, b); }
double rooftile_sim_fmax(double a, double b);
double rooftile_sim_fmax(double a, double b) { return rooftile::sim::greatest(a, b); }

[[noreturn]] void rooftile_sim_assert_fail(const char* what, const char*, unsigned, const char*);
void rooftile_sim_assert_fail(const char* what, const char*, unsigned, const char*) {
  using namespace rooftile::sim;
  if (worker() == nullptr)
    throw rooftile::Error(rooftile::ErrorCode::device, std::string("assert: ") + what);
  report(rooftile::FindingKind::trap, ROOFTILE_SIM_PC, 0,
         describe_here() + ": assert(" + what + ") failed");
  abandon();
}

// Where a kernel divides integers by 0. A GPU gives some number; the host's processor would end the
// program.
void rooftile_sim_divide_by_zero();
void rooftile_sim_divide_by_zero() {
  using namespace rooftile::sim;
  if (worker() == nullptr)
    throw rooftile::Error(rooftile::ErrorCode::device, "a kernel's file divides integers by 0");
  report(rooftile::FindingKind::bad_operand, ROOFTILE_SIM_PC, 0,
         describe_here() + " divides an integer by 0");
  abandon();
}
}
#pragma GCC visibility pop
// NOLINTEND
