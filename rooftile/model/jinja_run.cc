// SPDX-License-Identifier: Apache-2.0
// Statements.
#include <utility>

#include "rooftile/model/jinja_eval.h"
#include "rooftile/model/jinja_library.h"

namespace rooftile::jinja {
namespace {

constexpr std::size_t kMostOutputBytes = 16 << 20;
constexpr std::size_t kLoopRoundWork = 20;  // what making the variable `loop` costs

// The variable `loop` in round `i` over `items`.
Value loop_variable(const std::vector<Value>& items, std::size_t i) {
  const auto number = [](std::size_t value) {
    return Value::integer(static_cast<std::int64_t>(value));
  };
  const std::size_t n = items.size();
  return Value::dict({{"index", number(i + 1)},
                      {"index0", number(i)},
                      {"revindex", number(n - i)},
                      {"revindex0", number(n - i - 1)},
                      {"first", Value::boolean(i == 0)},
                      {"last", Value::boolean(i + 1 == n)},
                      {"length", number(n)},
                      {"previtem", i == 0 ? Value::undefined("loop.previtem") : items[i - 1]},
                      {"nextitem", i + 1 == n ? Value::undefined("loop.nextitem") : items[i + 1]}});
}

}  // namespace

std::string Evaluator::render(const Body& body) {
  scopes_.assign(1, {});
  run(body);
  return std::move(out_);
}

void Evaluator::write(std::string_view text) {
  if (out_.size() + text.size() > kMostOutputBytes)
    fail("writes more than " + std::to_string(kMostOutputBytes) + " bytes");
  budget_.spend(1 + text.size() / 8);
  out_ += text;
}

std::string Evaluator::captured(const Body& body) {
  std::string outer = std::exchange(out_, "");
  run(body);
  return std::exchange(out_, std::move(outer));
}

Evaluator::Flow Evaluator::run(const Body& body) {
  for (const Statement& statement : body) {
    const Flow flow = run(statement);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Evaluator::Flow Evaluator::run(const Statement& statement) {
  budget_.spend(1);
  line_ = statement.line;
  switch (statement.kind) {
    case StatementKind::text:
      write(statement.text);
      break;
    case StatementKind::output:
      write(text(eval(*statement.exprs[0])));
      break;
    case StatementKind::for_loop:
      return run_loop(statement);
    case StatementKind::if_chain:
      return run_chain(statement);
    case StatementKind::set:
    case StatementKind::set_block:
      run_set(statement);
      break;
    case StatementKind::set_attribute:
      set_attribute(statement);
      break;
    case StatementKind::filter_block: {
      const Value block = new_text(captured(statement.bodies[0]));
      write(text(eval_filter(*statement.exprs[0], &block)));
      break;
    }
    case StatementKind::scope:
      return run(statement.bodies[0]);
    case StatementKind::macro:
      scopes_.back().insert_or_assign(statement.macro->name,
                                      Value(Data(Callable{.macro = statement.macro.get()})));
      break;
    case StatementKind::break_loop:
      return Flow::broken;
    case StatementKind::continue_loop:
      return Flow::continued;
  }
  return Flow::normal;
}

Evaluator::Flow Evaluator::run_loop(const Statement& loop) {
  std::vector<Value> items = items_of(eval(*loop.exprs[0]));
  scopes_.emplace_back();
  if (loop.exprs[1]) {
    std::vector<Value> kept;
    for (Value& item : items) {
      assign(loop.names, item);
      if (eval(*loop.exprs[1]).is_true()) kept.push_back(std::move(item));
    }
    items = std::move(kept);
  }
  Flow flow = Flow::normal;
  for (std::size_t i = 0; i < items.size() && flow != Flow::broken; ++i) {
    budget_.spend(kLoopRoundWork);
    scopes_.back().clear();
    scopes_.back().insert_or_assign("loop", loop_variable(items, i));
    line_ = loop.line;
    assign(loop.names, items[i]);
    flow = run(loop.bodies[0]);
  }
  scopes_.back().clear();
  flow = Flow::normal;
  if (items.empty() && loop.bodies.size() > 1) flow = run(loop.bodies[1]);
  scopes_.pop_back();
  return flow;
}

Evaluator::Flow Evaluator::run_chain(const Statement& chain) {
  for (std::size_t i = 0; i < chain.exprs.size(); ++i)
    if (eval(*chain.exprs[i]).is_true()) return run(chain.bodies[i]);
  const bool has_else = chain.bodies.size() > chain.exprs.size();
  return has_else ? run(chain.bodies.back()) : Flow::normal;
}

void Evaluator::assign(const std::vector<std::string>& names, const Value& value) {
  if (names.size() == 1) {
    scopes_.back().insert_or_assign(names[0], value);
    return;
  }
  const std::vector<Value> items = items_of(value);
  if (items.size() != names.size())
    fail(std::to_string(items.size()) + " values for " + std::to_string(names.size()) + " names");
  for (std::size_t i = 0; i < names.size(); ++i)
    scopes_.back().insert_or_assign(names[i], items[i]);
}

void Evaluator::run_set(const Statement& set) {
  if (set.kind == StatementKind::set)
    assign(set.names, eval(*set.exprs[0]));
  else
    assign(set.names, new_text(captured(set.bodies[0])));
}

void Evaluator::set_attribute(const Statement& set) {
  const Value value = eval(*set.exprs[0]);
  line_ = set.line;
  const Value* target = find(set.names[0]);
  const auto* space = target != nullptr ? target->as<Namespace*>() : nullptr;
  if (space == nullptr) fail("'" + set.names[0] + "' is no namespace, so none of it can be set");
  (*space)->members.insert_or_assign(set.names[1], value);
}

}  // namespace rooftile::jinja
