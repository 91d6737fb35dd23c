// SPDX-License-Identifier: Apache-2.0
// What is known: operations, each with its kernels in order of preference. Filled from explicit
// lists (ops/catalogue.inc, each operation's kernels.inc) and by plugins; no static object
// registers itself.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/kernel.h"
#include "rooftile/op/op.h"

namespace ROOFTILE_API rooftile {

/// One operation and its implementations. The reference (the meaning, run in double) is made from
/// the declaration and stands apart: it can be named, dispatch never falls back to it.
struct Operation {
  const OpDef* def = nullptr;
  std::vector<const KernelDef*> kernels{};  // in order of preference
  std::shared_ptr<const KernelDef> reference{};

  /// Throws Error(bad_input) with near misses; "reference" is known too.
  [[nodiscard]] const KernelDef& kernel(std::string_view name) const;
};

class Registry {
 public:
  /// Both are referred to, not copied. Throws Error(bad_input) for a faulty declaration, a name
  /// taken or a kernel without prepare, supports or operation.
  void add(const OpDef& op);
  void add(const KernelDef& kernel);

  /// Throws Error(bad_input) with near misses.
  [[nodiscard]] const Operation& operation(std::string_view name) const;
  [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }

  /// The problem that a line names, its kernel checked too.
  [[nodiscard]] Problem bind(std::string_view line) const;

 private:
  std::vector<Operation> operations_;
};

/// The meaning as a kernel of the cpu: widens, computes in double, rounds.
KernelDef make_reference(const OpDef& op);

}  // namespace rooftile
