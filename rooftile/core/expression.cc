// SPDX-License-Identifier: Apache-2.0
#include "rooftile/core/expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile {

struct Expr::Node {
  ExprOp op;
  std::vector<Expr> sources;
  int input = 0;
  double value = 0;
};

namespace {

Expr make(ExprOp op, std::vector<Expr> sources) {
  return Expr(std::make_shared<const Expr::Node>(Expr::Node{op, std::move(sources)}));
}

// Appends the nodes that `expr` needs and returns its index; `done` maps shared nodes.
int append(const Expr& expr, std::vector<ExprNode>& nodes, std::map<const Expr::Node*, int>& done) {
  const Expr::Node& node = *expr.node();
  if (const auto found = done.find(&node); found != done.end()) return found->second;
  ExprNode flat{.op = node.op, .a = node.input, .value = node.value};
  if (!node.sources.empty()) flat.a = append(node.sources[0], nodes, done);
  if (node.sources.size() > 1) flat.b = append(node.sources[1], nodes, done);
  if (node.sources.size() > 2) flat.c = append(node.sources[2], nodes, done);
  nodes.push_back(flat);
  return done[&node] = static_cast<int>(nodes.size()) - 1;
}

double evaluate(const ExprNode& node, std::span<const double> inputs, const double* values) {
  const auto at = [&](int index) { return values[index]; };
  switch (node.op) {
    case ExprOp::input:
      return inputs[static_cast<std::size_t>(node.a)];
    case ExprOp::constant:
      return node.value;
    case ExprOp::add:
      return at(node.a) + at(node.b);
    case ExprOp::sub:
      return at(node.a) - at(node.b);
    case ExprOp::mul:
      return at(node.a) * at(node.b);
    case ExprOp::div:
      return at(node.a) / at(node.b);
    case ExprOp::min:
      return std::min(at(node.a), at(node.b));
    case ExprOp::max:
      return std::max(at(node.a), at(node.b));
    case ExprOp::neg:
      return -at(node.a);
    case ExprOp::abs:
      return std::abs(at(node.a));
    case ExprOp::exp:
      return std::exp(at(node.a));
    case ExprOp::log:
      return std::log(at(node.a));
    case ExprOp::sqrt:
      return std::sqrt(at(node.a));
    case ExprOp::tanh:
      return std::tanh(at(node.a));
    case ExprOp::erf:
      return std::erf(at(node.a));
    case ExprOp::less:
      return at(node.a) < at(node.b) ? 1.0 : 0.0;
    case ExprOp::select:
      return at(node.a) != 0 ? at(node.b) : at(node.c);
  }
  throw Error(ErrorCode::internal, "expression node of no kind");
}

std::string text_of(std::span<const ExprNode> nodes, int index) {
  const ExprNode& node = nodes[static_cast<std::size_t>(index)];
  const auto binary = [&](const char* sign) {
    return "(" + text_of(nodes, node.a) + sign + text_of(nodes, node.b) + ")";
  };
  const auto call = [&](const char* function, std::initializer_list<int> arguments) {
    std::vector<std::string> texts;
    for (const int argument : arguments) texts.push_back(text_of(nodes, argument));
    return function + ("(" + join(texts, ", ")) + ")";
  };
  switch (node.op) {
    case ExprOp::input:
      return "x" + std::to_string(node.a);
    case ExprOp::constant:
      return shortest(node.value);
    case ExprOp::add:
      return binary(" + ");
    case ExprOp::sub:
      return binary(" - ");
    case ExprOp::mul:
      return binary(" * ");
    case ExprOp::div:
      return binary(" / ");
    case ExprOp::min:
      return call("min", {node.a, node.b});
    case ExprOp::max:
      return call("max", {node.a, node.b});
    case ExprOp::neg:
      return "(-" + text_of(nodes, node.a) + ")";
    case ExprOp::abs:
      return call("abs", {node.a});
    case ExprOp::exp:
      return call("exp", {node.a});
    case ExprOp::log:
      return call("log", {node.a});
    case ExprOp::sqrt:
      return call("sqrt", {node.a});
    case ExprOp::tanh:
      return call("tanh", {node.a});
    case ExprOp::erf:
      return call("erf", {node.a});
    case ExprOp::less:
      return binary(" < ");
    case ExprOp::select:
      return call("select", {node.a, node.b, node.c});
  }
  throw Error(ErrorCode::internal, "expression node of no kind");
}

using Named = std::pair<std::string, Expression>;

const std::vector<Named>& activations() {
  static const std::vector<Named> list = [] {
    const Expr x = Expr::input(0);
    const Expr inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    return std::vector<Named>{
        {"none", Expression(x)},
        {"relu", Expression(max(x, 0.0))},
        {"silu", Expression(x / (1.0 + exp(-x)))},
        {"gelu", Expression(0.5 * x * (1.0 + erf(x * std::numbers::sqrt2 / 2.0)))},
        {"gelu_tanh", Expression(0.5 * x * (1.0 + tanh(inner)))},
        {"sigmoid", Expression(1.0 / (1.0 + exp(-x)))},
        {"tanh", Expression(tanh(x))},
    };
  }();
  return list;
}

}  // namespace

Expression::Expression() : Expression(Expr::input(0)) {}

Expression::Expression(const Expr& result) {
  std::map<const Expr::Node*, int> done;
  append(result, nodes_, done);
  num_inputs_ = 0;
  for (const ExprNode& node : nodes_)
    if (node.op == ExprOp::input) num_inputs_ = std::max(num_inputs_, node.a + 1);
}

double Expression::operator()(std::span<const double> inputs) const {
  if (inputs.size() < static_cast<std::size_t>(num_inputs_))
    throw Error(ErrorCode::internal, "expression " + text() + " evaluated with too few inputs");
  // Why not a vector alone: references evaluate an expression for every element.
  std::array<double, 64> few;
  std::vector<double> many(nodes_.size() > few.size() ? nodes_.size() : 0);
  double* const values = many.empty() ? few.data() : many.data();
  for (std::size_t i = 0; i < nodes_.size(); ++i) values[i] = evaluate(nodes_[i], inputs, values);
  return values[nodes_.size() - 1];
}

double Expression::sensitivity(double x) const {
  constexpr double kStep = 0x1p-20;
  return std::abs((*this)(x * (1 + kStep)) - (*this)(x * (1 - kStep))) / (2 * kStep);
}

double Expression::num_ops() const {
  return static_cast<double>(std::ranges::count_if(nodes_, [](const ExprNode& node) {
    return node.op != ExprOp::input && node.op != ExprOp::constant;
  }));
}

std::string Expression::text() const {
  return text_of(nodes_, static_cast<int>(nodes_.size()) - 1);
}

Expr Expr::input(int index) {
  return Expr(std::make_shared<const Node>(Node{ExprOp::input, {}, index}));
}
Expr::Expr(double constant)
    : node_(std::make_shared<const Node>(Node{ExprOp::constant, {}, 0, constant})) {}

Expr operator+(const Expr& a, const Expr& b) { return make(ExprOp::add, {a, b}); }
Expr operator-(const Expr& a, const Expr& b) { return make(ExprOp::sub, {a, b}); }
Expr operator*(const Expr& a, const Expr& b) { return make(ExprOp::mul, {a, b}); }
Expr operator/(const Expr& a, const Expr& b) { return make(ExprOp::div, {a, b}); }
Expr operator-(const Expr& a) { return make(ExprOp::neg, {a}); }
Expr min(const Expr& a, const Expr& b) { return make(ExprOp::min, {a, b}); }
Expr max(const Expr& a, const Expr& b) { return make(ExprOp::max, {a, b}); }
Expr abs(const Expr& a) { return make(ExprOp::abs, {a}); }
Expr exp(const Expr& a) { return make(ExprOp::exp, {a}); }
Expr log(const Expr& a) { return make(ExprOp::log, {a}); }
Expr sqrt(const Expr& a) { return make(ExprOp::sqrt, {a}); }
Expr tanh(const Expr& a) { return make(ExprOp::tanh, {a}); }
Expr erf(const Expr& a) { return make(ExprOp::erf, {a}); }
Expr less(const Expr& a, const Expr& b) { return make(ExprOp::less, {a, b}); }
Expr select(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  return make(ExprOp::select, {condition, if_true, if_false});
}

const Expression& activation(std::string_view name) {
  for (const auto& [known, expression] : activations())
    if (known == name) return expression;
  const std::span<const std::string> names = activation_names();
  fail_input(unknown_name("activation", name, {names.begin(), names.end()}));
}

std::span<const std::string> activation_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, expression] : activations()) list.push_back(name);
    return list;
  }();
  return names;
}

}  // namespace rooftile
