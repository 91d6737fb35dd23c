// SPDX-License-Identifier: Apache-2.0
#include "rooftile/core/problem.h"

#include <algorithm>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {
namespace {

template <class List, class NameOf>
auto& find_named(List& list, std::string_view wanted, const char* what, NameOf name_of) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const auto& item) { return name_of(item) == wanted; });
  if (found == list.end())
    throw Error(ErrorCode::internal, "a kernel asked for " + std::string(what) + " '" +
                                         std::string(wanted) +
                                         "', which its operation does not declare");
  return *found;
}

std::string dims_text(const Dims& dims) {
  std::vector<std::string> parts;
  for (const std::int64_t value : dims) parts.push_back(std::to_string(value));
  return join(parts, ",");
}

std::string scaling_text(const ArgChoice& arg) {
  const ScaleChoice& scale = *arg.scaling;
  std::string text = " " + arg.name + ".block=" + dims_text(scale.block) + " " + arg.name +
                     ".scale=" + std::string(name(scale.dtype));
  if (scale.layout == ScaleLayout::swizzled_128x4) text += " " + arg.name + ".swizzle=128x4";
  if (scale.zero_point) text += " " + arg.name + ".zero=" + std::string(name(*scale.zero_point));
  if (scale.second_scale)
    text += " " + arg.name + ".scale2=" + std::string(name(*scale.second_scale));
  return text;
}

std::string arg_text(const ArgChoice& arg) {
  std::string text = " " + arg.name + "=" + std::string(name(arg.dtype));
  if (arg.has_own_strides) text += " " + arg.name + ".stride=" + dims_text(arg.strides);
  if (arg.offset != 0) text += " " + arg.name + ".offset=" + std::to_string(arg.offset);
  if (arg.scaling) text += scaling_text(arg);
  if (!arg.alias.empty()) text += " " + arg.name + ".alias=" + arg.alias;
  return text;
}

}  // namespace

std::int64_t Problem::axis(std::string_view name) const {
  return find_named(axes, name, "axis", [](const auto& axis) { return axis.first; }).second;
}

const ArgChoice& Problem::arg(std::string_view name) const {
  return find_named(args, name, "argument", [](const ArgChoice& arg) { return arg.name; });
}

ArgChoice& Problem::arg(std::string_view name) {
  return find_named(args, name, "argument", [](const ArgChoice& arg) { return arg.name; });
}

std::string_view Problem::option(std::string_view name) const {
  return find_named(options, name, "option", [](const OptionChoice& option) { return option.name; })
      .value;
}

double Problem::number(std::string_view option_name) const {
  return parse_number(option(option_name)).value();
}

double Problem::bytes(std::string_view arg_name) const {
  const ArgChoice& choice = arg(arg_name);
  if (!choice.is_present) return 0;
  Dims distinct = choice.shape;
  for (int i = 0; i < distinct.rank(); ++i)
    if (distinct[i] > 1 && choice.strides[i] == 0) distinct[i] = 1;
  auto total = static_cast<double>(bytes_of(choice.dtype, num_elements(distinct)));
  if (choice.scaling) {
    const std::int64_t blocks = num_elements(scale_shape(choice.shape, choice.scaling->block));
    total += static_cast<double>(bytes_of(choice.scaling->dtype, blocks));
    if (choice.scaling->zero_point)
      total += static_cast<double>(bytes_of(*choice.scaling->zero_point, blocks));
    if (choice.scaling->second_scale)
      total += static_cast<double>(bytes_of(*choice.scaling->second_scale, 1));
  }
  return total;
}

std::string Problem::text(bool with_kernel) const {
  std::string line = op;
  if (with_kernel && !kernel.empty()) line += "/" + kernel;
  for (const auto& [name, extent] : axes) line += " " + name + "=" + std::to_string(extent);
  for (const ArgChoice& arg : args)
    if (arg.is_present) line += arg_text(arg);
  for (const OptionChoice& option : options)
    if (!option.is_default) line += " " + option.name + "=" + option.value;
  if (data != "randn") line += " data=" + data;
  if (seed != 0) line += " seed=" + std::to_string(seed);
  return line;
}

Dims scale_shape(const Dims& shape, const Dims& block) {
  Dims blocks;
  for (int i = 0; i < shape.rank(); ++i)
    blocks.push_back(shape[i] / block[i] + (shape[i] % block[i] != 0 ? 1 : 0));
  return blocks;
}

ProblemText parse_problem_text(std::string_view line) {
  const std::vector<std::string> words = split_words(line);
  if (words.empty())
    fail_input("no problem given; write OP[/KERNEL] name=value …, as in 'rooftile list cases'");
  ProblemText text;
  const std::size_t slash = words[0].find('/');
  text.op = words[0].substr(0, slash);
  if (slash != std::string::npos) {
    text.kernel = words[0].substr(slash + 1);
    if (text.kernel.empty()) fail_input("'" + words[0] + "': no kernel after the slash");
  }
  if (text.op.empty() || text.op.find('=') != std::string::npos)
    fail_input("'" + words[0] + "': a problem begins with the name of an operation");
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos || equals == 0)
      fail_input("'" + words[i] + "': expected name=value");
    std::string name = words[i].substr(0, equals);
    for (const auto& [earlier, value] : text.assignments)
      if (earlier == name) fail_input("'" + name + "' is given twice");
    text.assignments.emplace_back(std::move(name), words[i].substr(equals + 1));
  }
  return text;
}

}  // namespace rooftile
