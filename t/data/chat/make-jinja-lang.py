#!/usr/bin/env python3
# Writes jinja_lang.json: templates and what Jinja2 makes of them, in the
# environment that transformers gives a chat template. Debian's python3-jinja2.
import json
import sys
import jinja2
import jinja2.ext
import jinja2.sandbox

VARS = {
    'a': 1, 'b': 2, 's': 'text', 'yes': True, 'no': False, 'nil': None,
    'xs': [1, 2, 3], 'names': ['ann', 'bob', 'cy'], 'd': {'k': 'v', 'n': 7},
    'empty': [],
    'pairs': [['p', 1], ['q', 2]],
    'messages': [
        {'role': 'system', 'content': 'be brief'},
        {'role': 'user', 'content': 'hi'},
        {'role': 'assistant', 'content': 'hello'},
        {'role': 'user', 'content': 'bye'},
    ],
}

T = []


def t(*templates):
    T.extend(templates)


# literals
t('{{ 1 }} {{ 1.5 }} {{ 1e3 }} {{ 1_000 }} {{ 2.5e-1 }}',
  '{{ "a" }}{{ \'b\' }}{{ "it\'s" }}{{ \'"q"\' }}',
  r"{{ 'a\nb\tc\\d\'e' }}", r'{{ "\x41\u00e9\U0001F600\101\q" }}',
  '{{ "a" "b" \'c\' }}', '{{ true }} {{ True }} {{ false }} {{ none }} {{ None }}',
  '{{ [1, "a", [2]] }} {{ (1, 2) }} {{ (1,) }} {{ () }} {{ [] }} {{ {} }}',
  '{{ {"a": 1, "b": [1,],} }}', '{{ 1, 2 }}', '{{ (1) }}', '{{ {1: 2, none: 3}[none] }}')
# precedence
t('{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 10 - 4 - 3 }} {{ 2 ** 3 ** 2 }}',
  '{{ -2 ** 2 }} {{ 2 ** -1 }} {{ -1|abs }} {{ (-1)|abs }} {{ - -1 }} {{ +1 }}',
  '{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 8 / 2 }}',
  '{{ (1 + 2) ~ 3 }} {{ 1 ~ 2 * 3 }} {{ "a" + 1 ~ "b" }}',
  '{{ 1 ~ none ~ true ~ zz ~ "s" ~ [1] }}',
  '{{ 1 < 2 }} {{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 }} {{ "a" != "b" }}',
  '{{ not 1 == 2 }} {{ not true or true }} {{ not (true or true) }} {{ not not 1 }}',
  '{{ true or false and false }} {{ (true or false) and false }}',
  '{{ 1 and 2 }} {{ 0 and 2 }} {{ 0 or 3 }} {{ "" or "x" }} {{ 1 or zz.y }} {{ nil or [] }}',
  '{{ 1 in xs }} {{ 9 not in xs }} {{ not 9 in xs }} {{ "ex" in s }} {{ "k" in d }}',
  '{{ 1 + 1 in xs }} {{ 2 in xs and 3 in xs }} {{ 2 in xs == true }}',
  '{{ "a" if yes else "b" }} {{ "a" if no else "b" }} [{{ "a" if no }}]',
  '{{ 1 if no else 2 if no else 3 }} {{ (1 if yes else 2) + 1 }} {{ 1 if yes else 2 + 1 }}',
  '{{ [1 if no else 2, "x" if yes] }}', '{{ a if b == 2 and not no else 0 }}',
  '{{ xs|length + 1 }} {{ xs|length == 3 and s is string }}', '{{ "a" ~ s|upper ~ "b" }}',
  '{{ names|join(", ")|upper }}', '{{ (s ~ "x")|length }} {{ s ~ "x"|length }}')
# tests
t('{{ a is defined }} {{ zz is defined }} {{ zz is not defined }} {{ zz is undefined }}',
  '{{ nil is none }} {{ a is not none }} {{ not a is none }}',
  '{{ a is divisibleby 2 }} {{ b is divisibleby(2) }} {{ b is eq 2 }} {{ a is in [1, 2] }}',
  '{{ "x" if a is defined else "y" }} {{ a is defined and b is defined }} {{ a is number or zz }}',
  '{{ s is string }} {{ xs is iterable }} {{ d is mapping }} {{ xs is sequence }} {{ a is integer }}',
  '{{ a is odd and b is even }}', '{{ a + 1 is even }}', '{{ d.k is string }} {{ d.zz is defined }} {{ d["zz"] is defined }}',
  '{{ a is sameas 1 }} {{ yes is true }} {{ a is false }}', '{% if zz %}t{% else %}f{% endif %}',
  '[{{ zz }}] {% for x in zz %}x{% endfor %}!')
# attributes, subscripts, calls
t('{{ d.k }} {{ d["k"] }} {{ d.n + 1 }} {{ messages[0].role }} {{ messages[-1]["content"] }}',
  '{{ xs[0] }}{{ xs[-1] }}{{ xs.0 }} {{ s[1] }} {{ s[-1] }} [{{ xs[9] }}]',
  '{{ xs[1:] }} {{ xs[:1] }} {{ xs[:-1] }} {{ xs[::-1] }} {{ xs[::2] }} {{ s[1:3] }} {{ s[::-1] }} {{ xs[:] }}',
  '{{ messages[1:][0].content }} {{ messages[xs[0]].role }}',
  '{{ s.upper() }} {{ s.upper().lower() }} {{ "a,b".split(",")[1] }} {{ " x ".strip() }}!',
  '{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}', '{{ d.get("k") }} {{ d.get("zz", 3) }} {{ d.get("zz") }}',
  '{{ range(3)|list }} {{ range(1, 7, 2)|list }}', '{{ dict(a=1, **d) }}', '{{ range(*[1, 4])|list }}',
  '{{ s.replace("t", "T") }} {{ s.startswith("te") }}', '{{ namespace(a=1).a }}')
# if
t('{% if a == 1 %}one{% elif a == 2 %}two{% else %}many{% endif %}',
  '{% if a == 3 %}one{% elif b == 2 %}two{% else %}many{% endif %}',
  '{% if no %}1{% elif no %}2{% elif no %}3{% else %}4{% endif %}', '{% if no %}x{% endif %}.',
  '{% if yes %}{% if no %}x{% else %}y{% endif %}{% else %}z{% endif %}')
# for
t('{% for x in xs %}{{ x }},{% endfor %}', '{% for x in [] %}x{% else %}none{% endfor %}',
  '{% for x in xs %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }};{% endfor %}',
  '{% for x in xs %}[{{ loop.previtem }}<{{ x }}<{{ loop.nextitem }}]{% endfor %}',
  '{% for x in xs %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }} {% endfor %}',
  '{% for x in xs if x != 2 %}{{ loop.index }}/{{ loop.length }}:{{ x }} {% endfor %}',
  '{% for x in xs if x > 5 %}{{ x }}{% else %}none{% endfor %}',
  '{% for a, b in pairs %}{{ a }}{{ b }} {% endfor %}{{ a }}{{ b }}', '{% for (p, q) in pairs %}{{ q }}{% endfor %}',
  '{% for c in s %}{{ c }}.{% endfor %}', '{% for k in d %}{{ k }}{% endfor %}', '{% for x in 1, 2 %}{{ x }}{% endfor %}',
  '{% for x in xs %}{{ loop.cycle("odd", "even") }} {% endfor %}',
  '{% for x in [1, 1, 2, 2, 1] %}{{ loop.changed(x) }} {% endfor %}', '{% for x in xs %}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}',
  '{% for x in xs %}{% for y in names %}{{ loop.index }}{% endfor %}{{ loop.index }} {% endfor %}',
  '{% for x in xs %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}',
  '{% for x in xs %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}.',
  '{% for x in xs %}{% for y in xs %}{% if y == 2 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}',
  '{% for m in messages %}{% if loop.first %}<s>{% endif %}{{ m.role }}: {{ m["content"] }}\n{% endfor %}',
  '{% for x in xs if x is odd %}{{ x }}{% endfor %}', '{% for x in range(3) %}{{ x }}{% endfor %}',
  '{% for x in xs %}{{ x }}{% else %}e{% endfor %}', '{% for x in xs|reverse %}{{ x }}{% endfor %}')
# set, scopes
t('{% set x = 1 %}{{ x }}', '{% set x = a + 1 %}{% set x = x * 2 %}{{ x }}', '{% set x, y = 1, 2 %}{{ x }}{{ y }}',
  '{% set x, y = pairs[0] %}{{ x }}{{ y }}', '{% set x = 1, 2 %}{{ x }}',
  '{% if yes %}{% set x = 5 %}{% endif %}{{ x }}', '{% for i in xs %}{% set x = i %}{% endfor %}[{{ x }}]',
  '{% set x = 0 %}{% for i in xs %}{% set x = x + i %}{{ x }}{% endfor %}[{{ x }}]',
  '{% set ns = namespace(x=0, y="s") %}{% for i in xs %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}{{ ns.y }}',
  '{% set ns = namespace() %}{% set ns.z = 3 %}{{ ns.z }}{{ ns.q is defined }}',
  '{% set x %}a{{ a }}b{% endset %}[{{ x }}]', '{% set x | upper %}a{{ s }}b{% endset %}[{{ x }}]',
  '{% set x | upper | replace("T", "") %}{{ s }}{% endset %}{{ x }}', '{% set x %}{% set y = 1 %}{% endset %}[{{ y }}]',
  '{% set a = 9 %}{{ a }}', '{% for a in xs %}{{ a }}{% endfor %}{{ a }}', '{% set x = zz %}{{ x is defined }}',
  '{% with p = 1, q = a %}{{ p }}{{ q }}{% endwith %}[{{ p }}]', '{% with %}{% set w = 1 %}{{ w }}{% endwith %}[{{ w }}]',
  '{% set x = [] %}{% set x = x + [1] %}{% set x = x + [2] %}{{ x }}', '{% filter upper %}a{{ s }}{% endfilter %}',
  '{% filter upper|replace("E", "3") %}{{ s }}{% endfilter %}', '{% do [1, 2] %}x',
  '{% for x in xs %}{% set last = loop.last %}{% if last %}end{% endif %}{% endfor %}',
  '{% for i in xs %}{% if i == 1 %}{% set x = "one" %}{% else %}{% set x = "more" %}{% endif %}{{ x }} {% endfor %}')
# macros
t('{% macro m(x, y=2) %}[{{ x }}{{ y }}]{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(y=4, x=5) }}{{ m() }}',
  '{% macro m(x, y=x) %}{{ x }}{{ y }}{% endmacro %}{{ m(1) }}', '{% macro m() %}{{ a }}{% endmacro %}{% for a in xs %}{{ m() }}{% endfor %}',
  '{% macro m() %}{{ q }}{% endmacro %}{% set q = 7 %}{{ m() }}', '{% macro m() %}{% set q = 7 %}{% endmacro %}{{ m() }}[{{ q }}]',
  '{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, k=3) }}', '{% macro m(x) %}{{ x }}{{ varargs|length }}{% endmacro %}{{ m(1, 2, 3) }}',
  '{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(4) }}',
  '{% macro m(x) %}<{{ caller() }}{{ x }}>{% endmacro %}{% call m(1) %}body{{ a }}{% endcall %}',
  '{% macro m() %}{% for x in xs %}{{ caller(x) }}{% endfor %}{% endmacro %}{% call(v) m() %}({{ v }}){% endcall %}',
  '{% macro m(x) %}{{ x }}{% endmacro %}{{ m(s)|upper }}{{ m(s) ~ "!" }}{{ m("")|length }}',
  '{% set x = 1 %}{% macro m() %}{{ x }}{% set x = 2 %}{{ x }}{% endmacro %}{{ m() }}{{ x }}',
  '{%- macro m(t, n=1) -%}\n  {%- if t %}{{ t }}{{ n }}{% endif -%}\n{%- endmacro -%}\n{{ m("k") }}', '{% macro m(x=none) %}{{ x is none }}{% endmacro %}{{ m() }}')
# whitespace
t('a\n{% if yes %}\nb\n{% endif %}\nc\n', '  {% if yes %}\n  b\n  {% endif %}\n  c', 'a {%- if yes %} b {% endif -%} c',
  'a\n\n  {{- a }}\n b', 'a {{ a -}}  \n\n  b', ' x  {% if yes %}y{% endif %}  \n', '\t{%+ if yes %}x{% endif %}',
  '{% if yes +%}\nx{% endif %}', '{# c #}\nx', 'x\n  {# c #}\ny', 'a {#- c -#} b', 'a\n{#+ c +#}\nb', '{{ a }}\n{{ b }}\n', '{{ a }}\n\n',
  '{{ a }} {% if yes %}x{% endif %}', '{{ a }}\n   {% if yes %}x{% endif %}', '{% if yes %}\n   {% if yes %}x{% endif %}{% endif %}', 'a\r\nb\rc\r\n{% if yes %}\r\nd{% endif %}',
  '{% raw %}{{ x }}{% if %}{% endraw %}', 'a  {%- raw -%}  b  {%- endraw -%}  c', '{% raw %}\nx\n  {% endraw %}\ny', '{%raw%}{{{%endraw%}', '{%- set x = 1 -%}\n\n  {{ x }}',
  '{% for x in xs -%}\n  {{ x }}\n{%- endfor %}', '{% for x in xs %}\n    {{ x }}\n{% endfor %}\n', '\n\n{% if yes %}x{% endif %}', '{{ "{{" }}{{ "}}" }}{{ "{%" }}', "{{ {'a': {'b': 1}} }}", '{{ {"a":1}["a"]}}',
  'a { b } c {', '{{a}}{{b}}', '{%if yes%}x{%endif%}', '{{\n\n a\n\n}}', '{% set x = [\n 1,\n 2\n] %}\n{{ x }}', '', '\n', 'x', '{##}', '{#-#}x', '{% if yes %}   \nx{% endif %}', '  {%- if yes %}  x{% endif %}',
  '   {{ a }}', '{{ a }}   \n', '{%- if yes -%} x {%- endif -%}\n', ' {#- c #}\n x', '{% if yes %}{# c #}\n{% endif %}x', '{# a\nb #}\n  {% if yes %}x{% endif %}')
# generation
t('{% generation %}x{{ a }}{% endgeneration %}y', 'a\n  {% generation %}\n  b\n  {% endgeneration %}\nc', '{%- generation -%} x {%- endgeneration -%} y')
# chat
t("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
  "{%- if messages[0]['role'] == 'system' %}\n    {%- set system = messages[0]['content'] | trim %}\n    {%- set rest = messages[1:] %}\n{%- else %}\n    {%- set rest = messages %}\n{%- endif %}\n{{- '[' + system + ']' }}\n{%- for m in rest %}\n    {%- if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}\n        {{- 'bad' }}\n    {%- endif %}\n    {{- m.role ~ ': ' ~ m.content ~ '\\n' }}\n{%- endfor %}\n",
  "{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}{%- for message in messages[::-1] %}{%- set index = (messages|length - 1) - loop.index0 %}{%- if ns.multi_step_tool and message.role == 'user' %}{%- set ns.multi_step_tool = false %}{%- set ns.last_query_index = index %}{%- endif %}{%- endfor %}{{ ns.last_query_index }}",
  "{{ nil|selectattr('x')|list }}{{ zz|map('upper')|list }}{{ nil|reject('none')|list|length }}",
  "{{ '<|image_' ~ a ~ '|>' }}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ messages|map(attribute='role')|join(',') }}")

# what is refused: "syntax" while compiling, "runtime" while rendering
ERRORS = [
    '{% if %}', '{% if a %}', 'x\n{% for x in xs %}', '{% endif %}', '{{ a', '{{ a }', '{% if a', '{{ (a }}', '{{ [a) }}', '{{ a b }}', '{{ }}', '{{ a | }}', '{{ a is }}', '{{ 1 + }}', '{{ "a }}',
    '\n\n{% unknown %}', '{# a', '{% raw %}x', '{% set 1 = 2 %}', '{% set x %}', '{% for x xs %}{% endfor %}', '{% break %}', '{% for x in xs %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}', '{{ x|nosuch }}', '{{ x is nosuch }}',
    '{% macro %}{% endmacro %}', '{% call x %}{% endcall %}', '{% else %}', '{% if a %}{% else %}{% else %}{% endif %}', '{{ a.}}', '{{ a[ }}', '{{ f(a=1, 2) }}', '{{ $ }}', '{{ a; b }}', '{% set true = 1 %}', '{% set loop = 1 %}{% for loop in xs %}{% endfor %}', '{% if a %}\n{% endfor %}', '{{ {1} }}', '{{ a! }}', '{{ not }}',
    '\n{{ zz.x }}', '{{ zz() }}', '{{ zz.x.y }}', '{{ d.zz.y }}', '{{ d.nosuch() }}', '{{ a() }}', '\n\n{{ 1 + "a" }}', '{{ 1 // 0 }}', '{% for a, b in xs %}{% endfor %}', '{% for a in 5 %}{% endfor %}', '{% set x = 1 %}{% set x.y = 2 %}', '{% set x, y = [1] %}', '{% macro m() %}{% endmacro %}{{ m(1) }}',
    '{% macro m() %}{% endmacro %}{{ m(k=1) }}', '{% macro m(x) %}{% endmacro %}{{ m(1, x=2) }}', '{{ -s }}', '{{ {[]: 1} }}', '{% for x in nil %}{% endfor %}', '{{ zz[0] }}', '{{ 1 < "a" }}', '{{ zz + 1 }}',
]


class Generation(jinja2.ext.Extension):
    tags = {'generation'}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(['name:endgeneration'],
                                       drop_needle=True)


env = jinja2.sandbox.ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True,
    extensions=[Generation, jinja2.ext.loopcontrols, jinja2.ext.do])
cases = []
for s in T:
    try:
        want = env.from_string(s).render(**VARS)
    except Exception as e:
        sys.exit('%s\n%s' % (s, e))
    cases.append({'template': s, 'want': want})
for s in ERRORS:
    try:
        compiled = env.from_string(s)
    except jinja2.TemplateSyntaxError as e:
        cases.append({'template': s, 'syntax': e.lineno})
        continue
    except SyntaxError:  # of the Python it makes: break outside of a loop
        cases.append({'template': s, 'syntax': 1})
        continue
    try:
        compiled.render(**VARS)
        sys.exit('no error: ' + s)
    except Exception:
        cases.append({'template': s, 'runtime': True})
out = {'oracle': 'Jinja2 ' + jinja2.__version__ + ', ImmutableSandboxed'
       'Environment(trim_blocks, lstrip_blocks, loopcontrols, do)',
       'vars': VARS, 'cases': cases}
with open(sys.argv[1], 'w') as f:
    f.write('{"oracle": %s,\n"vars": %s,\n"cases": [\n' %
            (json.dumps(out['oracle']), json.dumps(VARS)))
    f.write(',\n'.join(json.dumps(c, ensure_ascii=False) for c in cases))
    f.write('\n]}\n')
