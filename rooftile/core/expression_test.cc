// SPDX-License-Identifier: Apache-2.0
// Expressions: the activations against known numbers, every operation, sharing, counts and text.
#include "rooftile/core/expression.h"

#include <array>
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Point {
  const char* activation;
  double x;
  double value;  // by Python's math module, from the textbook formula
};

class KnownValues : public testing::TestWithParam<Point> {};

TEST_P(KnownValues, AreMet) {
  const auto& [name, x, value] = GetParam();
  EXPECT_NEAR(activation(name)(x), value, 1e-14 * std::max(1.0, std::abs(value)));
}

INSTANTIATE_TEST_SUITE_P(
    Activation, KnownValues,
    testing::Values(Point{"none", -3.5, -3.5}, Point{"none", 1e300, 1e300}, Point{"relu", -3, 0},
                    Point{"relu", 2.5, 2.5}, Point{"relu", 0, 0},
                    // The erf form and the tanh form differ in the fourth digit: one must not stand
                    // for the other.
                    Point{"gelu", 1, 0.8413447460685429}, Point{"gelu_tanh", 1, 0.8411919906082768},
                    Point{"gelu", -3, -0.00404969409489031},
                    Point{"gelu_tanh", -3, -0.0036373920817729943},
                    Point{"gelu", 0.5, 0.34573123063700656},
                    Point{"gelu_tanh", 0.5, 0.34571400982514394}, Point{"gelu", 0, 0},
                    Point{"gelu_tanh", 0, 0}, Point{"gelu", 40, 40}, Point{"gelu_tanh", 40, 40},
                    Point{"silu", 1.74, 1.480195493916332}, Point{"silu", -1, -0.2689414213699951},
                    Point{"silu", 0, 0}, Point{"silu", 800, 800}, Point{"sigmoid", 0, 0.5},
                    Point{"sigmoid", 1.74, 0.8506870654691563},
                    Point{"sigmoid", -3, 0.04742587317756678},
                    Point{"tanh", 1.74, 0.9402266403927275}, Point{"tanh", -30, -1}));

// exp(100) overflows an f32: what is divided by it must become tiny, never NaN.
TEST(Activation, OfVeryNegativeNumbersIsTiny) {
  EXPECT_LT(activation("silu")(-100), 0);
  EXPECT_NEAR(activation("silu")(-100) / -3.720075976020836e-42, 1, 1e-12);
  for (const char* name : {"relu", "silu", "gelu", "gelu_tanh", "sigmoid"})
    for (const double x : {-100.0, -1000.0, -1e30, -std::numeric_limits<double>::max()}) {
      const double value = activation(name)(x);
      EXPECT_LE(std::abs(value), 4e-42) << name << "(" << x << ") = " << value;
    }
}

TEST(Activation, OfNaNIsNaN) {
  for (const std::string& name : activation_names())
    EXPECT_TRUE(std::isnan(activation(name)(std::nan("")))) << name;
}

TEST(Activation, NamesAreKnownAndOthersRefused) {
  EXPECT_EQ(activation_names().size(), 7U);
  EXPECT_TRUE(activation("none").is_identity());
  try {
    activation("geul");
    FAIL() << "no such activation";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'gelu'"));
  }
  EXPECT_THROW(activation(""), Error);
  EXPECT_THROW(activation("SiLU"), Error);
}

TEST(Expression, ComputesEveryOperation) {
  const Expr x = Expr::input(0);
  const Expr y = Expr::input(1);
  const auto at = [](const Expr& expr, double a, double b) {
    return Expression(expr)(std::array<double, 2>{a, b});
  };
  EXPECT_EQ(at(x + y, 3, 4), 7);
  EXPECT_EQ(at(x - y, 3, 4), -1);
  EXPECT_EQ(at(x * y, 3, 4), 12);
  EXPECT_EQ(at(x / y, 3, 4), 0.75);
  EXPECT_EQ(at(min(x, y), 3, 4), 3);
  EXPECT_EQ(at(max(x, y), 3, 4), 4);
  EXPECT_EQ(at(-x, 3, 4), -3);
  EXPECT_EQ(at(abs(x), -3, 4), 3);
  EXPECT_EQ(at(exp(x), 1, 0), std::exp(1.0));
  EXPECT_EQ(at(log(x), 10, 0), std::log(10.0));
  EXPECT_EQ(at(sqrt(x), 2, 0), std::sqrt(2.0));
  EXPECT_EQ(at(tanh(x), 0.3, 0), std::tanh(0.3));
  EXPECT_EQ(at(erf(x), 0.3, 0), std::erf(0.3));
  EXPECT_EQ(at(less(x, y), 3, 4), 1);
  EXPECT_EQ(at(less(x, y), 4, 4), 0);
  EXPECT_EQ(at(select(less(x, 0.0), y, x), -1, 9), 9);
  EXPECT_EQ(at(select(less(x, 0.0), y, x), 1, 9), 1);
  EXPECT_EQ(at(x / y, 1, 0), kInfinity);
}

TEST(Expression, IsTheIdentityByDefault) {
  EXPECT_TRUE(Expression().is_identity());
  EXPECT_EQ(Expression()(2.5), 2.5);
  EXPECT_FALSE(Expression(Expr(1.0)).is_identity());
  EXPECT_FALSE(Expression(Expr::input(1)).is_identity()) << "it is the second input";
  EXPECT_EQ(Expression(Expr(1.0)).num_inputs(), 0);
  EXPECT_EQ(Expression(Expr::input(2) + 1.0).num_inputs(), 3);
}

TEST(Expression, RefusesTooFewInputs) {
  const Expression sum(Expr::input(0) + Expr::input(1));
  EXPECT_THROW((void)sum(1.0), Error);
  EXPECT_EQ(sum(std::array<double, 3>{1, 2, 99}), 3);
}

TEST(Expression, SharesWhatIsUsedTwice) {
  const Expr x = Expr::input(0);
  const Expr square = x * x;
  const Expression fourth(square * square);
  EXPECT_EQ(fourth.nodes().size(), 3U);
  EXPECT_EQ(fourth.num_ops(), 2);
  EXPECT_EQ(fourth(3.0), 81);
  EXPECT_EQ(Expression((x * x) * (x * x)).num_ops(), 3) << "two values that were written twice";
}

// Every node uses earlier ones only: what printers and block evaluators rely on.
TEST(Expression, IsInOrder) {
  for (const std::string& name : activation_names()) {
    const auto nodes = activation(name).nodes();
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
      const ExprNode& node = nodes[static_cast<std::size_t>(i)];
      if (node.op == ExprOp::input || node.op == ExprOp::constant) continue;
      EXPECT_LT(node.a, i) << name;
      EXPECT_LT(node.b, std::max(i, 1)) << name;
      EXPECT_LT(node.c, std::max(i, 1)) << name;
    }
  }
}

TEST(Expression, CountsArithmeticOnly) {
  EXPECT_EQ(activation("none").num_ops(), 0);
  EXPECT_EQ(activation("relu").num_ops(), 1);
  EXPECT_EQ(activation("silu").num_ops(), 4);  // negate, exp, add, divide
  EXPECT_EQ(activation("sigmoid").num_ops(), 4);
  EXPECT_EQ(activation("tanh").num_ops(), 1);
  EXPECT_EQ(activation("gelu").num_ops(), 6);
}

TEST(Expression, WritesItselfAsAFormula) {
  const Expr x = Expr::input(0);
  EXPECT_EQ(Expression().text(), "x0");
  EXPECT_EQ(activation("silu").text(), "(x0 / (1 + exp((-x0))))");
  EXPECT_EQ(activation("relu").text(), "max(x0, 0)");
  EXPECT_EQ(Expression(select(less(x, 0.5), Expr::input(1), -x)).text(),
            "select((x0 < 0.5), x1, (-x0))");
  EXPECT_EQ(Expression(sqrt(abs(x)) - log(x) * 2.0).text(), "(sqrt(abs(x0)) - (log(x0) * 2))");
}

TEST(Expression, SensitivityIsXTimesTheSlope) {
  EXPECT_NEAR(Expression(Expr::input(0) * Expr::input(0)).sensitivity(3), 18, 1e-8);  // x 2x
  EXPECT_NEAR(Expression(exp(-Expr::input(0))).sensitivity(2), 2 * std::exp(-2), 1e-9);
  EXPECT_EQ(Expression(Expr(5.0)).sensitivity(7), 0);
}

}  // namespace
}  // namespace rooftile
