// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include "rooftile/base/error.h"
#include "rooftile/model/jinja_parser.h"

namespace rooftile::jinja {
namespace {

constexpr int kMostNesting = 100;    // of brackets and blocks
constexpr int kMostTreeDepth = 250;  // of an expression, for which a + b + c + … is enough

bool is_end_of_operand(const Token& token) {
  if (token.kind != TokenKind::name) return false;
  for (const char* word : {"else", "or", "and", "if", "is", "not", "in"})
    if (token.text == word) return true;
  return false;
}

}  // namespace

void fail_unsupported(int line, const std::string& what) {
  throw Error(ErrorCode::unsupported,
              "chat template, line " + std::to_string(line) + ": " + what + " is not supported");
}

ExprParser::Nesting::Nesting(ExprParser& parser) : parser_(&parser) {
  if (++parser.depth_ > kMostNesting) {
    --parser.depth_;
    fail_at(parser.line(), "nests more than " + std::to_string(kMostNesting) + " deep");
  }
}

const Token& ExprParser::next_token() const {
  return tokens_[std::min(at_ + 1, tokens_.size() - 1)];
}

Token ExprParser::take() {
  Token taken = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return taken;
}

bool ExprParser::is_sign(std::string_view sign) const {
  return token().kind == TokenKind::sign && token().text == sign;
}
bool ExprParser::is_name(std::string_view name) const {
  return token().kind == TokenKind::name && token().text == name;
}
bool ExprParser::accept_sign(std::string_view sign) { return is_sign(sign) && (take(), true); }
bool ExprParser::accept_name(std::string_view name) { return is_name(name) && (take(), true); }

void ExprParser::expect_sign(std::string_view sign) {
  if (!accept_sign(sign)) fail_token("'" + std::string(sign) + "'");
}
void ExprParser::expect_name(std::string_view name) {
  if (!accept_name(name)) fail_token("'" + std::string(name) + "'");
}
void ExprParser::expect(TokenKind kind, std::string_view what) {
  if (token().kind != kind) fail_token(what);
  take();
}

std::string ExprParser::take_name(std::string_view what) {
  if (token().kind != TokenKind::name) fail_token(what);
  return take().text;
}

void ExprParser::fail_token(std::string_view wanted) const {
  const TokenKind kind = token().kind;
  const bool is_tag_end = kind == TokenKind::block_end || kind == TokenKind::output_end;
  const std::string given = kind == TokenKind::end ? "the end of the template"
                            : is_tag_end           ? "the end of the tag"
                                                   : "'" + token().text + "'";
  fail_at(line(), "expected " + std::string(wanted) + " before " + given);
}

ExprPtr ExprParser::make(ExprKind kind, int line, std::string text) const {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->line = line;
  expr->text = std::move(text);
  return expr;
}

void ExprParser::note_depth(Expr& parent, const Expr& child) const {
  parent.depth = std::max(parent.depth, child.depth + 1);
  if (parent.depth > kMostTreeDepth)
    fail_at(parent.line,
            "an expression of more than " + std::to_string(kMostTreeDepth) + " levels");
}

ExprPtr ExprParser::with_children(ExprPtr parent, std::vector<ExprPtr> children) const {
  for (ExprPtr& child : children) {
    if (child) note_depth(*parent, *child);
    parent->children.push_back(std::move(child));
  }
  return parent;
}

namespace {
std::vector<ExprPtr> list_of(ExprPtr a, ExprPtr b = nullptr) {
  std::vector<ExprPtr> list;
  list.push_back(std::move(a));
  if (b) list.push_back(std::move(b));
  return list;
}
}  // namespace

ExprPtr ExprParser::tuple_or_expression(bool with_conditional) {
  const int at = line();
  ExprPtr first = expression(with_conditional);
  if (!is_sign(",")) return first;
  std::vector<ExprPtr> items = list_of(std::move(first));
  while (accept_sign(",")) {
    const TokenKind kind = token().kind;
    if (kind == TokenKind::block_end || kind == TokenKind::output_end || is_sign(")")) break;
    items.push_back(expression(with_conditional));
  }
  return with_children(make(ExprKind::tuple, at), std::move(items));
}

ExprPtr ExprParser::expression(bool with_conditional) {
  const Nesting nesting(*this);
  ExprPtr value = logical_or();
  while (with_conditional && is_name("if")) {
    const int at = take().line;
    std::vector<ExprPtr> parts = list_of(std::move(value), logical_or());
    if (accept_name("else")) parts.push_back(expression());
    value = with_children(make(ExprKind::conditional, at), std::move(parts));
  }
  return value;
}

ExprPtr ExprParser::logical_or() {
  ExprPtr left = logical_and();
  while (is_name("or")) {
    ExprPtr node = make(ExprKind::logical_or, take().line);
    left = with_children(std::move(node), list_of(std::move(left), logical_and()));
  }
  return left;
}

ExprPtr ExprParser::logical_and() {
  ExprPtr left = logical_not();
  while (is_name("and")) {
    ExprPtr node = make(ExprKind::logical_and, take().line);
    left = with_children(std::move(node), list_of(std::move(left), logical_not()));
  }
  return left;
}

ExprPtr ExprParser::logical_not() {
  if (!is_name("not")) return comparison();
  const Nesting nesting(*this);
  ExprPtr node = make(ExprKind::logical_not, take().line);
  return with_children(std::move(node), list_of(logical_not()));
}

// The sign of a comparison, taken; empty when none follows.
std::string ExprParser::comparison_sign() {
  for (const char* sign : {"==", "!=", "<=", ">=", "<", ">"})
    if (accept_sign(sign)) return sign;
  if (accept_name("in")) return "in";
  const bool is_not_in =
      is_name("not") && next_token().kind == TokenKind::name && next_token().text == "in";
  if (!is_not_in) return "";
  take();
  take();
  return "not in";
}

ExprPtr ExprParser::comparison() {
  const int at = line();
  ExprPtr first = sum();
  std::string sign = comparison_sign();
  if (sign.empty()) return first;
  ExprPtr node = make(ExprKind::comparison, at);
  std::vector<ExprPtr> operands = list_of(std::move(first));
  for (; !sign.empty(); sign = comparison_sign()) {
    node->signs.push_back(sign);
    operands.push_back(sum());
  }
  return with_children(std::move(node), std::move(operands));
}

ExprPtr ExprParser::left_to_right(Level operand, std::initializer_list<std::string_view> signs) {
  ExprPtr left = (this->*operand)();
  while (std::any_of(signs.begin(), signs.end(), [&](auto sign) { return is_sign(sign); })) {
    const Token sign = take();
    ExprPtr node = make(ExprKind::binary, sign.line, sign.text);
    left = with_children(std::move(node), list_of(std::move(left), (this->*operand)()));
  }
  return left;
}

ExprPtr ExprParser::sum() { return left_to_right(&ExprParser::concatenation, {"+", "-"}); }
ExprPtr ExprParser::concatenation() { return left_to_right(&ExprParser::product, {"~"}); }
ExprPtr ExprParser::product() { return left_to_right(&ExprParser::power, {"*", "/", "//", "%"}); }
ExprPtr ExprParser::power() { return left_to_right(&ExprParser::unary, {"**"}); }

ExprPtr ExprParser::unary(bool with_filters) {
  const Nesting nesting(*this);
  ExprPtr node;
  if (is_sign("-") || is_sign("+")) {
    const Token sign = take();
    node = make(sign.text == "-" ? ExprKind::negate : ExprKind::plus, sign.line);
    node = with_children(std::move(node), list_of(unary(false)));
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filters ? filters_and_tests(std::move(node)) : std::move(node);
}

ExprPtr ExprParser::primary() {
  switch (token().kind) {
    case TokenKind::name:
      return name();
    case TokenKind::string:
    case TokenKind::integer:
    case TokenKind::real:
      return number_or_text();
    default:
      break;
  }
  if (is_sign("(")) return parenthesised();
  if (is_sign("[")) return list();
  if (is_sign("{")) return dict();
  fail_token("an expression");
}

ExprPtr ExprParser::number_or_text() {
  const Token first = take();
  ExprPtr node = make(ExprKind::literal, first.line);
  if (first.kind == TokenKind::integer) {
    node->value = Value::integer(first.integer);
  } else if (first.kind == TokenKind::real) {
    node->value = Value::real(first.real);
  } else {
    std::string text = first.text;
    while (token().kind == TokenKind::string) text += take().text;
    node->value = Value::text(std::move(text));
  }
  return node;
}

ExprPtr ExprParser::name() {
  const Token word = take();
  ExprPtr node = make(ExprKind::literal, word.line);
  if (word.text == "true" || word.text == "True") {
    node->value = Value::boolean(true);
  } else if (word.text == "false" || word.text == "False") {
    node->value = Value::boolean(false);
  } else if (word.text == "none" || word.text == "None") {
    node->value = Value::none();
  } else {
    node->kind = ExprKind::name;
    node->text = word.text;
  }
  return node;
}

ExprPtr ExprParser::parenthesised() {
  const int at = take().line;
  if (accept_sign(")")) return make(ExprKind::tuple, at);
  ExprPtr node = tuple_or_expression();
  expect_sign(")");
  return node;
}

ExprPtr ExprParser::list() {
  ExprPtr node = make(ExprKind::list, take().line);
  std::vector<ExprPtr> items;
  while (!is_sign("]")) {
    items.push_back(expression());
    if (!is_sign("]")) expect_sign(",");
  }
  take();
  return with_children(std::move(node), std::move(items));
}

ExprPtr ExprParser::dict() {
  ExprPtr node = make(ExprKind::dict, take().line);
  std::vector<ExprPtr> items;
  while (!is_sign("}")) {
    items.push_back(expression());
    expect_sign(":");
    items.push_back(expression());
    if (!is_sign("}")) expect_sign(",");
  }
  take();
  return with_children(std::move(node), std::move(items));
}

ExprPtr ExprParser::postfix(ExprPtr operand) {
  while (true) {
    if (is_sign(".")) {
      const int at = take().line;
      if (token().kind == TokenKind::integer) {
        ExprPtr index = number_or_text();
        operand =
            with_children(make(ExprKind::item, at), list_of(std::move(operand), std::move(index)));
      } else {
        ExprPtr node = make(ExprKind::attribute, at, take_name("the name of an attribute"));
        operand = with_children(std::move(node), list_of(std::move(operand)));
      }
    } else if (is_sign("[")) {
      operand = subscript(std::move(operand));
    } else if (is_sign("(")) {
      ExprPtr node = make(ExprKind::call, line());
      node = with_children(std::move(node), list_of(std::move(operand)));
      arguments(*node);
      operand = std::move(node);
    } else {
      return operand;
    }
  }
}

ExprPtr ExprParser::subscript(ExprPtr operand) {
  const int at = take().line;
  std::vector<ExprPtr> parts = list_of(std::move(operand));
  const auto part = [&] {
    const bool is_left_out = is_sign(":") || is_sign("]");
    parts.push_back(is_left_out ? nullptr : tuple_or_expression());
  };
  part();
  const bool is_slice = is_sign(":");
  while (parts.size() < 4 && accept_sign(":")) part();
  if (!is_slice && parts[1] == nullptr) fail_token("an index");
  expect_sign("]");
  if (is_slice) parts.resize(4);
  return with_children(make(is_slice ? ExprKind::slice : ExprKind::item, at), std::move(parts));
}

// ( a, b, name=c )
void ExprParser::arguments(Expr& callee) {
  expect_sign("(");
  while (!is_sign(")")) {
    if (is_sign("*") || is_sign("**"))
      fail_unsupported(line(), "'" + token().text + "' before an argument");
    const bool is_named = token().kind == TokenKind::name && next_token().kind == TokenKind::sign &&
                          next_token().text == "=";
    std::string name = is_named ? take().text : "";
    if (is_named) take();
    ExprPtr value = expression();
    note_depth(callee, *value);
    if (is_named) {
      callee.named.emplace_back(std::move(name), std::move(value));
    } else {
      if (!callee.named.empty())
        fail_at(line(), "an argument without a name after one with a name");
      callee.children.push_back(std::move(value));
    }
    if (!is_sign(")")) expect_sign(",");
  }
  take();
}

ExprPtr ExprParser::filters_and_tests(ExprPtr operand) {
  while (true) {
    if (accept_sign("|")) {
      operand = filter_of(std::move(operand));
    } else if (accept_name("is")) {
      operand = test_of(std::move(operand));
    } else if (is_sign("(")) {
      operand = postfix(std::move(operand));
    } else {
      return operand;
    }
  }
}

ExprPtr ExprParser::filter_of(ExprPtr operand) {
  const int at = line();
  ExprPtr node = make(ExprKind::filter, at, take_name("the name of a filter"));
  if (operand) note_depth(*node, *operand);
  node->children.push_back(std::move(operand));
  if (is_sign("(")) arguments(*node);
  return node;
}

ExprPtr ExprParser::test_of(ExprPtr operand) {
  const int at = line();
  const bool is_negated = accept_name("not");
  ExprPtr node = make(ExprKind::test, at, take_name("the name of a test"));
  node = with_children(std::move(node), list_of(std::move(operand)));
  const TokenKind kind = token().kind;
  const bool has_operand = (kind == TokenKind::name && !is_end_of_operand(token())) ||
                           kind == TokenKind::string || kind == TokenKind::integer ||
                           kind == TokenKind::real || is_sign("[") || is_sign("{");
  if (is_sign("(")) {
    arguments(*node);
  } else if (has_operand) {
    ExprPtr argument = postfix(primary());
    note_depth(*node, *argument);
    node->children.push_back(std::move(argument));
  }
  if (!is_negated) return node;
  return with_children(make(ExprKind::logical_not, at), list_of(std::move(node)));
}

}  // namespace rooftile::jinja
