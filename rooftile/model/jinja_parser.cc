// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/jinja_parser.h"

#include <initializer_list>

#include "rooftile/base/error.h"

namespace rooftile::jinja {
namespace {

constexpr std::size_t kMostTemplateBytes = 1 << 20;

class Parser : private ExprParser {
 public:
  using ExprParser::ExprParser;

  Body whole() {
    Body body = body_until({});
    if (token().kind != TokenKind::end) fail_token("a statement");
    return body;
  }

 private:
  // Statements up to one of `ends`, whose {% and name stay; at the end of the template without.
  Body body_until(std::initializer_list<std::string_view> ends) {
    const Nesting nesting(*this);
    Body body;
    while (token().kind != TokenKind::end) {
      if (token().kind == TokenKind::text) {
        Statement& text = body.emplace_back();
        text.line = line();
        text.text = take().text;
      } else if (token().kind == TokenKind::output_begin) {
        Statement& output = add(body, StatementKind::output);
        take();
        output.exprs.push_back(tuple_or_expression());
        expect(TokenKind::output_end, "'}}'");
      } else {
        for (const std::string_view end : ends)
          if (next_token().kind == TokenKind::name && next_token().text == end) return body;
        take();
        statement(body);
      }
    }
    if (ends.size() != 0)
      fail_at(line(), "expected {% " + std::string(*(ends.end() - 1)) +
                          " %} before the end of the template");
    return body;
  }

  Statement& add(Body& body, StatementKind kind) {
    Statement& made = body.emplace_back();
    made.kind = kind;
    made.line = line();
    return made;
  }

  // {% name … up to %} of an end tag.
  void end_tag(std::string_view name) {
    expect(TokenKind::block_begin, "a tag");
    expect_name(name);
    end_of_tag();
  }
  void end_of_tag() { expect(TokenKind::block_end, "'%}'"); }

  // After {%.
  void statement(Body& body) {
    const int at = line();
    const std::string word = take_name("the name of a statement");
    if (word == "for") return for_loop(add(body, StatementKind::for_loop));
    if (word == "if") return if_chain(add(body, StatementKind::if_chain));
    if (word == "set") return set(add(body, StatementKind::set));
    if (word == "macro") return macro(add(body, StatementKind::macro));
    if (word == "filter") return filter_block(add(body, StatementKind::filter_block));
    if (word == "generation") {  // marks what the model wrote; only training asks for it
      Statement& scope = add(body, StatementKind::scope);
      end_of_tag();
      scope.bodies.push_back(body_until({"endgeneration"}));
      return end_tag("endgeneration");
    }
    if (word == "break" || word == "continue") {
      if (loops_ == 0) fail_at(at, "{% " + word + " %} outside of a loop");
      add(body, word == "break" ? StatementKind::break_loop : StatementKind::continue_loop);
      return end_of_tag();
    }
    for (const char* other : {"block", "extends", "include", "import", "from", "call", "with", "do",
                              "autoescape", "trans", "debug"})
      if (word == other) fail_unsupported(at, "{% " + word + " %}");
    fail_at(at, "unknown statement {% " + word + " %}");
  }

  std::vector<std::string> targets() {
    std::vector<std::string> names;
    const bool is_bracketed = accept_sign("(");
    do {
      names.push_back(take_name("the name of a variable"));
    } while (accept_sign(","));
    if (is_bracketed) expect_sign(")");
    return names;
  }

  void for_loop(Statement& loop) {
    loop.names = targets();
    expect_name("in");
    loop.exprs.push_back(tuple_or_expression(/*with_conditional=*/false));
    loop.exprs.push_back(accept_name("if") ? expression() : nullptr);
    if (is_name("recursive")) fail_unsupported(line(), "a recursive loop");
    end_of_tag();
    ++loops_;
    loop.bodies.push_back(body_until({"else", "endfor"}));
    --loops_;
    if (next_token().text == "else") {
      end_tag("else");
      loop.bodies.push_back(body_until({"endfor"}));
    }
    end_tag("endfor");
  }

  void if_chain(Statement& chain) {
    while (true) {
      chain.exprs.push_back(tuple_or_expression());
      end_of_tag();
      chain.bodies.push_back(body_until({"elif", "else", "endif"}));
      expect(TokenKind::block_begin, "a tag");
      if (accept_name("elif")) continue;
      if (accept_name("else")) {
        end_of_tag();
        chain.bodies.push_back(body_until({"endif"}));
        expect(TokenKind::block_begin, "a tag");
      }
      expect_name("endif");
      return end_of_tag();
    }
  }

  void set(Statement& set) {
    const bool is_attribute = next_token().kind == TokenKind::sign && next_token().text == ".";
    if (is_attribute) {
      set.kind = StatementKind::set_attribute;
      set.names.push_back(take_name("the name of a namespace"));
      take();
      set.names.push_back(take_name("the name of a member"));
    } else {
      set.names = targets();
    }
    if (accept_sign("=")) {
      set.exprs.push_back(tuple_or_expression());
      return end_of_tag();
    }
    if (is_sign("|")) fail_unsupported(line(), "a filter in {% set %} with a body");
    if (is_attribute || set.names.size() != 1) fail_token("'='");
    set.kind = StatementKind::set_block;
    end_of_tag();
    set.bodies.push_back(body_until({"endset"}));
    end_tag("endset");
  }

  void macro(Statement& statement) {
    statement.macro = std::make_unique<Macro>();
    Macro& made = *statement.macro;
    made.name = take_name("the name of a macro");
    expect_sign("(");
    while (!is_sign(")")) {
      made.names.push_back(take_name("the name of a parameter"));
      if (accept_sign("="))
        made.defaults.push_back(expression());
      else if (!made.defaults.empty())
        fail_at(line(), "a parameter without a default after one with a default");
      if (!is_sign(")")) expect_sign(",");
    }
    take();
    end_of_tag();
    const int loops = std::exchange(loops_, 0);
    made.body = body_until({"endmacro"});
    loops_ = loops;
    end_tag("endmacro");
  }

  void filter_block(Statement& block) {
    ExprPtr filter = filter_of(nullptr);
    while (accept_sign("|")) filter = filter_of(std::move(filter));
    end_of_tag();
    block.exprs.push_back(std::move(filter));
    block.bodies.push_back(body_until({"endfilter"}));
    end_tag("endfilter");
  }

  int loops_ = 0;  // that are open here
};

}  // namespace

Body parse(std::string_view source) {
  if (source.size() > kMostTemplateBytes)
    fail_input("chat template of " + std::to_string(source.size()) +
               " bytes; allowed: " + std::to_string(kMostTemplateBytes));
  return Parser(tokens_of(source)).whole();
}

}  // namespace rooftile::jinja
