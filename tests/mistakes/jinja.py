# SPDX-License-Identifier: Apache-2.0
"""Mistakes of Jinja."""

from mistakes import Mistake

NOP = "a:\n  test.nop: []\n"

MISTAKES = [
    Mistake(
        "template of Go",
        "a:\n  cmd.run:\n    - name: docker ps --format '«{{.Names}}'\n",
        "unexpected '.'",
        "put what another program reads between `{% raw %}`",
    ),
    Mistake(
        "function of a template of Go",
        "a:\n  cmd.run:\n    - name: docker inspect --format '{{«json .State}}'\n",
        "'json' is undefined",
        "put what another program reads between `{% raw %}`",
    ),
    Mistake(
        "key with a hyphen behind a point",
        "{% set of = {'my-key': 1} %}\na:\n  test.nop:\n    - name: {{ of.«my-key }}\n",
        "no attribute 'my'",
        r"write `of\['my-key'\]`",
    ),
    Mistake(
        "variable that no one set",
        "a:\n  test.nop:\n    - name: {{ «colour }}\n",
        "colour",
        "default|set",
    ),
    Mistake(
        "variable that a turn of a loop sets for the next one",
        "{% for i in [1, 2] %}\na{{ i }}:\n  test.nop:\n    - name: {{ «last }}\n{% set last = i %}\n"
        "{% endfor %}\n",
        "last",
        r"line 5 sets it in a loop.*namespace\(last=",
    ),
    Mistake(
        "variable that is set in a branch that is not taken",
        "{% if grains.none is defined %}{% set port = 1 %}{% endif %}\n"
        "a:\n  test.nop:\n    - name: {{ «port }}\n",
        "port",
        "line 1 sets it in a branch",
    ),
    Mistake(
        "variable that is set too late",
        "a:\n  test.nop:\n    - name: {{ «port }}\n{% set port = 1 %}\n",
        "port",
        "line 4 .* too late",
    ),
    Mistake(
        "variable of a macro",
        "{% macro m() %}{% set port = 1 %}{% endmacro %}\n"
        "a:\n  test.nop:\n    - name: {{ «port }}{{ m() }}\n",
        "port",
        "line 1 .* macro",
    ),
    Mistake(
        "variable that is not handed over by an import",
        {
            "web.sls": "{% set two = 2 %}\n{% from 'm.jinja' import m %}\n"
            "a:\n  test.nop:\n    - name: {{ m() }}\n",
            "m.jinja": "{% macro m() %}{{ «two }}{% endmacro %}",
        },
        "two",
        "`with context`.*web.sls sets it",
    ),
    Mistake(
        "grain without its mapping",
        "a:\n  test.nop:\n    - name: {{ «site }}\n",
        "site",
        r"did you mean `grains\['site'\]`",
        config={"grains": {"site": "x"}},
    ),
    Mistake(
        "key of a number",
        "a:\n  test.nop:\n    - name: {{ opts.port.«x }}\n",
        "no attribute 'x'",
        "it is the value 5, and no mapping",
        config={"port": 5},
        column=False,
    ),
    Mistake(
        "names for the parts of a number",
        "«{% for k, v in [1, 2] %}\na: test.nop\n{% endfor %}\n",
        "unpack",
        "as many parts",
    ),
    Mistake(
        "call that is a tag",
        "{% set l = [] %}\n«{% l.append(1) %}\na: test.nop\n",
        "unknown tag",
        r"{% do l.append\(1\) %}",
    ),
    Mistake(
        "template of a folder whose block is not closed",
        {
            "web.sls": "/etc/x:\n  file.recurse:\n    - source: salt://x\n    - template: jinja\n",
            "x/y.conf": "«{% if true %}\n",
        },
        "not closed",
        "{% endif %}",
        check_only=True,
    ),
    Mistake(
        "variable misspelt",
        "{% set colour = 1 %}\na:\n  test.nop:\n    - name: {{ «color }}\n",
        "color",
        "colour",
    ),
    Mistake(
        "attribute that does not exist",
        "{% set x = {'port': 1} %}\na:\n  test.nop:\n    - name: {{ x.«prot }}\n",
        "prot",
        "port",
    ),
    Mistake(
        "key of a pillar that is not there",
        "{% set cfg = salt['pillar.get']('nginx') %}\na:\n  test.nop:\n    - name: {{ cfg.«port }}\n",
        "'cfg' has no attribute 'port'",
        "empty text that pillar.get returns where there is nothing; add `, {}`",
    ),
    Mistake(
        "element of a grain that is not there",
        "a:\n  test.nop:\n    - name: {{ salt['grains.get']('ip4_interfaces:none')[«0] }}\n",
        "has no element 0",
        "that grains.get returns where there is nothing; add `, \\[\\]`",
    ),
    Mistake(
        "value that JSON has not",
        {
            "web.sls": "{% import_yaml 'd.yaml' as d %}\na:\n  test.nop:\n    - name: «{{ d|tojson }}",
            "d.yaml": "a: !!binary aGVsbG8=\n",
        },
        "bytes is not JSON serializable",
        "text of one of the values",
    ),
    Mistake(
        "key of a list",
        "{% set cfg = [{'port': 1}] %}\na:\n  test.nop:\n    - name: {{ cfg.«port }}\n",
        "has no attribute 'port'",
        "it is a list",
    ),
    Mistake(
        "length of a shell's variable",
        "a:\n  cmd.run:\n    - name: echo $«{#list[@]}\n",
        "comment",
        "raw",
    ),
    Mistake(
        "variable misspelt as its argument is called",
        "{% set user = 1 %}\na:\n  test.nop:\n    - usr: {{ «usr }}\n",
        "usr",
        "user",
    ),
    Mistake(
        "variable that no one set, used further down",
        "{% set x = «colour %}\na:\n  test.nop:\n    - name: {{ x }}\n",
        "colour",
        "default|set",
        also=("web.sls:4",),
    ),
    Mistake(
        "attribute looked up over several lines, shown in a list",
        "{% set d = {} %}\n{% set x = [\n  d.«port,\n] %}\n{% if grains.get('port')[0] is defined %}{% endif %}\n"
        "a:\n  test.nop:\n    - name: {{ x }}\n",
        "'d' has no attribute 'port'",
        "get",
        also=("web.sls:8",),
    ),
    Mistake(
        "element of an empty list that another file looked up",
        {
            "web.sls": "{% set a = ['x'][0] %}\n{% from 'map.jinja' import map %}\na:\n  test.nop:\n    - name: {{ map.ip }}\n",
            "map.jinja": "{% set found = [] %}\n{% set map = {'ip': found[«0]} %}\n",
        },
        "'found' has no element 0",
        "empty",
        also=("web.sls:5",),
    ),
    Mistake(
        "first of nothing, used further down",
        "«{% set x = [] | first %}\na:\n  test.nop:\n    - name: {{ x }}\n",
        "[Nn]o first item",
        "default",
        also=("web.sls:4",),
    ),
    Mistake(
        "macro without an argument that it uses",
        "{% macro m(x) %}\n  test.nop:\n    - name: «{{ x }}\n{% endmacro %}\na:\n{{ m() }}\n",
        "parameter 'x'",
        "macro",
        column=False,
        also=("web.sls:6",),
    ),
    Mistake(
        "attribute of a mapping set",
        "{% for x in [{}] %}\n\n«{% set x.b = 1 %}\n{% endfor %}\n" + NOP,
        "set|assign",
        "update",
    ),
    Mistake("endif missing", "«{% if True %}\na:\n  test.nop: []\n", "if", "endif"),
    Mistake(
        "endfor missing",
        "a:\n  test.nop: []\n«{% for x in [1] %}\nb{{ x }}:\n  test.nop: []\n",
        "for",
        "endfor",
    ),
    Mistake("endmacro missing", "«{% macro m() %}\n" + NOP, "macro", "endmacro"),
    Mistake(
        "endif where endfor belongs",
        "{% for x in [1] %}\na:\n  test.nop: []\n«{% endif %}\n",
        "endif",
        "endfor",
    ),
    Mistake("endfor too many", NOP + "«{% endfor %}\n", "endfor", "for"),
    Mistake("else without if", "a:\n  test.nop: []\n«{% else %}\n", "else", "if"),
    Mistake("elseif", "{% if 0 %}\n«{% elseif 1 %}\n{% endif %}\n" + NOP, "elseif", "elif"),
    Mistake("else if", "{% if 0 %}\n«{% else if 1 %}\n{% endif %}\n" + NOP, "else", "elif"),
    Mistake("tag misspelt", "«{% fro x in [1] %}\n{% endfor %}\n" + NOP, "fro", "for"),
    Mistake(
        "function of Python's",
        "a:\n  test.nop:\n    - name: {{ «int('3') }}\n",
        "'int' is undefined",
        "`VALUE \\| int`",
    ),
    Mistake(
        "include without quotes",
        "{% include «server.x %}\n" + NOP,
        "'server' is undefined",
        "name of the template in quotes",
    ),
    Mistake(
        "error of the template's own, below an empty line",
        "«{{ raise('\\n>>> no disks') }}\n",
        "^>>> no disks$",
        "the template itself raises this",
    ),
    Mistake(
        "answer of a server that cannot be reached",
        "a:\n  test.nop:\n    - name: {{ {'error': 'Connection\\n refused'}.«dict }}\n",
        "no attribute 'dict'",
        "it says: Connection refused",
    ),
    Mistake(
        "argument that a filter block has written",
        "a:\n  test.nop:\n«{%- filter indent %}{% for k in ['nmae'] %}\n- {{ k }}: x\n{%- endfor %}{% endfilter %}\n",
        "no argument 'nmae'",
        "'name'",
        check_only=True,
        column=False,
    ),
    Mistake("filter misspelt", "a:\n  test.nop:\n    - name: {{ 'x' | «uper }}\n", "uper", "upper"),
    Mistake(
        "filter that is nowhere",
        "a:\n  test.nop:\n    - name: {{ 'x' | «zzqq }}\n",
        "zzqq",
        "filter",
    ),
    Mistake("test misspelt", "{% if x is «defnied %}{% endif %}\n" + NOP, "defnied", "defined"),
    Mistake(
        "expression not closed", "a:\n  test.nop:\n    - name: «{{ grains.id }\n", r"\}", r"\}\}"
    ),
    Mistake(
        "expression never closed",
        "a:\n  test.nop:\n    - name: «{{ grains.id\n    - x: y\n",
        r"\{\{|\}\}",
        r"\}\}",
    ),
    Mistake("block not closed", "«{% if True }\n{% endif %}\n" + NOP, r"%\}|\}", r"%\}"),
    Mistake("comment not closed", "a:\n  test.nop: []\n«{# hello\n", "comment", r"#\}"),
    Mistake(
        "quote not closed in an expression",
        "a:\n  test.nop:\n    - name: {{ «'x }}\n",
        "quote|'",
        "quote",
    ),
    Mistake(
        "bracket not closed in an expression",
        "a:\n  test.nop:\n    - name: «{{ grains['id' }}\n",
        r"\]|\}",
        r"\]|bracket",
    ),
    Mistake("set without a value", "«{% set x %}\n" + NOP, "set|endset", "=|endset"),
    Mistake(
        "equals sign in a condition", "{% if grains.id «= 'x' %}\n{% endif %}\n" + NOP, "=", "=="
    ),
    Mistake("and as in C", "{% if 1 «&& 0 %}\n{% endif %}\n" + NOP, "&", "and"),
    Mistake("not as in C", "{% if «!x %}\n{% endif %}\n" + NOP, "!", "not"),
    Mistake(
        "plus of text and number", "a:\n  test.nop:\n    - name: «{{ 'x' + 1 }}\n", "str|text", "~"
    ),
    Mistake(
        "division by zero", "a:\n  test.nop:\n    - name: «{{ 1 / 0 }}\n", "zero", "value|zero"
    ),
    Mistake("macro that is not imported", NOP + "{{ «user('x') }}\n", "user", "import"),
    Mistake(
        "import of a template that does not exist",
        "«{% from 'lib/mapp.jinja' import x %}\n" + NOP,
        "lib/mapp.jinja",
        "roots|root",
    ),
    Mistake(
        "import misspelt",
        {"web.sls": "«{% from 'map.jinj' import x %}\n" + NOP, "map.jinja": "{% set x = 1 %}"},
        "map.jinj",
        "map.jinja",
        column=False,
    ),
    Mistake(
        "import of a name that does not exist",
        {
            "web.sls": "{% from 'map.jinja' import «ngnix %}\na:\n  test.nop:\n    - name: {{ ngnix }}\n",
            "map.jinja": "{% set nginx = 1 %}",
        },
        "ngnix",
        "nginx",
        column=False,
    ),
    Mistake(
        "include of a template that does not exist",
        NOP + "«{% include 'part.sls' %}\n",
        "part.sls",
        "root",
    ),
    Mistake(
        "error in a macro called from another file",
        {
            "web.sls": "{% import 'lib.jinja' as lib %}\n\n{{ lib.user('bob') }}\n",
            "lib.jinja": "{% macro user(name) %}\n{{ name }}:\n  test.nop:\n    - name: {{ «nmae }}\n{% endmacro %}\n",
        },
        "nmae",
        "name|default",
        also=("web.sls:3",),
        column=False,
    ),
    Mistake(
        "YAML mistake in a macro called from another file",
        {
            "web.sls": "{% import 'lib.jinja' as lib %}\n\n{{ lib.user('bob') }}\n",
            "lib.jinja": "{% macro user(name) %}\n{{ name }}:\n  user.present:\n    - «shel: /bin/{{ name }}\n{% endmacro %}\n",
        },
        "shel",
        "shell",
        also=("web.sls:3", "/bin/bob"),
        check_only=True,
    ),
    Mistake(
        "mistake in a loop",
        "{% for port in [80, 'x'] %}\nrule {{ port }}:\n  test.configurable_test_state:\n    - result: true\n    - changes: «{{ port + 1 }}\n{% endfor %}\n",
        "str|text",
        "~|int",
        also=("port = 'x'",),
        column=False,
    ),
    Mistake(
        "argument mistake in a loop",
        "{% for name in ['x', 'y'] %}\n/{{ name }}:\n  file.managed:\n    - «mode: r{{ name }}\n{% endfor %}\n",
        "rx",
        "0644",
        also=("rendered: - mode: rx",),
    ),
    Mistake(
        "YAML mistake out of a value",
        "{% set title = 'a: b' %}\na:\n  cmd.run:\n    - name: echo «{{ title }}\n",
        ": |colon",
        "quote",
        also=("rendered: - name: echo a: b",),
        column=False,
    ),
    Mistake(
        "mistake in an included template",
        {
            "web.sls": "a:\n  test.nop: []\n{% include 'part.jinja' %}\n",
            "part.jinja": "b:\n  test.«nopp: []\n".replace("test.«nopp", "«test.nopp"),
        },
        "test.nopp",
        "test.nop",
        also=("web.sls:3",),
    ),
    Mistake(
        "raise()",
        "{% if True %}\n«{{ raise('no such thing: x') }}\n{% endif %}\n" + NOP,
        "no such thing",
        "raise",
    ),
    Mistake(
        "execution function misspelt",
        "a:\n  test.nop:\n    - name: {{ salt['«cmd.runn']('true') }}\n",
        "cmd.runn",
        "cmd.run",
    ),
    Mistake(
        "execution module that does not exist",
        "a:\n  test.nop:\n    - name: {{ salt['«zzqq.get']('x') }}\n",
        "zzqq.get",
        "_modules|runner doc",
    ),
    Mistake(
        "execution function by attribute",
        "a:\n  test.nop:\n    - name: «{{ salt.pilar.get('x') }}\n",
        "pilar.get",
        "pillar.get",
    ),
    Mistake(
        "too few arguments of a function",
        "a:\n  test.nop:\n    - name: «{{ salt['pkg.version_cmp']('1') }}\n",
        "version_cmp.*(ver2|pkg2|argument)",
        "takes|version_cmp",
    ),
    Mistake(
        "unknown argument of a function",
        "a:\n  test.nop:\n    - name: «{{ salt['file.file_exists'](pth='/x') }}\n",
        "pth",
        "path",
    ),
    Mistake(
        "pillar key missing",
        {
            "web.sls": "a:\n  test.nop:\n    - name: {{ pillar['«prot'] }}\n",
            "pillar/top.sls": "base:\n  '*': [x]\n",
            "pillar/x.sls": "port: 80\n",
        },
        "pillar.*prot|prot.*pillar",
        "port",
    ),
    Mistake(
        "pillar key missing inside",
        {
            "web.sls": "a:\n  test.nop:\n    - name: {{ pillar.web.«prot }}\n",
            "pillar/top.sls": "base:\n  '*': [x]\n",
            "pillar/x.sls": "web: {port: 80}\n",
        },
        "prot",
        "port",
    ),
    Mistake(
        "grain missing",
        "a:\n  test.nop:\n    - name: {{ grains['«os_familly'] }}\n",
        "grain.*os_familly|os_familly.*grain",
        "os_family",
    ),
    Mistake(
        "loop over nothing that can be looped over",
        "«{% for x in 7 %}\n{% endfor %}\n" + NOP,
        "int|number",
        "list",
    ),
    Mistake(
        "loop over a missing pillar list",
        "{% for x in pillar['«users'] %}\n{% endfor %}\n" + NOP,
        "users",
        r"pillar.get|default",
    ),
    Mistake(
        "macro with too many arguments",
        "{% macro m(a) %}{{ a }}{% endmacro %}\nx«{{ m(1, 2) }}:\n  test.nop: []\n",
        "m",
        "argument|a",
    ),
    Mistake(
        "import_yaml of broken YAML",
        {"web.sls": "{% import_yaml 'x.yaml' as x %}\n" + NOP, "x.yaml": "a: b\n«\tc: d\n"},
        "tab",
        "spaces",
        also=("web.sls:1",),
    ),
    Mistake(
        "load_yaml of broken YAML",
        "{% load_yaml as x %}\na: «[1\n{% endload %}\n" + NOP,
        r"\[|bracket",
        r"\]",
    ),
    Mistake(
        "import_json of broken JSON",
        {"web.sls": "{% import_json 'x.json' as x %}\n" + NOP, "x.json": '{"a": 1«,\n}\n'},
        "JSON",
        "comma|JSON|quote",
        also=("web.sls:1",),
    ),
    Mistake(
        "name of a built-in",
        "a:\n  test.nop:\n    - name: {{ none.«x }}\n",
        "none|None",
        "value|default",
    ),
    Mistake("break outside of a loop", "«{% break %}\n" + NOP, "break", "for"),
    Mistake(
        "block nested in an expression",
        "a:\n  test.nop:\n    - name: «{{ {% if 1 %}x{% endif %} }}\n",
        "%",
        "if",
    ),
    Mistake(
        "map that has no entry for this system",
        {
            "web.sls": "{% set m = salt['grains.filter_by']({'Gentoo': {'p': 1}}, grain='os_family') %}\na:\n  test.nop:\n    - name: {{ m.«p }}\n"
        },
        "None|m",
        "default|filter_by",
    ),
    Mistake(
        "filter of Jinja's with a value of another kind",
        "{% set a = 5 %}\na:\n  test.nop:\n    - name: «{{ a | wordwrap }}\n",
        "the filter wordwrap",
        r"given: 5 \| wordwrap",
    ),
    Mistake(
        "filter of Salt's with an argument that is none",
        {
            "web.sls": "{% from 'map.jinja' import m with context %}\n" + NOP,
            "map.jinja": "{% set p = none %}\n{% set m = «'x' | regex_match(p) %}\n",
        },
        "the filter regex_match",
        r"given: 'x' \| regex_match\(rgx=none\)",
        also=("web.sls:1",),
        column=False,
    ),
    Mistake(
        "filter with too many arguments",
        "a:\n  test.nop:\n    - name: «{{ 'x' | length(1) }}\n",
        "the filter length takes",
        r"takes: length\(obj",
    ),
    Mistake(
        "execution function with a value that it cannot work with",
        {
            "web.sls": "{% from 'lib.jinja' import m with context %}\n"
            + NOP
            + "b:\n  test.nop:\n    - name: {{ m('x') }}\n",
            "lib.jinja": "{% macro m(a) -%}\n«{{ salt['network.calc_net'](a) }}\n{%- endmacro %}\n",
        },
        "network.calc_net.*ValueError",
        r"given: network.calc_net\('x'\)",
        also=("web.sls:6",),
    ),
    Mistake(
        "execution function that changes the machine, called while rendering",
        "a:\n  test.nop:\n    - name: «{{ salt['file.touch']('/nonexistent/x') }}\n",
        "file.touch changes the machine",
        "module.run.*file.touch",
    ),
    Mistake(
        "execution function that refuses what it was given",
        "a:\n  test.nop:\n    - name: «{{ salt.file.readlink('x') }}\n",
        "file.readlink: .*link",
        r"given: file.readlink\('x'\)",
    ),
    Mistake(
        "run of other states within a template",
        "a:\n  test.nop:\n    - name: {{ salt['«state.apply']('db') }}\n",
        "state.apply",
        "include:",
    ),
    Mistake(
        "argument of a macro twice",
        NOP + "{% macro m(a, a) %}{% endmacro %}\n".replace("{%", "«{%", 1),
        "'a' appears twice",
        "remove one",
        column=False,
    ),
    Mistake(
        "macro without its argument",
        "{% macro m(a) %}«{{ a }}{% endmacro %}\nx{{ m() }}: test.nop\n",
        "'a' was not provided",
        "give it",
        column=False,
    ),
    Mistake(
        "function of a template without its argument",
        "«{{ raise() }}\n" + NOP,
        "raise missing 1",
        "takes: raise.message",
    ),
    Mistake(
        "functions called as one",
        "a{{ «salt() }}: test.nop\n".replace("{{ «", "«{{ "),
        "not callable",
        "look at its name",
    ),
    Mistake(
        "loop outside of one",
        "a{{ «loop.index }}: test.nop\n",
        "'loop' is undefined",
        "within a .{% for",
    ),
    Mistake(
        "pairs of ifelse that are none", "a«{{ ifelse('a', 1) }}: test.nop\n", "odd number", "pairs"
    ),
    Mistake(
        "what no template may reach", "a«{{ ''.__class__ }}: test.nop\n", "unsafe", "underscore"
    ),
    Mistake(
        "pillar.get of none",
        "{% set key = none %}\na«{{ salt['pillar.get'](key) }}: test.nop\n",
        "a text, not none",
        "give it one",
    ),
    Mistake(
        "sum with a part that is none",
        "«{% set x = 'a' + salt['pillar.get']('x', none) %}\n",
        "NoneType",
        "one of the two is None",
    ),
    Mistake(
        "key that a grain gives",
        "{% set of = {'a': {'b': 1}} %}\n«{% if of['a'][grains['id']].x %}{% endif %}\n",
        "variable 'of\\['a'\\]' has no attribute",
        "it has: b",
        column=False,
    ),
    Mistake(
        "method of a text, of nothing",
        "{% set x = {} %}\n«{{ x.get('body').strip() }}\n",
        "is none",
        r"`x.get\('body', ''\)`",
        column=False,
    ),
    Mistake(
        "SLS of a reactor",
        "a:\n  test.nop:\n    - name: {{ «data['id'] }}\n",
        "'data' is undefined",
        "in the SLS of a reactor a Salt master gives it",
    ),
]
