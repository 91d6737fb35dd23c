# SPDX-License-Identifier: Apache-2.0
"""Compares chat templates with jinja2, in the environment that the library transformers makes.

    python3 compare_jinja.py LIBRARY [TEMPLATE...]     LIBRARY: model_capi.cc as a shared library

Snippets exercise each construct, and templates of the shapes that models have are rendered with
several conversations. More templates may be given as files. Where jinja2 fails, we must too. Prints
how many texts were compared; exits with 1 on any difference, or when nothing was compared.
"""
import ctypes
import datetime
import json
import pathlib
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = 1_753_000_000


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    class Generation(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

        def _body(self, caller):
            return caller()

    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                         extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda f: datetime.datetime.fromtimestamp(NOW).strftime(f)
    return made


TOOL = {"type": "function", "function": {
    "name": "get_weather", "description": "The \"weather\" <of> a place & 'time'.\n\u00fc",
    "parameters": {"type": "object", "properties": {"place": {"type": "string", "enum": ["a", "b"]},
                                                    "days": {"type": "integer", "default": 1.5}}, "required": ["place"]}}}
CALL = {"type": "function", "id": "abcdefghi",
        "function": {"name": "get_weather", "arguments": {"place": "K\u00f6ln", "days": 2, "x": None, "y": [True, 1e-7]}}}


def says(role, content, **more):
    return {"role": role, "content": content, **more}


CONVERSATIONS = [
    [says("user", "Hello")],
    [says("system", " You are terse. \n"), says("user", "  Hi \u3000\n"), says("assistant", "Yes?\n\n"), says("user", "\u00a0Why?")],
    [says("user", "a"), says("assistant", "<think>\nhm\n</think>\n\nb"), says("user", "c"), says("assistant", "d")],
    [says("system", ""), says("user", "{{ x }} {% raw %} 'quotes' \"too\" \\n \U0001f999")],
    [says("user", "w"), says("assistant", "", tool_calls=[CALL, CALL]), says("tool", "{\"t\": 3}"), says("tool", "cold"),
     says("assistant", "It is cold.", reasoning_content="think"), says("user", "thanks")],
    [says("user", [{"type": "text", "text": " part one"}, {"type": "image"}, {"type": "text", "text": "two "}])],
    [says("assistant", "first"), says("user", "second")], [says("user", "a"), says("user", "b")], [],
]
OPTIONS = [
    {}, {"add_generation_prompt": True}, {"tools": [TOOL], "add_generation_prompt": True},
    {"enable_thinking": False, "add_generation_prompt": True}, {"enable_thinking": True, "tools": [TOOL, TOOL]},
    {"date_string": "1 Jan 2026", "tools_in_user_message": False, "tools": [TOOL]},
]

# Templates of the shapes that models have: every construct that theirs use, in our words.
MODELS = {
    "chatml": """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system
You are a helpful assistant<|im_end|>
' }}{% endif %}{{'<|im_start|>' + message['role'] + '
' + message['content'] + '<|im_end|>' + '
'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}""",
    "inst": """{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set system = messages[0]['content'] %}
{%- else %}{% set rest = messages %}{% set system = false %}{% endif %}
{%- for message in rest %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('roles must alternate: ' ~ message.role) }}{% endif %}
{%- if loop.index0 == 0 and system != false %}{% set content = '<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' + message['content'] %}
{%- else %}{% set content = message['content'] %}{% endif %}
{%- if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}
{%- elif message['role'] == 'assistant' %}{{ ' ' + content | trim + ' ' + eos_token }}{% endif %}
{%- endfor %}""",
    "headers with tools": """{{- bos_token }}
{%- if not tools_in_user_message is defined %}
    {%- set tools_in_user_message = true %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}{% set date_string = strftime_now("%d %b %Y") %}{% else %}{% set date_string = "26 Jul 2024" %}{% endif %}
{%- endif %}
{%- if not tools is defined %}{% set tools = none %}{% endif %}
{#- the system message stands apart #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}{{- "Environment: ipython\\n" }}{% endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{%- if tools is not none and not tools_in_user_message %}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("one tool call at once") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '{"name": "' + tool_call.name + '", "parameters": ' }}{{- tool_call.arguments | tojson }}{{- "}" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {%- if message.content is mapping or message.content is iterable %}{{- message.content | tojson }}
        {%- else %}{{- message.content }}{% endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
""",
    "thinking": """{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}{% set content = message.content %}{% else %}{% set content = '' %}{% endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and (loop.last or (not loop.last and reasoning_content)) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}{{- '\\n' }}{% endif %}
                {%- if tool_call.function %}{% set tool_call = tool_call.function %}{% endif %}
                {{- '<tool_call>\\n{"name": "' }}{{- tool_call.name }}{{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}{{- tool_call.arguments }}{% else %}{{- tool_call.arguments | tojson }}{% endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{% endif %}
        {{- '\\n<tool_response>\\n' }}{{- content }}{{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\\n' }}{% endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{% endif %}
{%- endif %}""",
    "turns of parts": """{{ bos_token }}
{%- if messages and messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '\\n\\n' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("Conversation roles must alternate user/assistant/user/assistant/...") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}{%- set role = "model" -%}{%- else -%}{%- set role = message['role'] -%}{%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}{{ '<start_of_image>' }}
            {%- elif item['type'] == 'text' -%}{{ item['text'] | trim }}{%- endif -%}
        {%- endfor -%}
    {%- else -%}{{ raise_exception("Invalid content type") }}{%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{'<start_of_turn>model
'}}{%- endif -%}""",
    "tools in the last turn": """{%- set user_messages = messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}{% set ns.index = 0 %}
{%- for message in messages if message.role in ["user", "assistant", "tool"] %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}{{- '"' + key + '": "' + val + '"' }}{% else %}{{- '"' + key + '": ' + val|tojson }}{% endif %}
                    {%- if not loop.last %}{{- ", " }}{% endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}{{- ", " }}{% else %}{{- "]" }}{% endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {{- "[INST] " ~ message.content ~ "[/INST]" }}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}{{- raise_exception("an id of 9") }}{% endif %}
            {{- ', "id": "' + tool_call.id + '"}' }}{{- ", " if not loop.last else "]" + eos_token }}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}{{- " " + message["content"]|trim + eos_token}}
    {%- endif %}
    {%- set ns.index = ns.index + 1 %}
{%- endfor %}{{ ns.index }}""",
}

SNIPPETS = r"""{{ 1 + 2 * 3 - 4 // 3 }} {{ 7 / 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2 ** 10 }} {{ -2 ** 2 }} {{ 2 ** -1 }}
{{ 1.5 + 1 }} {{ 1e16 }} {{ 1e15 }} {{ 0.1 + 0.2 }} {{ 1e-5 }} {{ 100000.0 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1_000 }} {{ 3.0 }}
{{ 'a' ~ 1 ~ none ~ true ~ 1.0 }} {{ 'ab' * 3 }} {{ [1] + [2] }} {{ 'a' 'b' "c" }} {{ "tab\tquote\"\x41\u00e9" }}
{{ [1, 'it\'s', "q\"", none, true, 1.0, {'a': [1]}] }} {{ (1,) }} {{ () }} {{ {'k': 'v', "z": {}} }} {{ 'a\nb\\' | list }}
{{ not true and false or 'x' }} {{ 1 if false }}|{{ 1 if true else 2 }} {{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }} {{ 'a' in 'abc' }} {{ 1 not in [1, 2] }}
{{ 'k' in {'k': 1} }} {{ undefined_thing }}|{{ undefined_thing is defined }} {{ x.y is undefined }} {{ x['missing'] | default('d') }} {{ '' | default('e', true) }}
{{ 'hello'[1:3] }} {{ 'h\u00e9llo'[::-1] }} {{ [1,2,3,4][-2:] }} {{ [1,2,3,4][:-1:2] }} {{ 'abc'[10:] }} {{ [1,2,3][5:0:-1] }} {{ 'abc'[-1] }} {{ [1,2][7] }}|
{{ ' a b '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'xax'.lstrip('x') }}|{{ 'xax'.rstrip('x') }}|{{ '\u3000a\u00a0'.strip() }}|{{ ' a '|trim }}|
{{ 'a,b,,c'.split(',') }} {{ ' a  b c '.split() }} {{ 'a b c d'.split(' ', 2) }} {{ 'a b c '.split(none, 1) }} {{ 'a.b.c'.rsplit('.', 1) }} {{ ''.split() }} {{ ''.split(',') }}
{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'c')) }} {{ 'aXbX'.replace('X', '--') }} {{ 'aaa'.replace('a', 'b', 2) }} {{ 'abc'.replace('', '-') }} {{ 'abc'|replace('b', '') }}
{{ 'hello world'.title() }} {{ 'hELLO'.capitalize() }} {{ 'aB'|upper }} {{ 'aB'|lower }} {{ "they're bill's"|capitalize }} {{ 'abcabc'.find('c') }} {{ 'abcabc'.count('bc') }} {{ ','.join(['a', 'b']) }}
{{ [3, 1, 2] | sort }} {{ ['b', 'A', 'c'] | sort }} {{ ['b', 'A'] | sort(case_sensitive=true) }} {{ [1, 2, 3] | sort(reverse=true) }} {{ [3, 1] | max }} {{ [3, 1] | min }} {{ [1, 2] | sum }}
{{ [1, 2, 3] | first }} {{ [1, 2, 3] | last }} {{ [1, 2] | length }} {{ 'h\u00e9'|length }} {{ {'a': 1}|length }} {{ [1, 2] | reverse | list }} {{ 'abc' | reverse }} {{ ['a', 'A', 'b'] | unique | list }}
{{ [{'a': 1}, {'a': 2}] | map(attribute='a') | list }} {{ ['a', 'b'] | map('upper') | join(', ') }} {{ [1, 2, 3] | select('odd') | list }} {{ [1, 2, 3] | reject('divisibleby', 3) | list }} {{ [0, 1, ''] | select | list }}
{{ [{'r': 'u'}, {'r': 'a'}] | selectattr('r', 'equalto', 'u') | list }} {{ [{'r': 'u'}, {'x': 1}] | selectattr('r', 'defined') | list }} {{ [{'r': 0}, {'r': 2}] | rejectattr('r') | list }} {{ [{'a': {'b': 3}}] | map(attribute='a.b') | list }}
{{ {'b': 1, 'a': [1.5, none, true, "\u00e9\n\"</"]} | tojson }} {{ {'b': 1, 'a': []} | tojson(sort_keys=true) }} {{ [1, {'a': {}}] | tojson(indent=2) }} {{ '\u00e9\U0001f999' | tojson(ensure_ascii=true) }} {{ {'a': 1} | tojson(separators=(',', ':')) }}
{{ '12' | int }} {{ 'x' | int }} {{ '3.7' | int }} {{ 3.7 | int }} {{ 'x' | int(5) }} {{ '1.5' | float }} {{ 12 | string + 'a' }} {{ -3 | abs }} {{ (-3) | abs }} {{ 'a\nb\n\nc' | indent }} {{ 'a\nb' | indent(2, true) }}
{{ {'b': 1, 'A': 2} | dictsort }} {{ {'a': 1}.items() | list }} {{ {'a': 1} | items | list }} {{ {'a': 1}.get('a') }} {{ {'a': 1}.get('b') }} {{ {'a': 1}.get('b', 2) }} {{ {'a': 1}.keys() | list }} {{ {'a': 1}.values() | list }}
{{ 1 is number }} {{ 1 is integer }} {{ 1.0 is float }} {{ true is boolean }} {{ true is number }} {{ none is none }} {{ 'a' is string }} {{ [] is sequence }} {{ {} is mapping }} {{ 'a' is iterable }} {{ 3 is odd }} {{ 4 is even }} {{ 4 is divisibleby 2 }} {{ 1 is not none }} {{ 1 is in [1] }} {{ true is true }} {{ 1 is eq 1 }} {{ 'a' is lower }} {{ x is mapping }}
{% for i in range(3) %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }};{% endfor %}
{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }},{% endfor %}{% for k in {'a': 1} %}{{ k }}{% endfor %}{% for c in 'h\u00e9' %}{{ c }}.{% endfor %}{% for (a, b) in [(1, 2)] %}{{ a + b }}{% endfor %}
{% for i in [] %}x{% else %}none{% endfor %}{% for i in [1] %}x{% else %}none{% endfor %}{% for i in range(10) if i % 3 == 0 %}{{ i }}/{{ loop.length }} {% endfor %}{% for x in nothing %}x{% endfor %}
{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}{% for i in range(5, 0, -2) %}{{ i }}{% endfor %}
{% set a = 1 %}{% for i in [1] %}{% set a = 2 %}{{ a }}{% endfor %}{{ a }}{% if true %}{% set a = 3 %}{% endif %}{{ a }}{% set b, c = 4, 5 %}{{ b }}{{ c }}{% set t = 1, 2 %}{{ t }}
{% set ns = namespace(x=0) %}{% for i in range(4) %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}{% set ns.y = [ns.x] %}{{ ns.y }}{% set body %}in {{ a }}{% endset %}{{ body | upper }}
{% macro greet(name, mark='!') %}Hi {{ name }}{{ mark }}{% endmacro %}{{ greet('a') }} {{ greet('b', mark='?') }} {{ greet(name='c') }}|{{ greet() }}
{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}{% filter upper %}abc{{ 'd' }}{% endfilter %}{% generation %}out{% endgeneration %}
  {% if true %}  
  a  
  {%- if true -%}   b   {%- endif +%}
  {%+ if true %} c {% endif %}  
{# comment #}
  {# comment -#}   d {{- ' e ' -}} f
   {{ 'g' }}
{% raw %}{{ not }} {% this %}{% endraw %}h
{% if false %}{% elif 0 %}{% elif 'x' %}elif{% else %}else{% endif %} {{ {'a': {'b': 1}}.a.b }} {{ {'items': 5}['items'] }} {{ x.list.0 }} {{ x['list'][1] }} {{ x.text }}
{{ dict(a=1, b='x') }} {{ range(3) | list }} {{ range(2, 4) | list }} {{ 'a' is sameas 'a' }} {{ [1, 2] == [1, 2] }} {{ {'a': 1} == {'a': 1.0} }} {{ 1 == true }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ '1' == 1 }}
{{ strftime_now('%Y-%m-%d %H') }}{{ '' if true }}{{ none }}{{ [none] }} {{ 'x' if undefined_thing else 'y' }} {{ (1, 2)[0] }} {{ 'a' if 1 else 'b' if 0 else 'c' }} {{ [[1, 2], [3]] | map('length') | list }}
{{ undefined_thing.attribute }}
{{ none + 1 }}
{{ 'a' + 1 }}
{{ 'a' > 1 }}
{{ raise_exception('no') }}
{{ undefined_thing + 1 }}
{{ 1 // 0 }}
{{ range(200000) }}
{% for a, b in [(1, 2, 3)] %}{% endfor %}
{{ [1] | nofilter }}
{{ 1 is notest }}
{{ x.text.nomethod() }}
{% set x.y = 1 %}
{{ unclosed
{% if x %}
{{ 'a }}
{% endfor %}
{{ (1 }}
{{ 1 + }}
{% unknown %}
{{ greet(1, 2, 3) }}"""


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.rooftile_render.restype = ctypes.c_int64
        self.c.rooftile_last_error.restype = ctypes.c_char_p
        self.c.rooftile_last_text.restype = ctypes.c_void_p

    def render(self, source, variables):
        n = self.c.rooftile_render(source.encode(), json.dumps(variables).encode(), ctypes.c_int64(NOW))
        if n < 0:
            return None, self.c.rooftile_last_error().decode()
        return ctypes.string_at(self.c.rooftile_last_text(), n).decode(), ""


class Tally:
    def __init__(self):
        self.compared = 0
        self.failed_alike = 0
        self.different = 0

    def check(self, library, made, what, source, variables):
        self.compared += 1
        try:
            expected, reason = made.from_string(source).render(**variables), ""
        except Exception as error:  # any failure of theirs: ours must fail as well
            expected, reason = None, f"{type(error).__name__}: {error}"
        given, message = library.render(source, variables)
        self.failed_alike += expected is None and given is None
        if given != expected:
            self.different += 1
            print(f"{what}: {source[:300]!r}\n  ours   {given!r} {message}\n  theirs {expected!r} {reason}")


def pieces_of(source):
    """Each line alone, and neighbouring lines together, so that line ends matter."""
    lines = source.split("\n")
    good = [line for line in lines if line]
    return good + ["\n".join(lines[at:at + 9]) + "\n" for at in range(len(lines))] + [source.replace("\n", "\r\n")]


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    library, made, tally = Library(sys.argv[1]), environment(), Tally()
    variables = {"x": {"list": [1, 2], "text": "t", "n": None}, "a": "global"}
    for snippet in pieces_of(SNIPPETS):
        tally.check(library, made, "snippet", snippet, variables)
    templates = {**MODELS, **{path: pathlib.Path(path).read_text() for path in sys.argv[2:]}}
    for name, source in templates.items():
        for messages in CONVERSATIONS:
            for options in OPTIONS:
                tally.check(library, made, name, source, {
                    "messages": messages, "bos_token": "<s>", "eos_token": "</s>", "tools": None,
                    "add_generation_prompt": False, **options})
    print(f"{tally.compared} compared, {tally.failed_alike} of them fail in both, {tally.different} different")
    return 1 if tally.different or tally.failed_alike == tally.compared else 0


if __name__ == "__main__":
    sys.exit(main())
