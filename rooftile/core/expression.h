// SPDX-License-Identifier: Apache-2.0
// The small IR of activations, epilogues and masks: a list of pure operations on numbers, each
// using earlier ones (SSA), the last being the result. One value is written once and used
// everywhere: the reference evaluates it in double, CPU kernels on blocks of f32, later printers
// turn it into CUDA.
//
//   const Expression silu = [] { const Expr x = Expr::input(0); return x / (1.0 + exp(-x)); }();
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

enum class ExprOp : std::uint8_t {
  input,     // the value numbered `a`
  constant,  // `value`
  add,
  sub,
  mul,
  div,
  min,
  max,  // of nodes a and b
  neg,
  abs,
  exp,
  log,
  sqrt,
  tanh,
  erf,     // of node a
  less,    // 1 if a < b, else 0
  select,  // b if a != 0, else c
};

struct ExprNode {
  ExprOp op = ExprOp::constant;
  int a = 0;
  int b = 0;
  int c = 0;
  double value = 0;
};

class Expr;

/// A finished expression. The identity is the default.
class Expression {
 public:
  Expression();
  Expression(const Expr& result);  // NOLINT(google-explicit-constructor): reads as the formula

  [[nodiscard]] std::span<const ExprNode> nodes() const { return nodes_; }
  [[nodiscard]] int num_inputs() const { return num_inputs_; }
  [[nodiscard]] bool is_identity() const { return nodes_.size() == 1 && num_inputs_ == 1; }

  /// The value at `inputs` (at least num_inputs() of them), every step in double.
  [[nodiscard]] double operator()(std::span<const double> inputs) const;
  [[nodiscard]] double operator()(double x) const { return (*this)({&x, 1}); }

  /// |x f'(x)| of an expression of one input, by a central difference: what a relative error of the
  /// input, or of a step near it, becomes in the result. (f(x) times the condition number.)
  [[nodiscard]] double sensitivity(double x) const;

  /// Arithmetic operations, with a transcendental counted as one.
  [[nodiscard]] double num_ops() const;

  /// "x0 / (1 + exp(-x0))", fully parenthesised where needed.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<ExprNode> nodes_;
  int num_inputs_ = 1;
};

/// A value under construction; the operators below build the expression of the same shape. A value
/// used twice is one node.
class Expr {
 public:
  static Expr input(int index);
  Expr(double constant);  // NOLINT(google-explicit-constructor): literals in formulas

  struct Node;
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  [[nodiscard]] const std::shared_ptr<const Node>& node() const { return node_; }

 private:
  std::shared_ptr<const Node> node_;
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr abs(const Expr& a);
Expr exp(const Expr& a);
Expr log(const Expr& a);
Expr sqrt(const Expr& a);
Expr tanh(const Expr& a);
Expr erf(const Expr& a);
Expr less(const Expr& a, const Expr& b);
Expr select(const Expr& condition, const Expr& if_true, const Expr& if_false);

/// The activations by name: none relu silu gelu gelu_tanh sigmoid tanh.
/// gelu is x*Phi(x) by erf; gelu_tanh is Hendrycks and Gimpel's approximation (2016).
/// Throws Error(bad_input) with near misses.
const Expression& activation(std::string_view name);
std::span<const std::string> activation_names();

}  // namespace rooftile
