// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/chat_template.h"

#include <utility>

#include "rooftile/base/error.h"
#include "rooftile/base/json.h"
#include "rooftile/base/text.h"
#include "rooftile/model/chat_guard.h"
#include "rooftile/model/jinja_ast.h"
#include "rooftile/model/jinja_eval.h"
#include "rooftile/model/utf8.h"

namespace rooftile {
namespace {

// Enough for thousands of messages; a second or two at worst.
constexpr std::int64_t kMostWork = 10'000'000;

jinja::Value json_value(std::string_view text, const char* what) {
  check_json_depth(text);
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) fail_input(std::string(what) + " is not valid JSON");
  return jinja::from_json(json);
}

jinja::Value json_object(std::string_view text, const char* what) {
  jinja::Value value = json_value(text, what);
  if (value.dict() == nullptr)
    fail_input(std::string(what) + " is " + std::string(value.type_name()) +
               "; allowed: a JSON object");
  return value;
}

jinja::Value message_value(const ChatMessage& message) {
  for (const std::string* text : {&message.role, &message.content})
    if (!is_utf8(*text)) fail_input("a message's role or content is not valid UTF-8");
  std::vector<std::pair<std::string, jinja::Value>> items;
  items.emplace_back("role", jinja::Value::text(message.role));
  items.emplace_back("content", jinja::Value::text(message.content));
  if (!message.more_json.empty()) {
    const jinja::Value more = json_object(message.more_json, "more_json of a message");
    for (const auto& [key, value] : more.dict()->items) {
      std::erase_if(items, [&](const auto& item) { return item.first == key; });
      items.emplace_back(key, value);
    }
  }
  return jinja::Value::dict(std::move(items));
}

// What others wrote: the messages and the tools.
struct Conversation {
  jinja::Value messages;
  jinja::Value tools;
};

Conversation conversation_of(const std::vector<ChatMessage>& messages, const ChatOptions& options) {
  std::vector<jinja::Value> list;
  for (const ChatMessage& message : messages) list.push_back(message_value(message));
  return {jinja::Value::list(std::move(list)), options.tools_json.empty()
                                                   ? jinja::Value::none()
                                                   : json_value(options.tools_json, "tools_json")};
}

void add_variables(jinja::Scope& scope, std::string_view json, const char* what) {
  const jinja::Value variables = json_object(json, what);
  for (const auto& [key, value] : variables.dict()->items) scope.insert_or_assign(key, value);
}

}  // namespace

struct ChatTemplate::Parsed {
  std::string source;
  jinja::Body body;

  [[nodiscard]] std::string render(const Conversation& conversation,
                                   const ChatOptions& options) const {
    jinja::Scope scope;
    scope["messages"] = conversation.messages;
    scope["add_generation_prompt"] = jinja::Value::boolean(options.add_generation_prompt);
    scope["bos_token"] = jinja::Value::text(options.bos_token);
    scope["eos_token"] = jinja::Value::text(options.eos_token);
    scope["tools"] = conversation.tools;
    scope["documents"] = jinja::Value::none();
    if (!options.variables_json.empty())
      add_variables(scope, options.variables_json, "variables_json");
    return jinja::Evaluator(std::move(scope), kMostWork, options.now_s).render(body);
  }
};

ChatTemplate::ChatTemplate(std::string_view source) {
  if (!is_utf8(source)) fail_input("chat template is not valid UTF-8");
  parsed_ = std::make_unique<Parsed>(Parsed{std::string(source), jinja::parse(source)});
}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&& other) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&& other) noexcept = default;

std::string ChatTemplate::render(const std::vector<ChatMessage>& messages,
                                 const ChatOptions& options) const {
  return parsed_->render(conversation_of(messages, options), options);
}

ChatPrompt ChatTemplate::render_guarded(const std::vector<ChatMessage>& messages,
                                        const ChatOptions& options,
                                        std::span<const std::string> control_tokens) const {
  const ChatGuard guard(control_tokens);
  Conversation conversation = conversation_of(messages, options);
  if (!guard.is_needed(conversation.messages) && !guard.is_needed(conversation.tools))
    return {.text = parsed_->render(conversation, options)};
  const jinja::Value values[]{conversation.messages, conversation.tools};
  const std::string mark = ChatGuard::new_mark(parsed_->source, values);
  conversation = {guard.marked(values[0], mark), guard.marked(values[1], mark)};
  // A template may write values as JSON in ASCII.
  return {.text = replaced(parsed_->render(conversation, options), ChatGuard::escaped(mark), mark),
          .mark = mark};
}

std::string ChatTemplate::render_variables(std::string_view variables_json,
                                           std::int64_t now_s) const {
  jinja::Scope scope;
  add_variables(scope, variables_json, "variables_json");
  return jinja::Evaluator(std::move(scope), kMostWork, now_s).render(parsed_->body);
}

}  // namespace rooftile
