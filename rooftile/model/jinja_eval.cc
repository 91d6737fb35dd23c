// SPDX-License-Identifier: Apache-2.0
// Expressions.
#include "rooftile/model/jinja_eval.h"

#include <algorithm>

#include "rooftile/base/error.h"
#include "rooftile/model/jinja_lexer.h"
#include "rooftile/model/jinja_library.h"
#include "rooftile/model/jinja_parser.h"

namespace rooftile::jinja {
namespace {

constexpr int kMostDepth = 600;  // of expressions, statements and macros within each other
constexpr std::size_t kMostTextBytes = 16 << 20;

}  // namespace

// One level of recursion; throws where templates call themselves without end.
struct Evaluator::Deeper {
  explicit Deeper(Evaluator& evaluator) : evaluator_(&evaluator) {
    if (++evaluator.depth_ > kMostDepth) {
      --evaluator.depth_;
      evaluator.fail("recursion of more than " + std::to_string(kMostDepth) + " levels");
    }
  }
  ~Deeper() { --evaluator_->depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  Evaluator* evaluator_;
};

const Value* Args::find(std::size_t index, std::string_view name) const {
  if (index < positional.size()) return &positional[index];
  for (const auto& [key, value] : named)
    if (key == name) return &value;
  return nullptr;
}

Evaluator::Evaluator(Scope globals, std::int64_t most_work, std::int64_t now_s)
    : globals_(std::move(globals)), budget_(most_work), now_s_(now_s) {}

void Evaluator::fail(const std::string& message) const { fail_at(line_, message); }
void Evaluator::fail_unsupported_here(const std::string& what) const {
  fail_unsupported(line_, what);
}

Value Evaluator::new_text(std::string text) {
  if (text.size() > kMostTextBytes) fail("a text of " + std::to_string(text.size()) + " bytes");
  budget_.spend(1 + text.size() / 8);
  return Value::text(std::move(text));
}

Value Evaluator::new_namespace(Scope members) {
  namespaces_.push_back(Namespace{std::move(members)});
  return Value(Data(&namespaces_.back()));
}

void Evaluator::check_args(const Args& args, std::size_t most,
                           std::initializer_list<const char*> names) const {
  if (args.positional.size() > most)
    fail(std::to_string(args.positional.size()) + " arguments; allowed: " + std::to_string(most));
  for (const auto& [key, value] : args.named) {
    const bool is_known =
        std::any_of(names.begin(), names.end(), [&](const char* name) { return key == name; });
    if (!is_known) fail(unknown_name("argument", key, {names.begin(), names.end()}));
  }
}

std::int64_t Evaluator::integer(const Value& value, const char* what) const {
  std::int64_t number = 0;
  if (!value.integer_to(number))
    fail(std::string(what) + " is " + std::string(value.type_name()) + "; allowed: int");
  return number;
}

const std::string& Evaluator::string(const Value& value, const char* what) const {
  if (value.text() == nullptr)
    fail(std::string(what) + " is " + std::string(value.type_name()) + "; allowed: str");
  return *value.text();
}

std::vector<Value> Evaluator::items_of(const Value& value) {
  if (value.is_undefined()) return {};
  if (const std::string* text = value.text()) return characters(*this, *text);
  if (const List* list = value.list()) {
    budget_.spend(1 + list->items.size() / 4);
    return list->items;
  }
  if (const Dict* dict = value.dict()) {
    std::vector<Value> keys;
    for (const auto& entry : dict->items) keys.push_back(new_text(entry.first));
    return keys;
  }
  fail(std::string(value.type_name()) + " has no items");
}

Value Evaluator::member(const Value& value, const Value& key) {
  if (const Undefined* undefined = value.as<Undefined>())
    fail("'" + (undefined->name ? *undefined->name : std::string("value")) + "' is undefined");
  std::int64_t index = 0;
  if (const std::string* name = key.text()) {
    if (const Dict* dict = value.dict()) {
      budget_.spend(1 + dict->items.size() / 8);
      if (const Value* found = dict->find(*name)) return *found;
    } else if (const auto* space = value.as<Namespace*>()) {
      const auto found = (*space)->members.find(*name);
      if (found != (*space)->members.end()) return found->second;
    }
    return Value::undefined(*name);
  }
  if (key.integer_to(index) && (value.list() != nullptr || value.text() != nullptr)) {
    const std::vector<Value> own = value.list() != nullptr ? std::vector<Value>{} : items_of(value);
    const std::vector<Value>& items = value.list() != nullptr ? value.list()->items : own;
    if (index < 0) index += static_cast<std::int64_t>(items.size());
    if (index >= 0 && index < static_cast<std::int64_t>(items.size()))
      return items[static_cast<std::size_t>(index)];
  }
  return Value::undefined("item of " + std::string(value.type_name()));
}

const Value* Evaluator::find(const std::string& name) const {
  const auto find_in = [&](const Scope& scope) -> const Value* {
    const auto found = scope.find(name);
    return found == scope.end() ? nullptr : &found->second;
  };
  for (std::size_t i = scopes_.size(); i-- > frame_;)
    if (const Value* found = find_in(scopes_[i])) return found;
  if (const Value* found = find_in(scopes_[0])) return found;
  return find_in(globals_);
}

Value Evaluator::eval(const Expr& expr) {
  const Deeper deeper(*this);
  budget_.spend(1);
  line_ = expr.line;
  return eval_node(expr);
}

std::vector<Value> Evaluator::eval_all(const std::vector<ExprPtr>& exprs, std::size_t first) {
  std::vector<Value> values;
  for (std::size_t i = first; i < exprs.size(); ++i) values.push_back(eval(*exprs[i]));
  return values;
}

Args Evaluator::eval_args(const Expr& expr) {
  Args args{.positional = eval_all(expr.children, 1)};
  for (const auto& [name, value] : expr.named) args.named.emplace_back(name, eval(*value));
  line_ = expr.line;
  return args;
}

Value Evaluator::eval_node(const Expr& expr) {
  const auto operand = [&](std::size_t i) { return eval(*expr.children[i]); };
  switch (expr.kind) {
    case ExprKind::literal:
      return expr.value;
    case ExprKind::name:
      return eval_name(expr);
    case ExprKind::list:
      return Value::list(eval_all(expr.children));
    case ExprKind::tuple:
      return Value::list(eval_all(expr.children), true);
    case ExprKind::dict: {
      std::vector<std::pair<std::string, Value>> items;
      for (std::size_t i = 0; i < expr.children.size(); i += 2) {
        const std::string key = string(operand(i), "a key of a dictionary");
        const auto same = [&](const auto& item) { return item.first == key; };
        std::erase_if(items, same);
        items.emplace_back(key, operand(i + 1));
      }
      return Value::dict(std::move(items));
    }
    case ExprKind::negate:
      return negated(*this, operand(0));
    case ExprKind::plus:
      return operand(0);
    case ExprKind::logical_not:
      return Value::boolean(!operand(0).is_true());
    case ExprKind::logical_and: {
      Value left = operand(0);
      return left.is_true() ? operand(1) : left;
    }
    case ExprKind::logical_or: {
      Value left = operand(0);
      return left.is_true() ? left : operand(1);
    }
    case ExprKind::binary: {
      const Value left = operand(0);
      return apply_operator(*this, expr.text, left, operand(1));
    }
    case ExprKind::comparison:
      return eval_comparison(expr);
    case ExprKind::conditional:
      if (operand(1).is_true()) return operand(0);
      return expr.children.size() > 2 ? operand(2) : Value::undefined("the condition's else");
    case ExprKind::attribute:
      return member(operand(0), Value::text(expr.text));
    case ExprKind::item: {
      const Value value = operand(0);
      return member(value, operand(1));
    }
    case ExprKind::slice:
      return eval_slice(expr);
    case ExprKind::call:
      return eval_call(expr);
    case ExprKind::filter:
      return eval_filter(expr);
    case ExprKind::test: {
      const Value value = operand(0);
      return Value::boolean(apply_test(*this, expr.text, value, eval_args(expr)));
    }
  }
  fail("unknown expression");
}

Value Evaluator::eval_name(const Expr& expr) {
  if (const Value* found = find(expr.text)) return *found;
  if (is_function(expr.text)) return Value(Data(Callable{.name = expr.text}));
  return Value::undefined(expr.text);
}

Value Evaluator::eval_comparison(const Expr& expr) {
  Value left = eval(*expr.children[0]);
  for (std::size_t i = 0; i < expr.signs.size(); ++i) {
    Value right = eval(*expr.children[i + 1]);
    line_ = expr.line;
    const std::string& sign = expr.signs[i];
    bool holds = false;
    if (sign == "==" || sign == "!=") {
      holds = equal(left, right, budget_) == (sign == "==");
    } else if (sign == "in" || sign == "not in") {
      holds = contains(*this, right, left) == (sign == "in");
    } else {
      if (left.is_undefined() || right.is_undefined()) fail("'" + sign + "' of an undefined value");
      const int order = compare(left, right, budget_);
      holds = sign == "<"    ? order < 0
              : sign == "<=" ? order <= 0
              : sign == ">"  ? order > 0
                             : order >= 0;
    }
    if (!holds) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Evaluator::eval_slice(const Expr& expr) {
  const Value value = eval(*expr.children[0]);
  Value bounds[3];
  for (std::size_t i = 0; i < 3; ++i)
    if (expr.children[i + 1]) bounds[i] = eval(*expr.children[i + 1]);
  line_ = expr.line;
  return sliced(*this, value, bounds[0], bounds[1], bounds[2]);
}

Value Evaluator::eval_filter(const Expr& expr, const Value* block_text) {
  Value value;
  if (expr.children[0] && expr.children[0]->kind == ExprKind::filter)
    value = eval_filter(*expr.children[0], block_text);
  else
    value = expr.children[0] ? eval(*expr.children[0]) : *block_text;
  return apply_filter(*this, expr.text, value, eval_args(expr));
}

Value Evaluator::eval_call(const Expr& expr) {
  const Expr& callee = *expr.children[0];
  if (callee.kind != ExprKind::attribute) {
    const Value value = eval(callee);
    const Args args = eval_args(expr);
    if (const Callable* callable = value.as<Callable>()) return call(*callable, args);
    fail("'" + (callee.text.empty() ? std::string("value") : callee.text) + "' is " +
         std::string(value.type_name()) + ", which cannot be called");
  }
  const Value object = eval(*callee.children[0]);
  const Args args = eval_args(expr);
  if (object.as<Namespace*>() != nullptr || object.dict() != nullptr) {
    const Value found = member(object, Value::text(callee.text));
    if (const Callable* callable = found.as<Callable>()) return call(*callable, args);
  }
  if (object.is_undefined()) member(object, Value());  // fails, with the name
  return call_method(*this, callee.text, object, args);
}

Value Evaluator::call(const Callable& callable, const Args& args) {
  return callable.macro != nullptr ? call_macro(*callable.macro, args)
                                   : call_function(*this, callable.name, args);
}

Value Evaluator::call_macro(const Macro& macro, const Args& args) {
  const Deeper deeper(*this);
  if (args.positional.size() > macro.names.size())
    fail("macro '" + macro.name + "' has " + std::to_string(macro.names.size()) + " parameters; " +
         std::to_string(args.positional.size()) + " arguments were given");
  for (const auto& [name, value] : args.named)
    if (std::find(macro.names.begin(), macro.names.end(), name) == macro.names.end())
      fail(unknown_name("parameter of macro '" + macro.name + "',", name, macro.names));
  const std::size_t frame = std::exchange(frame_, scopes_.size());
  scopes_.emplace_back();
  const std::size_t first_default = macro.names.size() - macro.defaults.size();
  for (std::size_t i = 0; i < macro.names.size(); ++i) {
    const Value* given = args.find(i, macro.names[i]);
    Value value = given != nullptr     ? *given
                  : i >= first_default ? eval(*macro.defaults[i - first_default])
                                       : Value::undefined(macro.names[i]);
    scopes_.back().insert_or_assign(macro.names[i], std::move(value));
  }
  Value result = new_text(captured(macro.body));
  scopes_.pop_back();
  frame_ = frame;
  return result;
}

}  // namespace rooftile::jinja
