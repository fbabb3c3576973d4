# SPDX-License-Identifier: Apache-2.0
"""More mistakes, as they came up in trials."""

from mistakes import Mistake

MISTAKES = [
    Mistake(
        "manifest of Puppet",
        "«package { 'vim':\n  ensure => installed,\n}\n",
        "is no YAML",
        "that is Puppet's way: write `vim:` and below it, indented, `pkg.installed: \\[\\]`",
    ),
    Mistake(
        "playbook of Ansible",
        "«- hosts: all\n  tasks:\n    - apt: name=vim\n",
        "to a list",
        "a playbook is Ansible's",
    ),
    Mistake(
        "part of what a loop found to be nothing",
        {
            "web.sls": "{% for name, user in pillar.users.items() %}\n"
            "{{ name }}: {test.nop: [{name: {{ user.«uid }}}]}\n{% endfor %}\n",
            "pillar/top.sls": "base: {'*': [x]}",
            "pillar/x.sls": "users:\n  bob:\n",
        },
        "'user' is none",
        "`\\(user or {}\\)` does without it",
    ),
    Mistake(
        "a handler that is notified beside the function",
        "nginx:\n  pkg.installed: []\n  notify: «restart nginx\n",
        "is not formed as a list, but is a text",
        "`notify` is an argument: indent it and put `- ` before it",
    ),
    Mistake(
        "a resource of Puppet",
        "«package { 'nginx': ensure => installed }\n",
        "is not a dictionary",
        "that is Puppet's way: write `nginx:` and below it, indented, `pkg.installed: \\[\\]`",
    ),
    Mistake(
        "a variable that the template does not use",
        {
            "web.sls": "a:\n  file.managed:\n    - name: /tmp/x\n    - source: salt://x.j2\n    - template: jinja\n"
            "    - host_interface: eth0\n    - «zones: [a]\n",
            "x.j2": "{{ host_interface }}\n",
        },
        "file.managed has no argument 'zones'",
        "the template does not use 'zones' either: remove it",
        check_only=True,
    ),
    Mistake(
        "a top file of another name",
        "base:\n  «'*':\n    - a\n    - b.c\n",
        "'*' in state 'base' in SLS 'web' is a target of a top file, and no state",
        "top.sls, or what `state_top` in the configuration names",
    ),
    Mistake(
        "a top file of another name, for a machine by its ID",
        "base:\n  «web1:\n    - a\n    - b.c\n    - d.e\n",
        "'web1' in state 'base' in SLS 'web' is a target of a top file",
        "`state_top`",
    ),
    Mistake(
        "a top file of another name, by grains",
        "base:\n  «'roles:web':\n    - match: grain\n    - a\n",
        "is a target of a top file",
        "`state_top`",
    ),
    Mistake(
        "a key that a variable of a loop names",
        "{% set parts = {'x': 1} %}\n{% for part in ['server'] %}\n{% if «parts[part] %}\n{% endif %}\n"
        "{% endfor %}\n",
        "Jinja variable 'parts' has no attribute 'server'",
        "`parts.get\\('server', DEFAULT\\)` does without it",
        column=False,
    ),
    Mistake(
        "braces of a variable inside of a tag",
        "{% set file = 'a' %}\n{% import_yaml 'x/'«{{ file }} as data %}\n",
        "`{{ file }}` stands inside of a tag",
        "between {% and %} it is `file` alone; `~` joins it to a text",
    ),
    Mistake(
        "braces of a variable in a condition",
        "{% if «{{ pillar.x }} == 1 %}\na:\n  test.nop: []\n{% endif %}\n",
        "`{{ pillar.x }}` stands inside of a tag",
        "it is `pillar.x` alone",
    ),
    Mistake(
        "one file under two names",
        {
            "web.sls": "include:\n  - bug/bug\n  - bug.other\n",
            "bug/bug.sls": "«bug:\n  test.nop: []\n",
            "bug/other.sls": "include:\n  - .bug\n",
        },
        "Detected conflicting IDs",
        "`bug/bug` and `bug.bug` are one file: call it the same everywhere",
    ),
    Mistake(
        "a mapping as it is, with an apostrophe in it",
        {
            "web.sls": "{% import_yaml 'd.yaml' as d %}\na:\n  test.nop:\n    - ctx: «{{ d }}\n",
            "d.yaml": 'key: "it\'s \\"q\\""\n',
        },
        "the quoted text ends here",
        "{{ d | json }}. is safe whatever the value is",
    ),
    Mistake(
        "a dash without a space below a requisite",
        "b:\n  test.nop: []\na:\n  test.nop:\n    - onchanges:\n      «-test: b\n",
        "Multiple dictionaries defined in argument",
        "a dash needs a space after it: `- test: b`",
    ),
    Mistake(
        "a dash between a module and its function",
        "a:\n  «service-running:\n    - enable: true\n",
        "No function declared in state 'a' in SLS 'web': service-running",
        "write `service.running:`",
    ),
    Mistake(
        "a pattern that no state matches",
        "a:\n  test.nop:\n    - watch:\n      - «file: /etc/apache2/*\n",
        "Referenced state does not exist",
        "no state of this run has an ID or a name that matches the pattern",
    ),
    Mistake(
        "the old name of a file without its slash",
        "a:\n  file.rename:\n    - name: /tmp/b\n    - «source: $HOME/.zshrc\n",
        "neither an absolute path nor the address of a file",
        "write the whole path, from its slash on",
        check_only=True,
    ),
    Mistake(
        "a module of Python 2",
        {"web.sls": "a:\n  test.nop: []\n", "_modules/old.py": "def f():\n    «print 'x'\n"},
        "old.py is not Python: Missing parentheses",
        "Python 2 read this; 3 reads `print",
        names=(),
        check_only=True,
    ),
    Mistake(
        "an exception of Python 2",
        {
            "web.sls": "#!py\ndef run():\n    try:\n        return {}\n    except «KeyError, e:\n        raise\n"
        },
        "web.sls is not Python: multiple exception types must be parenthesized",
        "Python 2 read this",
    ),
    Mistake(
        "an assertion without words",
        {"web.sls": "#!py\ndef run():\n    «assert 'x' in __pillar__\n"},
        "^AssertionError$",
        "the Python code of this file raised it",
        column=False,
    ),
    Mistake(
        "an argument that shares letters with another one and means something else",
        "a:\n  file.managed:\n    - name: /tmp/x\n    - «force: true\n",
        "file.managed has no argument 'force'",
        "lists its arguments",
        check_only=True,
    ),
    Mistake(
        "an SLS whose name shares letters with another one",
        {"web.sls": "include:\n  - «openssh\n", "pen/init.sls": "a:\n  test.nop: []\n"},
        "Specified SLS openssh",
        "looked for openssh.sls and openssh/init.sls",
    ),
    Mistake(
        "a state of a module that shares letters with another one",
        "a:\n  «profile.installed: []\n",
        "State 'profile.installed' was not found",
        "`runner doc` lists all states",
    ),
    Mistake(
        "a script that is not there, beside an SLS of its name",
        {
            "web.sls": "a:\n  file.managed:\n    - name: /tmp/x\n    - «source: salt://data/aliases/core.sh\n",
            "aliases/core.sls": "b:\n  test.nop: []\n",
        },
        "salt://data/aliases/core.sh is not in the tree",
        "looked for",
        check_only=True,
    ),
    Mistake(
        "an import of the pillar that is not there",
        {
            "web.sls": "a:\n  test.nop: []\n",
            "pillar/top.sls": "base:\n  '*': [x]\n",
            "pillar/x.sls": "«{% import_yaml 'network.yaml' as network %}\n",
        },
        "the template network.yaml does not exist",
        "its path begins at /\\S+/pillar$",
    ),
    Mistake(
        "chain with what nothing is like",
        "a:\n  test.nop: []\nchain:\n  - «'test: a -> test: nginx'\n",
        "matches nothing",
        "no state of this run has this ID or name",
    ),
    Mistake(
        "a method of Python 2",
        "{% for a in «{}.iteritems() %}\n{% endfor %}\n",
        "has no attribute 'iteritems'",
        "did you mean 'items'\\?",
        column=False,
    ),
    Mistake(
        "an import of what is set in a block that is not reached",
        {
            "web.sls": "{% from 'map.jinja' import «repo %}\na:\n  test.nop:\n    - name: {{ repo }}\n",
            "map.jinja": "{% if false %}{% set repo = 1 %}{% endif %}\n",
        },
        "does not export the requested name 'repo'",
        "map.jinja sets it in a block that is not reached here",
    ),
    Mistake(
        "an unknown state with an argument that all states have",
        "a:\n  «qvm.vm:\n    - tags: {add: [x]}\n",
        "State 'qvm.vm' was not found",
        "",
    ),
    Mistake(
        "undefined in if",
        {"web.sls": "{% if «my_role == 'db' %}\na:\n  test.nop: []\n{% endif %}\n"},
        "Jinja variable 'my_role' is undefined",
        "set it first \\(`\\{% set my_role = \\.\\.\\. %\\}`\\), or write `my_role",
    ),
    Mistake(
        "jinja unclosed string in set",
        {"web.sls": "{% set x = «'abc %}\na:\n  test.nop: []\n"},
        'Jinja syntax error: unexpected char "\'" at 11',
        "the quote ' is not closed: write ' at the end of the text",
    ),
    Mistake(
        "for without in",
        {"web.sls": "«{% for x [1,2] %}\n{% endfor %}\n"},
        "Jinja syntax error: expected token 'in', got '\\['",
        "write `\\{% for NAME in LIST %\\}`",
    ),
    Mistake(
        "missing % in tag",
        {"web.sls": "«{ if x %}\na:\n  test.nop: []\n{% endif %}\n"},
        "Jinja syntax error: `\\{ if` does not begin a tag",
        "write `\\{% if \\.\\.\\. %\\}`",
    ),
    Mistake(
        "value starts with jinja unquoted",
        {"web.sls": "a:\n  cmd.run:\n    - name: «{{ pillar.get('x','{') }} b\n"},
        "the bracket \\{ is not closed",
        "close it with \\}; `\\{\\{ pillar\\.get\\('x','\\{'\\) \\| yaml_dquote \\}\\}` i",
    ),
    Mistake(
        "multi-line rendered breaks yaml",
        {
            "web.sls": "a:\n  file.managed:\n    - name: /x\n    - contents: «{{ pillar['t'] }}\n",
            "pillar/top.sls": "base: {'*': [x]}",
            "pillar/x.sls": "t: |\n  line: one\n  line: two\n",
        },
        "a second colon with a space after it in one line",
        "the value of .* has several lines; `\\{\\{ pillar\\['t'\\] \\| yaml",
    ),
    Mistake(
        "contents yaml jinja json filter missing",
        {
            "web.sls": "a:\n  file.managed:\n    - name: /x\n    - contents: |\n        a\n      «b\n    - mode: '0644'\n"
        },
        "'b' is not indented, so that it does not belong",
        "indent each line of a text after \\| further than its key",
    ),
    Mistake(
        "file.managed and no content dash mode",
        {
            "web.sls": "/etc/x:\n  file.managed:\n  - source: salt://x\n  - user: root\n «- group: root\n"
        },
        "the indentation \\(1 spaces\\) fits none of the line",
        "put it in the same column as line 4 \\(2 spaces\\)",
    ),
    Mistake(
        "typo in require keyword list",
        {"web.sls": "a:\n  test.nop: []\nb:\n  test.nop:\n    - «reqiure:\n      - test: a\n"},
        "test\\.nop has no argument 'reqiure'",
        "did you mean 'require'\\?",
        check_only=True,
    ),
    Mistake(
        "requires as dict string",
        {"web.sls": "a:\n  test.nop: []\nb:\n  test.nop:\n    - require:\n      - «test a\n"},
        "Referenced state does not exist for requisite \\[r",
        "a colon and a space part the module from the ID: `\\- test: a`",
    ),
    Mistake(
        "require with colon nospace",
        {"web.sls": "a:\n  test.nop: []\nb:\n  test.nop:\n    - require:\n      - «test:a\n"},
        "Referenced state does not exist for requisite \\[r",
        "a colon and a space part the module from the ID: `\\- test: a`",
    ),
    Mistake(
        "pkg.installed misspelled pkgs",
        {"web.sls": "a:\n  pkg.installed:\n    - «packages:\n      - vim\n"},
        "pkg\\.installed has no argument 'packages'",
        "did you mean 'pkgs'\\?",
        check_only=True,
    ),
    Mistake(
        "service enable string",
        {"web.sls": "nginx:\n  service.running:\n    - «enable: Treu\n"},
        "service\\.running: enable: expected true or false,",
        "write `\\- enable: true` or `\\- enable: false`",
    ),
    Mistake(
        "user uid text",
        {"web.sls": "bob:\n  user.present:\n    - «uid: abc\n"},
        "user\\.present: uid: expected a whole number, got",
        "write digits without a unit or a word: `\\- uid: 30`",
    ),
    Mistake(
        "file.symlink no target",
        {"web.sls": "/a:\n  file.symlink:\n    - «taget: /b\n"},
        "file\\.symlink has no argument 'taget'",
        "did you mean 'target'\\?",
        check_only=True,
    ),
    Mistake(
        "missing include dot",
        {"web/init.sls": "include:\n  - «instal\n", "web/install.sls": "a:\n  test.nop: []\n"},
        "Specified SLS instal in saltenv base is not avai",
        "did you mean web\\.install\\?",
    ),
    Mistake(
        "include nested dict two",
        {"web.sls": "include:\n  - «base: x\n    dev: y\n"},
        "The include in SLS web is not a single key dicti",
        "`\\- ENVIRONMENT: NAME` takes one from another environment, `\\-",
    ),
    Mistake(
        "extend wrong shape",
        {
            "web.sls": "include: [b]\nextend:\n  b:\n    test:\n      «name: x\n",
            "b.sls": "b:\n  test.nop: []\n",
        },
        "State 'b' in SLS 'web' is not formed as a list,",
        "put `\\- ` before each argument: `\\- name: x`",
    ),
    Mistake(
        "extend twice same?",
        {
            "web.sls": "include: [b]\nextend:\n  b:\n    test.nop:\n      - «x: y\n",
            "b.sls": "b:\n  test.nop: []\n",
        },
        "test\\.nop has no argument 'x'",
        "its arguments are: name",
        check_only=True,
    ),
    Mistake(
        "exclude dict",
        {"web.sls": "a:\n  test.nop: []\nexclude:\n  «id: a\n"},
        "Exclude Declaration in SLS web is not formed as",
        "write `exclude:` and below it, indented, `\\- sls: NAME` or `\\-",
    ),
    Mistake(
        "top indentation",
        {"top.sls": "base:\n«'*':\n  - web\n", "web.sls": "a:\n  test.nop: []\n"},
        "Malformed top file: saltenv '\\*' is not a mapping",
        "the environment comes first:\\\n    base:\\\n      '\\*':\\\n        \\-",
        names=(),
    ),
    Mistake(
        "top jinja undefined",
        {"top.sls": "base:\n  '{{ «rle }}':\n    - web\n", "web.sls": "a:\n  test.nop: []\n"},
        "Jinja variable 'rle' is undefined",
        "set it first \\(`\\{% set rle = \\.\\.\\. %\\}`\\), or write `rle \\| defaul",
        names=(),
    ),
    Mistake(
        "top star unquoted",
        {"top.sls": "base:\n  «*:\n    - web\n", "web.sls": "a:\n  test.nop: []\n"},
        "what begins with \\* is an alias for YAML, and \\* n",
        "put it in quotes: '\\*'",
        names=(),
    ),
    Mistake(
        "top dup",
        {
            "top.sls": "base:\n  '*':\n    - web\n«base:\n  'x':\n    - web\n",
            "web.sls": "a:\n  test.nop: []\n",
        },
        "found conflicting ID 'base'",
        "the other one is at",
        names=(),
    ),
    Mistake(
        "top nonlist sls",
        {"top.sls": "base:\n  «'*':\n    web: true\n", "web.sls": "a:\n  test.nop: []\n"},
        "Malformed top file: state declarations for match",
        "write\\\n    '\\*':\\\n      \\- name\\-of\\-an\\-sls",
        names=(),
    ),
    Mistake(
        "pillar undefined used in file in subfolder",
        {
            "app/init.sls": "{% set c = pillar['«app'] %}\n/x:\n  file.managed:\n    - contents: {{ c.port }}\n"
        },
        "Jinja variable 'pillar' has no attribute 'app'",
        "it is empty; `pillar\\.get\\('app', DEFAULT\\)` does without i",
        check_only=True,
        names=("app",),
    ),
    Mistake(
        "macro wrong kw",
        {
            "web.sls": "{% from 'm.jinja' import u %}\n«{{ u(nam='x') }}\n",
            "m.jinja": "{% macro u(name) %}\n{{ name }}:\n  user.present: []\n{% endmacro %}\n",
        },
        "Jinja error: TypeError: macro 'u' takes no keywo",
        "it takes: u\\(name\\)",
    ),
    Mistake(
        "dict loop items missing",
        {"web.sls": "«{% for k, v in {'a': 1} %}\n{{ k }}:\n  test.nop: []\n{% endfor %}\n"},
        "Jinja error: ValueError: not enough values to un",
        "loop over `\\.items\\(\\)` of a mapping; each item has to have as",
    ),
    Mistake(
        "element of a short list",
        {"web.sls": "{% set l = ['x'] %}\na:\n  test.nop:\n    - name: {{ l[«1] }}\n"},
        "Jinja variable 'l' has no element 1",
        "it has 1, and the first one is 0",
    ),
    Mistake(
        "element of an empty list",
        {"web.sls": "{% set l = [] %}\na:\n  test.nop:\n    - name: {{ l[«0] }}\n"},
        "Jinja variable 'l' has no element 0",
        "it is empty",
    ),
    Mistake(
        "call method misspelt",
        {"web.sls": "{% for k, v in {'a': 1}.«itms() %}\n{% endfor %}\n"},
        "Jinja variable 'dict object' has no attribute 'i",
        "did you mean 'items'\\?",
    ),
    Mistake(
        "salt function no such module attr",
        {"web.sls": "{% set ip = salt['«network.ip_addr']() %}\na:\n  test.nop: []\n"},
        "'network\\.ip_addr' is not available",
        "did you mean network\\.ip_addrs\\?",
        check_only=True,
    ),
    Mistake(
        "state dot twice",
        {"web.sls": "a:\n  «file.managed.foo:\n    - name: /x\n"},
        "file\\.managed\\.foo in state 'a' in SLS 'web' names",
        "write `file\\.managed:`",
        check_only=True,
    ),
    Mistake(
        "dash before function",
        {"web.sls": "/x:\n  «- file.managed:\n    - mode: '0644'\n"},
        "ID /x in SLS web is not a dictionary, but a list",
        "remove the dash: `file\\.managed:`; only arguments have dashes",
    ),
    Mistake(
        "function below args",
        {"web.sls": "/x:\n  file:\n    - name: /x\n    - «managd\n"},
        "State 'file\\.managd' was not found in SLS 'web'",
        "did you mean file\\.managed\\?",
    ),
    Mistake(
        "quoted key unbalanced",
        {"web.sls": "«'/x:\n  file.managed: []\n"},
        "the quote ' that begins here is not closed",
        "close it at the end: '/x:'",
    ),
    Mistake(
        "windows newlines with tab",
        {"web.sls": "a:\r\n«\ttest.nop: []\r\n"},
        "a tab in the indentation; YAML takes only spaces",
        "replace the tab with spaces, as in the lines around it",
    ),
    Mistake(
        "broken _grains",
        {
            "web.sls": "a:\n  test.nop:\n    - name: {{ grains.get('x', 'y') }}\n",
            "_grains/g.py": "def f(«:\n",
        },
        "g\\.py is not Python: invalid syntax",
        "the run continues without them",
        check_only=True,
    ),
    Mistake(
        "_states wrong indentation",
        {"web.sls": "x:\n  box.made: []\n", "_states/box.py": "def made(name):\n«return {}\n"},
        "box\\.py is not Python: expected an indented block",
        "Python could not go on here; look at this line and at the on",
    ),
    Mistake(
        "retry str",
        {
            "web.sls": "a:\n  cmd.run:\n    - name: x\n    - creates: /y\n    - «retry: {attempts: many}\n"
        },
        "cmd\\.run: retry: attempts cannot be 'many': expected a whole number, and 2",
        "write `\\- retry:` and below it, indented further, `attempts:",
        check_only=True,
    ),
    Mistake(
        "retry interval",
        {
            "web.sls": "a:\n  cmd.run:\n    - name: x\n    - creates: /y\n    - «retry: {interval: 0.1}\n"
        },
        "cmd\\.run: retry: interval cannot be 0\\.1: expected whole seconds, and 30 is used",
        "write `\\- retry:` and below it, indented further, `attempts:",
        check_only=True,
    ),
    Mistake(
        "retry below zero",
        {
            "web.sls": "a:\n  cmd.run:\n    - name: x\n    - creates: /y\n    - «retry: {splay: -1}\n"
        },
        "cmd\\.run: retry: splay cannot be -1: expected whole seconds, and 0",
        "write `\\- retry:` and below it, indented further, `attempts:",
        check_only=True,
    ),
    Mistake(
        "timeout of guards",
        {"web.sls": "a:\n  test.nop:\n    - onlyif: x\n    - «timeout: .nan\n"},
        "test\\.nop: timeout: expected a duration from 0 to",
        "write seconds, without a unit: `\\- timeout: 30`",
    ),
    Mistake(
        "unless dict no list",
        {
            "web.sls": "a:\n  cmd.run:\n    - name: x\n    - «unless: {fun: file.file_exsts, path: /x}\n"
        },
        "cmd\\.run: there is no execution function file\\.fil",
        "did you mean file\\.file_exists\\?",
        check_only=True,
    ),
    Mistake(
        "names with dict args wrong",
        {"web.sls": "a:\n  file.managed:\n    - names:\n      - /x:\n        - mode: «abc\n"},
        "file\\.managed: mode: expected 'keep' or file mode",
        "write the mode in octal digits and in quotes: `\\- mode: '0644",
    ),
    Mistake(
        "listen_in unknown",
        {"web.sls": "a:\n  test.nop:\n    - listen_in:\n      - «service: nginx\n"},
        "Referenced state does not exist for requisite \\[l",
        "no SLS declares it: look at the spelling; it is the ID \\(or t",
    ),
    Mistake(
        "module.run old",
        {"web.sls": "a:\n  «module.run:\n    - name: servce.restart\n    - m_name: x\n"},
        "module\\.run: there is no execution function servc",
        "did you mean service\\.restart\\?",
        check_only=True,
    ),
    Mistake(
        "onchanges typo any",
        {"web.sls": "a:\n  test.nop:\n    - «onchange:\n      - test: b\nb:\n  test.nop: []\n"},
        "test\\.nop has no argument 'onchange'",
        "did you mean 'onchanges'\\?",
        check_only=True,
    ),
    Mistake(
        "mode int 9",
        {"web.sls": "/x:\n  file.directory:\n    - «mode: 999\n"},
        "file\\.directory: mode: 999 is not a file mode; ex",
        "a file mode has up to four digits from 0 to 7: `\\- mode: '064",
    ),
    Mistake(
        "bad archive format",
        {
            "web.sls": "/x:\n  archive.extracted:\n    - source: https://e.com/a.tgz\n    - «skip_verify: yep\n"
        },
        "archive\\.extracted: skip_verify: expected true or",
        "write `\\- skip_verify: true` or `\\- skip_verify: false`",
    ),
    Mistake(
        "git no rev",
        {"web.sls": "x:\n  «git.latest:\n    - name: https://e.com/x.git\n"},
        "git\\.latest: the argument 'target' is missing",
        "add `\\- target: \\.\\.\\.` \\(absolute path\\)",
    ),
    Mistake(
        "jinja in comment yaml",
        {"web.sls": "# {{ «undefined_thing }}\na:\n  test.nop: []\n"},
        "Jinja variable 'undefined_thing' is undefined",
        "set it first \\(`\\{% set undefined_thing = \\.\\.\\. %\\}`\\), or write `",
    ),
    Mistake(
        "python-style None",
        {"web.sls": "a:\n  file.managed:\n    - name: /x\n    - «makedirs: None\n"},
        "file\\.managed: makedirs: expected true or false,",
        "write `\\- makedirs: true` or `\\- makedirs: false`",
    ),
    Mistake(
        "endraw",
        {"web.sls": "«{% raw %}\na:\n  test.nop: []\n"},
        "Jinja syntax error: Missing end of raw directive",
        "write `\\{% endraw %\\}` where it ends",
    ),
    Mistake(
        "extends missing",
        {"web.sls": "«{% extends 'base.j2' %}\n"},
        "the template base\\.j2 does not exist",
        "its path begins at /\\S+/states$",
    ),
    Mistake(
        "import cycle",
        {
            "web.sls": "{% from 'a.jinja' import x %}\na:\n  test.nop: []\n",
            "a.jinja": "«{% from 'a.jinja' import x %}\n{% set x=1 %}",
        },
        "Jinja error: RecursionError: maximum recursion d",
        "templates or macros call each other in a circle: remove one of",
        check_only=True,
    ),
    Mistake(
        "argument twice in one list",
        "/x:\n  file.managed:\n    - mode: '0644'\n    - «mode: '0600'\n",
        "mode is given twice",
        ":3:7",
        check_only=True,
    ),
    Mistake(
        "requisite twice in one list",
        "a: test.nop\nc: test.nop\nb:\n  test.nop:\n    - require: [{test: a}]\n    - «require: [{test: c}]\n",
        "require is given twice",
        ":5:7",
        check_only=True,
    ),
    Mistake(
        "item without a space",
        "a:\n  pkg.installed:\n    - pkgs:\n      «-vim\n      -git\n",
        "dash of '-vim",
        "- vim",
    ),
    Mistake(
        "filter without its bar",
        "a:\n  test.nop:\n    - name: {{ 'x' «default('y') }}\n",
        "default",
        "\\| default",
    ),
    Mistake(
        "bracket too many",
        "a:\n  test.nop:\n    - name: «{{ salt['test.version']()) }}\n",
        "\\)",
        "too many",
    ),
    Mistake("mapping without a colon", "«{% set x = {'a' 1} %}\n", "':'", "'key': value"),
    Mistake(
        "part of nothing",
        "a:\n  test.nop:\n    - name: {{ pillar.get('x').«y }}\n",
        "pillar.get\\('x'\\).*none",
        r"`pillar.get\('x', {}\)`",
    ),
    Mistake(
        "open bracket at the end of the file",
        "a:\n  test.nop: «[\n",
        "the bracket \\[ is not closed",
        "close it with \\]",
    ),
    Mistake(
        "open bracket in an open brace",
        "a: {x: 1, y: «[\n\n",
        "the bracket \\[ is not closed",
        "close it with \\]",
    ),
    Mistake(
        "expression in a comment",
        "# {{ «colour }}\na:\n  test.nop: []\n",
        "Jinja variable 'colour' is undefined",
        "stands behind # too",
    ),
    Mistake(
        "argument that only another one's name has at its end",
        "a:\n  service.running:\n    - «restart: true\n",
        "no argument 'restart'",
        "leave it out: `watch` restarts",
        check_only=True,
    ),
    Mistake(
        "state of Salt's, beside one that is spelt alike",
        "a:\n  «selinux.fcontext_policy_present: []\n",
        "was not found",
        "runner has no selinux.fcontext_policy_present: call semanage with cmd.run",
    ),
    Mistake(
        "former name of a state",
        "a:\n  «dockerng.image_present: []\n",
        "was not found",
        "did you mean docker_image.present",
    ),
    Mistake(
        "requisite of a state that takes any argument",
        "a:\n  pkgrepo.managed:\n    - name: deb http://x y z\n    - «requirein:\n      - pkg: b\n",
        "pkgrepo.managed has no argument 'requirein'",
        "did you mean 'require_in'",
    ),
    Mistake(
        "include by the word of Python",
        "«import:\n  - b\nc:\n  test.nop: []\n",
        "is not an ID with its states",
        "did you mean `include:`",
    ),
    Mistake(
        "path of Windows",
        "a:\n  file.managed:\n    - «name: C:/opt/x\n",
        "not an absolute path",
        "a path of Windows: leave the state out",
    ),
    Mistake(
        "path where a function belongs",
        "a:\n  «/etc/x.conf:\n",
        "short declaration",
        "a function belongs there: `file.managed:` say, with `- name: /etc/x.conf` below",
    ),
    Mistake(
        "text that lies over a mapping",
        "«{% set x = salt['grains.filter_by']({'default': {'y': 1}}, merge='text') %}\n",
        "must be a dictionary",
        "it was given 'text'",
    ),
    Mistake(
        "list that is not indented",
        "a:\n  pkg.installed:\n    - pkgs:\n    - «vim\n    - git\n",
        "vim",
        "list of `pkgs`",
    ),
]
