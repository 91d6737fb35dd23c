// SPDX-License-Identifier: Apache-2.0
// A problem: an operation with every axis, dtype, view, option and the data's kind and seed fixed.
// One line of text names it, the same in every verb, result and record:
//   rmsnorm/cpu_simd rows=4096 cols=8192 x=bf16 w=f32 eps=1e-5 x.stride=8200,1 data=randn seed=7
// Text becomes a Problem in op/bind.h, which knows the operation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/shape.h"
#include "rooftile/core/tensor.h"

namespace ROOFTILE_API rooftile {

/// How a quantised argument is scaled (see Scaling): the choice, without memory.
struct ScaleChoice {
  DType dtype = DType::f32;
  Dims block{};
  ScaleLayout layout = ScaleLayout::row_major;
  std::optional<DType> zero_point{};
  std::optional<DType> second_scale{};
  friend bool operator==(const ScaleChoice&, const ScaleChoice&) = default;
};

/// One argument as this problem has it.
struct ArgChoice {
  std::string name{};
  bool is_present = true;
  bool is_output = false;  // out or inout
  DType dtype = DType::f32;
  Dims shape{};
  Dims strides{};  // elements
  std::int64_t offset =
      0;  // elements between the aligned start of the memory and the first element
  bool has_own_strides = false;  // given, rather than following from the shape and options
  std::optional<ScaleChoice> scaling{};
  std::string alias{};  // the argument whose memory this output uses
};

struct OptionChoice {
  std::string name{};
  std::string value{};
  bool is_default = true;
};

struct Problem {
  std::string op{};
  std::string kernel{};  // the part after the slash; empty: dispatch chooses
  std::vector<std::pair<std::string, std::int64_t>> axes{};
  std::vector<ArgChoice> args{};  // all that the operation declares, in its order
  std::vector<OptionChoice> options{};
  std::string data = "randn";
  std::uint64_t seed = 0;

  // Look-ups by name; a name that the operation does not declare is Error(internal).
  [[nodiscard]] std::int64_t axis(std::string_view name) const;
  [[nodiscard]] const ArgChoice& arg(std::string_view name) const;
  [[nodiscard]] ArgChoice& arg(std::string_view name);
  [[nodiscard]] bool has(std::string_view arg_name) const { return arg(arg_name).is_present; }
  [[nodiscard]] DType dtype(std::string_view arg_name) const { return arg(arg_name).dtype; }
  [[nodiscard]] std::string_view option(std::string_view name) const;
  [[nodiscard]] double number(std::string_view option_name) const;

  /// Compulsory bytes of one present argument, with its scales; 0 when absent. What a stride of 0
  /// repeats is one element in memory.
  [[nodiscard]] double bytes(std::string_view arg_name) const;

  /// The line that names this problem. With `with_kernel` false, the line shared by all kernels.
  [[nodiscard]] std::string text(bool with_kernel = true) const;
};

/// The extents of an argument's scale tensor: ceil(shape / block).
Dims scale_shape(const Dims& shape, const Dims& block);

/// A line split into its parts, before any of them is understood.
struct ProblemText {
  std::string op{};
  std::string kernel{};
  std::vector<std::pair<std::string, std::string>> assignments{};
};

/// Splits "OP[/KERNEL] name=value …". Throws Error(bad_input) for a word without '=', an empty name
/// or a name given twice.
ProblemText parse_problem_text(std::string_view line);

}  // namespace rooftile
