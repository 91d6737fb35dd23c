// SPDX-License-Identifier: Apache-2.0
// An operation as data: what it computes, what it must cost, how it goes wrong, how close is close
// enough. Everything else (verify, bench, tune, roofline, the command line) is derived from this.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/base/rng.h"
#include "rooftile/core/cost.h"
#include "rooftile/core/problem.h"
#include "rooftile/op/tolerance.h"
#include "rooftile/op/values.h"

namespace ROOFTILE_API rooftile {

struct AxisDef {
  std::string name;
  std::string help;
  std::int64_t least = 0;  // smallest extent that makes sense
  std::optional<std::int64_t> default_extent{};
  /// The extent when none is given, from the axes declared before (offsets have one more than there
  /// are sequences).
  std::function<std::int64_t(const Problem&)> default_from{};
  /// The optional argument that alone has this axis; problems without that argument do not have the
  /// axis.
  std::string only_of{};
};

enum class Role : std::uint8_t { in, out, inout };

/// Fills one input, row-major, in double; the result is then rounded to the argument's dtype.
/// `earlier` holds the arguments declared before it (page tables need lengths).
using Generator =
    std::function<void(const Problem&, const Rng&, const Values& earlier, std::vector<double>&)>;

/// One argument. Build with in(), out(), inout() and the chained setters.
struct ArgDef {
  Role role = Role::in;
  std::string name{};
  std::vector<std::string> axes{};  // names of AxisDef, outermost first
  std::vector<DType> dtypes{};      // allowed; the first is the default
  std::string help_text{};
  std::string default_dtype_of{};        // the argument whose dtype is the default here
  bool is_optional = false;              // absent unless the problem names it
  std::string present_with{};            // present exactly when that argument is
  std::vector<std::string> may_alias{};  // outputs: inputs whose memory it may share
  bool may_be_scaled = false;            // accepts block scales (x.block=, x.scale=)
  Generator generate{};                  // empty: by the problem's data kind
  /// Strides when none are given; empty: row-major. (A layout option decides here.)
  std::function<Dims(const Problem&, const Dims& shape)> default_strides{};

  ArgDef& types(std::vector<DType> allowed) { return dtypes = std::move(allowed), *this; }
  ArgDef& like(std::string arg) { return default_dtype_of = std::move(arg), *this; }
  ArgDef& optional() { return is_optional = true, *this; }
  ArgDef& with(std::string arg) { return present_with = std::move(arg), *this; }
  ArgDef& alias(std::vector<std::string> args) { return may_alias = std::move(args), *this; }
  ArgDef& scaled() { return may_be_scaled = true, *this; }
  ArgDef& data(Generator generator) { return generate = std::move(generator), *this; }
  ArgDef& strides(std::function<Dims(const Problem&, const Dims&)> rule) {
    return default_strides = std::move(rule), *this;
  }
  ArgDef& help(std::string text) { return help_text = std::move(text), *this; }
};
ArgDef in(std::string name, std::vector<std::string> axes);
ArgDef out(std::string name, std::vector<std::string> axes);
ArgDef inout(std::string name, std::vector<std::string> axes);

/// f32, bf16, fp16: what most arguments may be.
std::vector<DType> common_floats();
/// The same and every type of GGUF blocks: what weights may be.
std::vector<DType> floats_and_blocks();

enum class OptionKind : std::uint8_t { number, integer, choice };

struct OptionDef {
  std::string name;
  OptionKind kind = OptionKind::number;
  std::string default_value{};
  std::string help{};
  std::vector<std::string> choices{};
  double least = -HUGE_VAL;
  double greatest = HUGE_VAL;
};

/// A named problem in named sets: "smoke", "ci", "edges", or a model's, as "llama3_8b.decode".
struct Case {
  std::string set;
  std::string text;  // the problem's line after the operation's name
};

/// How much of a result's bits is promised. Each includes the ones before.
enum class Determinism : std::uint8_t {
  any,
  repeatable,       // the same bits every run
  batch_invariant,  // and a row's bits do not depend on the other rows or their number
};
std::string_view name(Determinism determinism);

struct OpDef {
  std::string name;
  std::string summary;  // one sentence
  std::string formula;
  std::string source{};  // paper or specification
  std::vector<AxisDef> axes;
  std::vector<ArgDef> args;  // outputs first
  std::vector<OptionDef> options{};
  std::string batch_axis{};  // the axis of independent rows, for batch invariance; empty: none

  /// Plain loops in double over the inputs in Values, writing the outputs there: the only place
  /// that defines the operation. Rounding that is part of the meaning asks the problem for dtypes.
  std::function<void(const Problem&, Values&)> meaning;
  /// Mandatory. `data` is null before any exists; costs that depend on it then assume the most.
  std::function<Cost(const Problem&, const Values* data)> cost;
  std::function<Tolerance(const Problem&, const std::string& output)> tolerance;
  /// Combinations that make no sense, as a reason; empty or absent: all do.
  std::function<std::string(const Problem&)> invalid{};
  /// Batch invariance where a row is more than a slice: `alone` holds the slices of `row` and all
  /// other inputs whole; changes it so that its one row means what `row` means in the batch. False:
  /// no problem of one row means that. Absent: the slices do.
  std::function<bool(const Problem&, const Values& batch, std::int64_t row, Values& alone)>
      row_alone{};
  /// The largest magnitude for data=extreme that keeps results finite; absent: a quarter of the
  /// dtype's largest number.
  std::function<double(const Problem&, const ArgChoice&)> extreme_limit{};

  std::vector<Case> cases;
  int case_set_version = 1;      // raised when the cases change: proofs of the older set are stale
  std::string why_these_inputs;  // the essence of testing: why the cases and data are as they are

  [[nodiscard]] const ArgDef* find_arg(std::string_view arg_name) const;
};

/// Declaration errors (a name used twice, an unknown axis, no cost …): empty when there are none.
std::vector<std::string> declaration_errors(const OpDef& op);

}  // namespace rooftile
