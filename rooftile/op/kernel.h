// SPDX-License-Identifier: Apache-2.0
// A kernel: one implementation of one operation for one target, and how it is prepared and run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/core/problem.h"
#include "rooftile/core/tensor.h"
#include "rooftile/device/device.h"
#include "rooftile/op/op.h"

namespace ROOFTILE_API rooftile {

/// What a kernel's code runs on. Architectures of one vendor are apart: sm90 code runs on no sm100.
enum class Target : std::uint8_t { cpu, sm80, sm90, sm100, sm120 };
bool runs_on(Target target, const DeviceProperties& device);
std::string_view name(Target target);

/// The ranks that a collective runs over; one rank unless said otherwise.
struct Group {
  int rank = 0;
  int size = 1;
};

/// Where and with what a plan runs. The caller owns the workspace; Plan::workspace_bytes() of it,
/// aligned to 256 bytes, are used until the stream has passed the run.
struct Context {
  Stream* stream = nullptr;
  void* workspace = nullptr;
  Group group{};
};

/// The tensors of one run, in the operation's order; absent ones have no data.
class Arguments {
 public:
  Arguments(const Problem& problem, const TensorView* views) : problem_(&problem), views_(views) {}
  [[nodiscard]] const Problem& problem() const { return *problem_; }
  /// The view of the argument with this name (names are few: the search is shorter than a hash).
  const TensorView& operator[](std::string_view name) const;

 private:
  const Problem* problem_;
  const TensorView* views_;
};

/// Yes, or no with the reason in words a user can act on.
struct Support {
  std::string reason{};  // empty: yes
  explicit operator bool() const { return reason.empty(); }
};
inline Support supported() { return {}; }
inline Support unsupported(std::string reason) { return {std::move(reason)}; }

/// A launch configuration: named integers in a fixed order, printed as "mc=96 kc=256".
struct Config {
  std::vector<std::pair<std::string, std::int64_t>> values{};
  [[nodiscard]] std::int64_t at(std::string_view name) const;
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Config&, const Config&) = default;
};

/// What prepare() gives: everything that may allocate, load or choose has happened.
struct Prepared {
  /// Const, thread-safe, asynchronous, allocates nothing; arguments have been checked.
  std::function<void(const Context&, const Arguments&)> run;
  std::int64_t workspace_bytes = 0;
};

struct KernelDef {
  std::string op;
  std::string name;  // target_idea, as "cpu_simd"; the file's name
  std::string idea;  // one sentence, with its source
  Target target = Target::cpu;
  bool calls_vendor_library = false;
  Determinism determinism = Determinism::any;
  /// Asked only for problems that the operation accepts and devices of the target.
  std::function<Support(const Problem&, const DeviceProperties&)> supports;
  /// Configurations worth trying, the default first; absent: not tunable.
  std::function<std::vector<Config>(const Problem&, const DeviceProperties&)> configs{};
  std::function<Prepared(const Problem&, Device&, const Config&)> prepare;
  std::string
      own_code_hash{};  // set where the code lies outside any loaded module (cubins, C entries)

  [[nodiscard]] std::string id() const { return op + "/" + name; }
};

/// The kernel's answer, or the reason why its target or options rule it out before it is asked.
Support supports(const KernelDef& kernel, const Problem& problem, const DeviceProperties& device);

}  // namespace rooftile
