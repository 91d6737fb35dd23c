// SPDX-License-Identifier: Apache-2.0
// The expressions' half of the parser, which the statements' half (jinja_parser.cc) builds on:
// tokens one after the other, and recursive descent with Jinja's precedences.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/model/jinja_ast.h"
#include "rooftile/model/jinja_lexer.h"

namespace rooftile::jinja {

/// Throws Error(unsupported) "chat template, line 3: what is not supported".
[[noreturn]] void fail_unsupported(int line, const std::string& what);

class ExprParser {
 public:
  explicit ExprParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  [[nodiscard]] const Token& next_token() const;
  [[nodiscard]] int line() const { return token().line; }
  Token take();
  [[nodiscard]] bool is_sign(std::string_view sign) const;
  [[nodiscard]] bool is_name(std::string_view name) const;
  bool accept_sign(std::string_view sign);
  bool accept_name(std::string_view name);
  void expect_sign(std::string_view sign);
  void expect_name(std::string_view name);
  void expect(TokenKind kind, std::string_view what);
  std::string take_name(std::string_view what);
  [[noreturn]] void fail_token(std::string_view wanted) const;

  /// One expression, or several between commas as a tuple.
  ExprPtr tuple_or_expression(bool with_conditional = true);
  ExprPtr expression(bool with_conditional = true);
  ExprPtr filter_of(ExprPtr operand);  // after the | sign

  /// Deepens for the life of the object; throws where a template nests too deeply.
  class Nesting {
   public:
    explicit Nesting(ExprParser& parser);
    ~Nesting() { --parser_->depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ExprParser* parser_;
  };

 private:
  using Level = ExprPtr (ExprParser::*)();
  ExprPtr make(ExprKind kind, int line, std::string text = "") const;
  ExprPtr with_children(ExprPtr parent, std::vector<ExprPtr> children) const;
  ExprPtr left_to_right(Level operand, std::initializer_list<std::string_view> signs);
  ExprPtr logical_or();
  ExprPtr logical_and();
  ExprPtr logical_not();
  ExprPtr comparison();
  ExprPtr sum();
  ExprPtr concatenation();
  ExprPtr product();
  ExprPtr power();
  ExprPtr unary() { return unary(true); }
  ExprPtr unary(bool with_filters);
  ExprPtr primary();
  ExprPtr number_or_text();
  ExprPtr name();
  ExprPtr parenthesised();
  ExprPtr list();
  ExprPtr dict();
  ExprPtr postfix(ExprPtr operand);
  ExprPtr subscript(ExprPtr operand);
  ExprPtr filters_and_tests(ExprPtr operand);
  ExprPtr test_of(ExprPtr operand);
  void arguments(Expr& callee);
  std::string comparison_sign();
  void note_depth(Expr& parent, const Expr& child) const;

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace rooftile::jinja
