// SPDX-License-Identifier: Apache-2.0
// A parsed template: statements that write, and expressions within them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/model/jinja_value.h"

namespace rooftile::jinja {

enum class ExprKind : unsigned char {
  literal,  // value
  name,     // text
  list,     // children
  tuple,    // children
  dict,     // children: key, value, key, value …
  negate,   // children[0], here and below the operands
  plus,
  logical_not,
  logical_and,
  logical_or,
  binary,       // text: + - * / // % ** ~
  comparison,   // children: first, then one a sign of signs
  conditional,  // children: then, condition[, else]
  attribute,    // children[0] . text
  item,         // children[0] [children[1]]
  slice,        // children[0] [children[1] : children[2] : children[3]], null where left out
  call,         // children[0] ( children[1…], named )
  filter,  // children[0] | text ( children[1…], named ); children[0] null: a filter block's text
  test     // children[0] is text ( children[1…], named )
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Expr {
  ExprKind kind = ExprKind::literal;
  int line = 1;
  std::string text{};
  Value value{};
  std::vector<ExprPtr> children{};
  std::vector<std::pair<std::string, ExprPtr>> named{};
  std::vector<std::string> signs{};  // of a comparison: == != < <= > >= in "not in"
  int depth = 1;                     // of the tree below
};

enum class StatementKind : unsigned char {
  text,           // text
  output,         // exprs[0]
  for_loop,       // names in exprs[0] [if exprs[1]]: bodies[0], else bodies[1]
  if_chain,       // exprs[i]: bodies[i]; one more body: else
  set,            // names = exprs[0]
  set_attribute,  // names[0].names[1] = exprs[0]
  set_block,      // names[0] = the text of bodies[0]
  filter_block,   // exprs[0], a filter without operand, of the text of bodies[0]
  scope,          // bodies[0], as it is
  macro,
  break_loop,
  continue_loop
};

struct Statement;
using Body = std::vector<Statement>;

/// names are parameters; the last exprs.size() of them have those defaults.
struct Macro {
  std::string name{};
  std::vector<std::string> names{};
  std::vector<ExprPtr> defaults{};
  Body body;
};

struct Statement {
  StatementKind kind = StatementKind::text;
  int line = 1;
  std::string text{};
  std::vector<std::string> names{};
  std::vector<ExprPtr> exprs{};
  std::vector<Body> bodies;
  std::unique_ptr<Macro> macro{};
};

/// Throws Error(bad_input) for wrong syntax and Error(unsupported) for what is not of the subset,
/// each with the line.
Body parse(std::string_view source);

}  // namespace rooftile::jinja
