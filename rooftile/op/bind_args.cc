// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/bind_args.h"

#include <algorithm>
#include <cstdint>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"
#include "rooftile/op/bind.h"

namespace rooftile {
namespace {

const std::vector<std::string> kAttributes{"stride", "offset",  "alias", "block",
                                           "scale",  "swizzle", "zero",  "scale2"};

Dims parse_dims(const std::string& what, const std::string& text, int rank) {
  Dims dims;
  const std::vector<std::string> parts = split(text, ',');
  if (static_cast<int>(parts.size()) != rank)
    fail_input(what + "=" + text + ": expected " + std::to_string(rank) + " numbers");
  for (const std::string& part : parts) {
    const auto value = parse_int(part);
    if (!value) fail_input(what + "=" + text + ": '" + part + "' is not a whole number");
    dims.push_back(*value);
  }
  return dims;
}

void bind_dtype(const ArgDef& def, const Problem& problem, Assignments& given, ArgChoice& arg) {
  const auto text = take(given, def.name);
  const bool is_named = text.has_value();
  if (def.present_with.empty()) {
    arg.is_present = is_named || !def.is_optional;
  } else {
    arg.is_present = problem.has(def.present_with);
    if (is_named && !arg.is_present)
      fail_input(problem.op + ": argument '" + def.name + "' goes with '" + def.present_with +
                 "', which is absent");
  }
  arg.dtype =
      def.default_dtype_of.empty() ? def.dtypes.front() : problem.dtype(def.default_dtype_of);
  if (!arg.is_present) return;
  std::vector<std::string> allowed;
  for (const DType dtype : def.dtypes) allowed.emplace_back(name(dtype));
  if (is_named) {
    try {
      arg.dtype = parse_dtype(*text);
    } catch (const Error&) {
      fail_input(problem.op + ": " + def.name + "='" + *text +
                 "' is not a dtype; allowed here: " + join(allowed, ", "));
    }
  }
  if (std::ranges::find(def.dtypes, arg.dtype) == def.dtypes.end())
    fail_input(problem.op + ": " + def.name + "=" + std::string(name(arg.dtype)) +
               (is_named ? "" : " (as '" + def.default_dtype_of + "')") + ": this argument takes " +
               join(allowed, ", "));
}

void bind_scaling(const ArgDef& def, Assignments& given, ArgChoice& arg) {
  const auto block = take(given, def.name + ".block");
  const auto scale = take(given, def.name + ".scale");
  const auto swizzle = take(given, def.name + ".swizzle");
  const auto zero = take(given, def.name + ".zero");
  const auto second = take(given, def.name + ".scale2");
  if (!block && !scale && !swizzle && !zero && !second) return;
  if (info(arg.dtype).is_block())
    fail_input("argument '" + def.name + "': " + std::string(name(arg.dtype)) +
               " has its scales in its blocks, no others");
  if (!def.may_be_scaled) fail_input("argument '" + def.name + "' takes no block scales");
  if (!block || !scale)
    fail_input("argument '" + def.name + "': scaled data needs both " + def.name + ".block and " +
               def.name + ".scale");
  ScaleChoice choice;
  choice.block = parse_dims(def.name + ".block", *block, arg.shape.rank());
  for (const std::int64_t extent : choice.block)
    if (extent < 1) fail_input(def.name + ".block=" + *block + ": extents must be at least 1");
  choice.dtype = parse_dtype(*scale);
  if (swizzle && *swizzle != "128x4")
    fail_input(unknown_name(def.name + ".swizzle", *swizzle, {"128x4"}));
  if (swizzle && arg.shape.rank() != 2)
    fail_input(def.name + ".swizzle: only the scales of a matrix can be swizzled");
  if (swizzle) choice.layout = ScaleLayout::swizzled_128x4;
  if (zero) choice.zero_point = parse_dtype(*zero);
  if (second) choice.second_scale = parse_dtype(*second);
  arg.scaling = choice;
}

// An output must not overlap itself: sorted by stride, each dimension must step over the ones
// below.
bool overlaps_itself(const Dims& shape, const Dims& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // |stride|, extent
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 0) return false;
    if (shape[i] > 1) dims.emplace_back(std::abs(strides[i]), shape[i]);
  }
  std::ranges::sort(dims);
  std::int64_t reach = 1;
  for (const auto& [stride, extent] : dims) {
    if (stride < reach) return true;
    reach = stride * (extent - 1) + reach;
  }
  return false;
}

void bind_view(const ArgDef& def, const Problem& problem, Assignments& given, ArgChoice& arg) {
  for (const std::string& axis : def.axes) arg.shape.push_back(problem.axis(axis));
  if (!info(arg.dtype).is_block())
    bytes_of(arg.dtype, num_elements(arg.shape));  // refuses what does not fit
  arg.strides =
      def.default_strides ? def.default_strides(problem, arg.shape) : row_major(arg.shape);
  if (const auto text = take(given, def.name + ".stride")) {
    arg.strides = parse_dims(def.name + ".stride", *text, arg.shape.rank());
    arg.has_own_strides = true;
    if (info(arg.dtype).is_packed() && !info(arg.dtype).is_block())
      fail_input(def.name + ".stride: packed " + std::string(name(arg.dtype)) +
                 " has no strides of its own");
  }
  if (const auto text = take(given, def.name + ".offset")) {
    const auto offset = parse_int(*text);
    if (!offset || *offset < 0 || *offset > (1 << 20))
      fail_input(def.name + ".offset=" + *text + ": expected 0 to 2^20 elements");
    if (info(arg.dtype).is_packed())
      fail_input(def.name + ".offset: packed " + std::string(name(arg.dtype)) + " has no offset");
    arg.offset = *offset;
  }
  // Why: the stride of an extent of 1 is never used, and a view may have any number there. Kernels
  // that ask for unit strides must not refuse or misread such a view.
  const Dims usual = row_major(arg.shape);
  for (int i = 0; i < arg.shape.rank(); ++i)
    if (arg.shape[i] <= 1) arg.strides[i] = usual[i];
  check_whole_blocks("argument '" + def.name + "'", arg.dtype, arg.shape, arg.strides);
  bytes_of(arg.dtype, num_elements(arg.shape));
  const OffsetRange range = offset_range(arg.shape, arg.strides);
  std::int64_t span = 0;
  if (__builtin_sub_overflow(range.greatest, range.least, &span) ||
      __builtin_add_overflow(span, 1, &span))
    fail_input("argument '" + def.name + "': its offsets do not fit in 63 bits");
  bytes_of(arg.dtype, span);
  if (arg.is_output && overlaps_itself(arg.shape, arg.strides))
    fail_input("output '" + def.name + "': strides " + to_string(arg.strides) + " of shape " +
               to_string(arg.shape) + " make elements overlap");
}

void bind_alias(const ArgDef& def, const Problem& problem, Assignments& given, ArgChoice& arg) {
  const auto text = take(given, def.name + ".alias");
  if (!text) return;
  if (std::ranges::find(def.may_alias, *text) == def.may_alias.end())
    fail_input(unknown_name(def.name + ".alias", *text, def.may_alias) +
               " (arguments whose memory this output may use)");
  const auto other = std::ranges::find_if(
      problem.args, [&](const ArgChoice& choice) { return choice.name == *text; });
  if (other == problem.args.end() || !other->is_present || other->dtype != arg.dtype ||
      !(other->shape == arg.shape) || !(other->strides == arg.strides) ||
      other->offset != arg.offset || other->scaling != arg.scaling)
    fail_input(def.name + ".alias=" + *text +
               ": both must be present with the same dtype, shape, strides, offset and scales");
  for (const ArgChoice& output : problem.args)
    if (output.alias == *text)
      fail_input(def.name + ".alias=" + *text + ": output '" + output.name +
                 "' uses that memory already");
  arg.alias = *text;
}

void add_scaling(const std::string& arg, const Scaling& scaling, Assignments& assignments) {
  std::vector<std::string> block;
  for (const std::int64_t extent : scaling.block) block.push_back(std::to_string(extent));
  assignments.emplace_back(arg + ".block", join(block, ","));
  assignments.emplace_back(arg + ".scale", name(scaling.scale.dtype));
  if (scaling.layout == ScaleLayout::swizzled_128x4)
    assignments.emplace_back(arg + ".swizzle", "128x4");
  if (scaling.zero_point.is_present())
    assignments.emplace_back(arg + ".zero", name(scaling.zero_point.dtype));
  if (scaling.second_scale.is_present())
    assignments.emplace_back(arg + ".scale2", name(scaling.second_scale.dtype));
}

// An output's memory may be that of one argument, an input: what it may use the operation declares.
void add_alias(const OpDef& op, std::span<const TensorView> views, std::size_t index,
               Assignments& assignments) {
  if (num_elements(views[index].shape) == 0) return;  // no memory
  const ArgDef& arg = op.args[index];
  const ArgDef* shared = nullptr;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (i == index || views[i].data != views[index].data) continue;
    if (op.args[i].role != Role::in || shared != nullptr)
      fail_input(op.name + ": output '" + arg.name + "' has the memory of '" + op.args[i].name +
                 "'" + (shared != nullptr ? " and of '" + shared->name + "'" : ""));
    shared = &op.args[i];
    assignments.emplace_back(arg.name + ".alias", shared->name);
  }
}

// Bytes from the last address that is aligned as device memory is, to 16.
std::int64_t bytes_beyond_alignment(const TensorView& view) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(view.data) % 16);
}

void check_address(const std::string& arg, const TensorView& view) {
  const DTypeInfo& type = info(view.dtype);
  if (!view.is_present() || type.is_packed() || num_elements(view.shape) == 0) return;
  if (bytes_beyond_alignment(view) % type.unit_bytes != 0)
    fail_input("argument '" + arg + "': its address is no multiple of the " +
               std::to_string(type.unit_bytes) + " bytes of " + std::string(name(view.dtype)));
}

void check_scaling(const ArgChoice& choice, const TensorView& view) {
  if ((view.scaling != nullptr) != choice.scaling.has_value())
    fail_input("argument '" + choice.name + "' " +
               (choice.scaling ? "lacks the block scales that the plan was prepared for"
                               : "has block scales, the plan was prepared for none"));
  if (view.scaling == nullptr) return;
  const Scaling& given = *view.scaling;
  const auto dtype_of = [](const TensorView& part) {
    return part.is_present() ? std::optional(part.dtype) : std::nullopt;
  };
  const ScaleChoice has{.dtype = given.scale.dtype,
                        .block = given.block,
                        .layout = given.layout,
                        .zero_point = dtype_of(given.zero_point),
                        .second_scale = dtype_of(given.second_scale)};
  if (!(has == *choice.scaling) || !given.scale.is_present())
    fail_input("argument '" + choice.name +
               "' has other block scales than the plan was prepared for");
}

void refuse_rest(const OpDef& op, const Assignments& given) {
  if (given.empty()) return;
  const std::string& entry = given.front().first;
  const std::size_t dot = entry.find('.');
  fail_input(op.name + ": " +
             unknown_name("attribute of '" + entry.substr(0, dot) + "'",
                          dot == std::string::npos ? "" : entry.substr(dot + 1), kAttributes));
}

}  // namespace

void bind_args(const OpDef& op, Problem& problem, Assignments& given) {
  // Dtypes first: outputs stand before the inputs whose dtype they take.
  for (const ArgDef& def : op.args)
    problem.args.push_back({.name = def.name, .is_output = def.role != Role::in});
  std::vector<bool> is_done(op.args.size(), false);
  for (std::size_t round = 0; round < op.args.size(); ++round)
    for (std::size_t i = 0; i < op.args.size(); ++i) {
      const auto ready = [&](const std::string& other) {
        if (other.empty()) return true;
        return static_cast<bool>(
            is_done[static_cast<std::size_t>(op.find_arg(other) - op.args.data())]);
      };
      const ArgDef& def = op.args[i];
      if (is_done[i] || !ready(def.default_dtype_of) || !ready(def.present_with)) continue;
      bind_dtype(def, problem, given, problem.args[i]);
      is_done[i] = true;
    }
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    if (problem.args[i].is_present) bind_view(op.args[i], problem, given, problem.args[i]);
    if (problem.args[i].is_present) bind_scaling(op.args[i], given, problem.args[i]);
  }
  for (std::size_t i = 0; i < op.args.size(); ++i)
    if (problem.args[i].is_present) bind_alias(op.args[i], problem, given, problem.args[i]);
  for (const auto& [entry, value] : given) {
    const std::string base = entry.substr(0, entry.find('.'));
    if (op.find_arg(base) != nullptr && !problem.has(base))
      fail_input(op.name + ": '" + entry + "' is given, but argument '" + base + "' is absent");
  }
  refuse_rest(op, given);
}

void add_view(const OpDef& op, std::span<const TensorView> views, std::size_t index,
              Assignments& assignments) {
  const ArgDef& arg = op.args[index];
  const TensorView& view = views[index];
  if (!view.is_present()) return;
  assignments.emplace_back(arg.name, name(view.dtype));
  std::vector<std::string> strides;
  for (const std::int64_t stride : view.strides) strides.push_back(std::to_string(stride));
  if (!info(view.dtype).is_packed() || info(view.dtype).is_block())
    assignments.emplace_back(arg.name + ".stride", join(strides, ","));
  check_address(arg.name, view);
  if (const std::int64_t bytes = bytes_beyond_alignment(view);
      bytes != 0 && !info(view.dtype).is_packed())
    assignments.emplace_back(arg.name + ".offset",
                             std::to_string(bytes / info(view.dtype).unit_bytes));
  if (view.scaling != nullptr) add_scaling(arg.name, *view.scaling, assignments);
  if (arg.role != Role::in) add_alias(op, views, index, assignments);
}

void check_view(const ArgChoice& choice, const TensorView& view) {
  if (!choice.is_present) {
    if (view.is_present()) fail_input("argument '" + choice.name + "' is not part of this plan");
    return;
  }
  const bool is_empty = offset_range(choice.shape, choice.strides).greatest < 0;
  if (!view.is_present() && !is_empty) fail_input("argument '" + choice.name + "' has no data");
  if (view.dtype != choice.dtype || !(view.shape == choice.shape))
    fail_input("argument '" + choice.name + "' is " + std::string(name(view.dtype)) +
               to_string(view.shape) + ", the plan was prepared for " +
               std::string(name(choice.dtype)) + to_string(choice.shape));
  for (int i = 0; i < view.shape.rank(); ++i)
    if (view.shape[i] > 1 && view.strides[i] != choice.strides[i])
      fail_input("argument '" + choice.name + "' has strides " + to_string(view.strides) +
                 ", the plan was prepared for " + to_string(choice.strides));
  check_address(choice.name, view);
  check_scaling(choice, view);
}

}  // namespace rooftile
