// SPDX-License-Identifier: Apache-2.0
// Runs a parsed template. One object renders once; it owns the namespaces that the template makes.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rooftile/model/jinja_ast.h"

namespace rooftile::jinja {

/// The values that a filter, test, method or function was called with, besides its operand.
struct Args {
  std::vector<Value> positional{};
  std::vector<std::pair<std::string, Value>> named{};

  /// The argument at `index` or named `name`; null when it was not given.
  [[nodiscard]] const Value* find(std::size_t index, std::string_view name) const;
};

using Scope = std::unordered_map<std::string, Value>;

class Evaluator {
 public:
  Evaluator(Scope globals, std::int64_t most_work, std::int64_t now_s);

  /// What the template writes. Throws Error(bad_input) with the line, Error(unsupported) for
  /// filters, tests and methods that are not of the subset.
  std::string render(const Body& body);

  // For filters, tests, methods and functions (jinja_library.h).
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail_unsupported_here(const std::string& what) const;
  Budget& budget() { return budget_; }
  [[nodiscard]] std::int64_t now_s() const { return now_s_; }
  std::string text(const Value& value) { return to_text(value, budget_); }
  /// Pays for `text` too.
  Value new_text(std::string text);
  Value new_namespace(Scope members);
  /// The items that a loop over `value` sees.
  std::vector<Value> items_of(const Value& value);
  /// `value.name` and `value[name]`: undefined when there is none.
  Value member(const Value& value, const Value& key);
  /// Throws when more than `most` arguments, or one not named in `names`, were given.
  void check_args(const Args& args, std::size_t most,
                  std::initializer_list<const char*> names) const;
  std::int64_t integer(const Value& value, const char* what) const;
  const std::string& string(const Value& value, const char* what) const;

 private:
  enum class Flow : unsigned char { normal, broken, continued };

  Value eval(const Expr& expr);
  Value eval_node(const Expr& expr);
  Value eval_name(const Expr& expr);
  Value eval_comparison(const Expr& expr);
  Value eval_slice(const Expr& expr);
  Value eval_call(const Expr& expr);
  Value eval_filter(const Expr& expr, const Value* block_text = nullptr);
  std::vector<Value> eval_all(const std::vector<ExprPtr>& exprs, std::size_t first = 0);
  Args eval_args(const Expr& expr);
  Value call(const Callable& callable, const Args& args);
  Value call_macro(const Macro& macro, const Args& args);

  Flow run(const Body& body);
  Flow run(const Statement& statement);
  Flow run_loop(const Statement& loop);
  Flow run_chain(const Statement& chain);
  void run_set(const Statement& set);
  void set_attribute(const Statement& set);
  std::string captured(const Body& body);
  void write(std::string_view text);
  void assign(const std::vector<std::string>& names, const Value& value);
  [[nodiscard]] const Value* find(const std::string& name) const;

  struct Deeper;

  std::vector<Scope> scopes_{};  // the first has the template's own variables
  std::size_t frame_ = 1;        // where the scopes of the running macro begin
  Scope globals_;
  std::deque<Namespace> namespaces_{};
  Budget budget_;
  std::int64_t now_s_;
  std::string out_{};
  int line_ = 1;
  int depth_ = 0;
};

}  // namespace rooftile::jinja
