// SPDX-License-Identifier: Apache-2.0
// The interface, the errors and the limits; tests/model compares the language with jinja2.
#include "rooftile/model/chat_template.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"

namespace rooftile {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

std::string error_of(const std::string& source) {
  try {
    return "no error: " + ChatTemplate(source).render({{.role = "user", .content = "x"}});
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ChatTemplate, RendersAConversation) {
  const ChatTemplate chat(
      "{{ bos_token }}{% for m in messages %}\n"
      "  {% if loop.first %}\n"
      "[{{ m.role }}]{{ m.content | trim }}\n"
      "  {% else %}\n"
      "|{{ m.name }}{{ eos_token }}\n"
      "  {% endif %}\n"
      "{% endfor %}\n"
      "{% if add_generation_prompt %}go{{ n }}{% endif %}\n");
  const std::vector<ChatMessage> messages{
      {.role = "user", .content = " {{ hi }} "},
      {.role = "tool", .content = "", .more_json = R"({"name": "f"})"}};
  EXPECT_EQ(chat.render(messages,
                        {.bos_token = "<s>", .eos_token = "</s>", .variables_json = R"({"n": 7})"}),
            "<s>[user]{{ hi }}\n|f</s>\ngo7");
}

TEST(ChatTemplate, TellsTheTime) {
  EXPECT_THAT(ChatTemplate("{{ strftime_now('%Y') }}").render({}, {.now_s = 86400 * 200}), "1970");
}

TEST(ChatTemplate, ErrorsNameTheLine) {
  EXPECT_THAT(error_of("a\n{{ 1 + }}"), HasSubstr("line 2: expected an expression"));
  EXPECT_THAT(error_of("\n\n{% if x %}"), HasSubstr("line 3: expected {% endif %}"));
  EXPECT_THAT(error_of("a\n{{ nothing.x }}"), HasSubstr("line 2: 'nothing' is undefined"));
  EXPECT_THAT(error_of("{% include 'a' %}"), HasSubstr("line 1: {% include %} is not supported"));
  EXPECT_THAT(error_of("{{ 'a'.encode() }}"), HasSubstr("the method encode() of str"));
  EXPECT_THAT(error_of("{{ x | tojsn }}"), HasSubstr("did you mean 'tojson'"));
  EXPECT_THAT(error_of("{{ raise_exception('roles must alternate') }}"),
              HasSubstr("refuses this conversation: roles must alternate"));
  EXPECT_THAT(error_of("\xFF"), HasSubstr("not valid UTF-8"));
}

TEST(ChatTemplate, EndsWhateverTheTemplateDoes) {
  const std::string loop =
      "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}";
  EXPECT_THAT(error_of(loop), HasSubstr("too many steps"));
  EXPECT_THAT(error_of("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), HasSubstr("recursion"));
  EXPECT_THAT(error_of("{{ range(100001) }}"), HasSubstr("more than 100000 items"));
  EXPECT_THAT(error_of("{{ 'ab' * 1000000000 }}"), HasSubstr("too long"));
  EXPECT_THAT(error_of("{% set n = namespace(s='x') %}{% for i in range(60) %}"
                       "{% set n.s = n.s ~ n.s %}{% endfor %}"),
              AnyOf(HasSubstr("a text of"), HasSubstr("too many steps")));
  EXPECT_THAT(error_of("{% set n = namespace(s=[]) %}{% for i in range(1000) %}"
                       "{% set n.s = [n.s] %}{% endfor %}"),
              HasSubstr("nest more than"));
  EXPECT_THAT(error_of("{% set n = namespace(s=[1]) %}{% for i in range(60) %}"
                       "{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s }}"),
              HasSubstr("too many steps"));
  EXPECT_THAT(error_of("{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}"),
              HasSubstr("writes more than"));
  EXPECT_THAT(error_of("{{ " + std::string(100000, '[') + std::string(100000, ']') + " }}"),
              HasSubstr("nests more than"));
  std::string sum = "{{ 1";
  for (int i = 0; i < 100000; ++i) sum += "+1";
  EXPECT_THAT(error_of(sum + " }}"), HasSubstr("levels"));
  EXPECT_THAT(error_of("{{ 9223372036854775807 + 1 }}"), HasSubstr("64 bits"));
}

}  // namespace
}  // namespace rooftile
