# SPDX-License-Identifier: Apache-2.0
"""Mistakes in requisites, include, extend, exclude, the top file, the pillar, the configuration, custom modules."""

from mistakes import Mistake

TWO = "a:\n  test.nop: []\nb:\n  test.nop:\n"
TOP = {"pillar/top.sls": "base:\n  '*': [x]\n"}
NOP = "a:\n  test.nop: []\n"

MISTAKES = [
    Mistake(
        "a requisite that has no form for any",
        "a:\n  test.nop:\n    - «prereq_any:\n      - test: b\nb:\n  test.nop: []\n",
        "no argument 'prereq_any'",
        "did you mean 'prereq'",
        check_only=True,
    ),
    Mistake(
        "requisite on an ID that does not exist",
        TWO + "    - require:\n      - «test: aa\n",
        "aa",
        "did you mean.*a",
    ),
    Mistake(
        "requisite on another module",
        TWO + "    - require:\n      - «pkg: a\n",
        "pkg: a",
        "test: a",
    ),
    Mistake(
        "requisite by name misspelt",
        "/etc/nginx/nginx.conf:\n  file.managed: []\nb:\n  test.nop:\n    - require:\n      - «file: /etc/nginx/ngnix.conf\n",
        "ngnix",
        "/etc/nginx/nginx.conf",
    ),
    Mistake(
        "include of a formula that is not there, from a file of its name",
        {"web.sls": "include:\n  - own.redis\n", "own/redis.sls": "include:\n  - «redis\n"},
        "SLS redis",
        "no file has this name: is it of another formula\\?",
    ),
    Mistake(
        "requisite on a function",
        TWO + "    - require:\n      - «test.nop: a\n",
        "test.nop",
        "test: a",
    ),
    Mistake(
        "extend of what the template of the same SLS leaves out",
        "{% if false %}\na:\n  test.nop: []\n{% endif %}\nb:\n  test.nop:\n    - require_in:\n      - «test: a\n",
        "a",
        "web.*in this run, but its template leaves it out",
    ),
    Mistake(
        "include by a path",
        "include:\n  - «./elsewhere\n",
        "not available",
        "`- .elsewhere` is one in the folder",
    ),
    Mistake(
        "requisite on the state itself, by its name",
        "a:\n  service.running:\n    - name: x\n    - require:\n      - «service: x\nx:\n  pkg.installed: []\n",
        "Recursive requisites",
        "this state itself, by its name; `- pkg: x`",
    ),
    Mistake(
        "requisite on an ID that is the name of the state itself",
        "vi:\n  test.nop: []\nvim:\n  test.nop:\n    - name: vi\n    - require:\n      - «test: vi\n",
        "Recursive requisites",
        "by its name, as well as the one at .*web.sls:2.*another ID or name",
    ),
    Mistake(
        "requisite on the state itself, by its ID",
        "a:\n  test.nop:\n    - require:\n      - «test: a\n",
        "Recursive requisites",
        "by its ID: name the other one",
    ),
    Mistake(
        "requisite on an SLS that brings the state itself",
        {
            "web.sls": "include: [run]\nb:\n  test.nop: []\n",
            "run.sls": "a:\n  test.nop:\n    - require:\n      - «sls: web\n",
        },
        "Recursive requisites",
        "brings this state, too",
    ),
    Mistake(
        "require_in on the SLS that the state stands in",
        {"web.sls": "a:\n  test.nop:\n    - require_in:\n      - «sls: web\nb: test.nop\n"},
        "Recursive requisites",
        "`sls: web` brings this state, too",
    ),
    Mistake(
        "require_in on SLS files by a pattern",
        {
            "web.sls": "include: [db]\na:\n  test.nop:\n    - require_in:\n      - «sls: '?b'\n",
            "db.sls": "b: test.nop\n",
        },
        "which is not in this run",
        "require_in takes no pattern: name each SLS",
        check_only=True,
    ),
    *(
        Mistake(
            f"{kind} on an SLS by its other name",
            {
                "web.sls": f"include: [db]\na:\n  test.nop:\n    - {kind}:\n      - «sls: db.init\n",
                "db/init.sls": "b: test.nop\n",
            },
            "db.init",
            "did you mean sls: db?",
            check_only=kind == "require_in",
        )
        for kind in ("require", "require_in")
    ),
    Mistake(
        "requisite on a bare name that does not exist",
        TWO + "    - require:\n      - «aaa\n",
        "aaa",
        "did you mean|a",
    ),
    Mistake(
        "requisite in another file that is not included",
        {"web.sls": "b:\n  test.nop:\n    - require:\n      - «test: a\n", "db.sls": NOP},
        "test: a",
        "include.*db|db",
    ),
    Mistake(
        "requisite on an SLS that is not in the run",
        {"web.sls": "b:\n  test.nop:\n    - require:\n      - «sls: db\n", "db.sls": NOP},
        "sls: db",
        "include",
    ),
    Mistake(
        "requisite on an SLS of the same folder that is not in the run",
        {
            "web.sls": "include:\n  - users.dotfiles\n",
            "users/dotfiles.sls": "b:\n  test.nop:\n    - require:\n      - «sls: users.keys\n",
            "users/keys.sls": NOP,
        },
        "sls: users.keys",
        "include",
    ),
    Mistake(
        "requisite on an SLS that does not exist",
        "b:\n  test.nop:\n    - require:\n      - «sls: dbb\n",
        "dbb",
        "SLS|include",
    ),
    Mistake(
        "requisite on a package of pkgs",
        "p:\n  pkg.installed:\n    - pkgs: [vim]\nb:\n  test.nop:\n    - require:\n      - «pkg: vim\n",
        "vim",
        "pkg: p",
    ),
    Mistake("requisite as a text", TWO + "    - «require: a\n", "list", "- test: a"),
    Mistake(
        "requisite as a mapping", TWO + "    - «require:\n        test: a\n", "list", "- test: a"
    ),
    Mistake(
        "two requisites in one item",
        TWO + "    - require:\n      - «test: a\n        pkg: x\n",
        "single|one",
        "- pkg|own",
    ),
    Mistake("requisite with a number", TWO + "    - require:\n      - «test: 5\n", "5", "ID|name"),
    Mistake("requisite without a target", TWO + "    - require:\n      - «test:\n", "test", "ID"),
    Mistake("empty requisite", TWO + "    - «require:\n", "require", "- module: ID|take"),
    Mistake(
        "requires",
        TWO + "    - «requires:\n      - test: a\n",
        "requires",
        "require",
        check_only=True,
    ),
    Mistake(
        "watchin",
        TWO + "    - «watchin:\n      - test: a\n",
        "watchin",
        "watch_in",
        check_only=True,
    ),
    Mistake(
        "require-in",
        TWO + "    - «require-in:\n      - test: a\n",
        "require-in",
        "require_in",
        check_only=True,
    ),
    Mistake(
        "on_changes",
        TWO + "    - «on_changes:\n      - test: a\n",
        "on_changes",
        "onchanges",
        check_only=True,
    ),
    Mistake(
        "depends_on",
        TWO + "    - «depends_on:\n      - test: a\n",
        "depends_on",
        "require",
        check_only=True,
    ),
    Mistake(
        "requisite beside the function",
        "a:\n  test.nop: []\nb:\n  test.nop: []\n  «require:\n    - test: a\n",
        "require",
        "indent|below|argument",
    ),
    Mistake(
        "requisite at the top level",
        "a:\n  test.nop: []\n«require:\n  - test: a\n",
        "require",
        "state|ID|indent",
    ),
    Mistake(
        "Puppet's way to refer", TWO + "    - require:\n      - «Test['a']\n", "Test", "test: a"
    ),
    Mistake(
        "require_in to what does not exist",
        TWO + "    - require_in:\n      - «test: aa\n",
        "aa",
        "did you mean.*a",
    ),
    Mistake("watch_in as a text", TWO + "    - «watch_in: a\n", "list", "- ", check_only=True),
    Mistake("listen to what does not exist", TWO + "    - listen:\n      - «test: aa\n", "aa", "a"),
    Mistake(
        "use of what does not exist",
        TWO + "    - use:\n      - «test: aa\n",
        "aa",
        "did you mean.*a",
        check_only=True,
    ),
    Mistake("prereq to what does not exist", TWO + "    - prereq:\n      - «test: aa\n", "aa", "a"),
    Mistake(
        "cycle of two",
        "a:\n  test.nop:\n    - require:\n      - «test: b\nb:\n  test.nop:\n    - require:\n      - test: a\n",
        "cycle|recursive",
        "remove",
        also=(":4:9", ":8:9"),
    ),
    Mistake(
        "cycle of one",
        "a:\n  test.nop:\n    - require:\n      - «test: a\n",
        "itself|recursive",
        "remove",
    ),
    Mistake(
        "cycle across files",
        {
            "web.sls": "include: [db]\na:\n  test.nop:\n    - require:\n      - test: b\n",
            "db.sls": "b:\n  test.nop:\n    - require:\n      - «test: a\n",
        },
        "cycle|recursive",
        "remove",
        also=("web.sls:5", "db.sls:4"),
    ),
    Mistake(
        "cycle of prereq",
        "a:\n  test.nop:\n    - prereq:\n      - «test: b\nb:\n  test.nop:\n    - prereq:\n      - test: a\n",
        "cycle|recursive",
        "remove",
        also=(":4:9", ":8:9"),
    ),
    Mistake(
        "cycle of require and require_in",
        "a:\n  test.nop:\n    - require_in:\n      - «test: b\n    - require:\n      - test: b\nb:\n  test.nop: []\n".replace(
            "«", ""
        ).replace("require:\n      - test", "require:\n      - «test"),
        "cycle|recursive",
        "remove",
        also=(":4:9", ":6:9"),
    ),
    Mistake(
        "include of what does not exist", "include:\n  - «ngnix\n" + NOP, "ngnix", "\\.sls|states"
    ),
    Mistake(
        "include misspelt",
        {"web.sls": "include:\n  - «ngnix\n" + NOP, "nginx.sls": "b:\n  test.nop: []\n"},
        "ngnix",
        "nginx",
    ),
    Mistake(
        "include with its ending",
        {"web.sls": "include:\n  - «db.sls\n" + NOP, "db.sls": "b:\n  test.nop: []\n"},
        "db.sls",
        "db",
    ),
    Mistake(
        "include as a text",
        {"web.sls": "include: «db\n" + NOP, "db.sls": "b:\n  test.nop: []\n"},
        "list",
        "- db",
    ),
    Mistake(
        "include that leads out of the tree",
        "include:\n  - «...db\n" + NOP,
        "\\.\\.\\.db",
        "dot|\\.",
    ),
    Mistake("include of a number", "include:\n  - «5\n" + NOP, "5", "quote|name"),
    Mistake(
        "includes",
        {"web.sls": "«includes:\n  - db\n" + NOP, "db.sls": "b:\n  test.nop: []\n"},
        "includes",
        "include",
    ),
    Mistake(
        "include in a nested list",
        {"web.sls": "include:\n  - «[db]\n" + NOP, "db.sls": "b:\n  test.nop: []\n"},
        "list",
        "- db|name",
    ),
    Mistake(
        "extend of what does not exist",
        "a:\n  test.nop: []\nextend:\n  «aa:\n    test:\n      - x: y\n",
        "aa",
        "a",
    ),
    Mistake(
        "extend that is a list",
        "a:\n  test.nop: []\nextend:\n  «- a:\n      test: []\n",
        "dictionary|mapping|list",
        "a:",
    ),
    Mistake(
        "extend of a state without this module",
        "a:\n  test.nop: []\nextend:\n  a:\n    «cmd:\n      - cwd: /\n",
        "cmd|function",
        "test|function",
    ),
    Mistake("exclude that is a text", "a:\n  test.nop: []\nexclude: «b\n", "list", "- "),
    Mistake(
        "exclude of an ID that does not exist",
        "a:\n  test.nop: []\nexclude:\n  - «id: bb\n",
        "bb",
        "a|ID",
        check_only=True,
    ),
    Mistake(
        "exclude of an SLS that does not exist",
        "a:\n  test.nop: []\nexclude:\n  - «sls: bb\n",
        "bb",
        "spelling",
        check_only=True,
    ),
    Mistake(
        "exclude of something else",
        "a:\n  test.nop: []\nexclude:\n  - «state: bb\n",
        "state",
        "- id|- sls",
    ),
    # the top file
    Mistake(
        "top file with an SLS that does not exist",
        {"top.sls": "base:\n  '*':\n    - «ngnix\n", "nginx.sls": NOP},
        "ngnix",
        "nginx",
        names=(),
    ),
    Mistake(
        "top file with an SLS that does not exist, of another machine",
        {"top.sls": "base:\n  '*':\n    - nginx\n  'other':\n    - «ngnix\n", "nginx.sls": NOP},
        "ngnix",
        "nginx",
        names=(),
        check_only=True,
    ),
    Mistake(
        "top file without an environment",
        {"top.sls": "«'*':\n  - web\n", "web.sls": NOP},
        "'\\*'",
        "base:",
        names=(),
    ),
    Mistake(
        "top file with a text",
        {"top.sls": "base:\n  «'*': web\n", "web.sls": NOP},
        "list",
        "- web",
        names=(),
    ),
    Mistake(
        "top file with a matcher that does not exist",
        {"top.sls": "base:\n  «'os:Debian':\n    - match: gran\n    - web\n", "web.sls": NOP},
        "gran",
        "grain",
        names=(),
    ),
    Mistake(
        "top file with a broken compound",
        {
            "top.sls": "base:\n  «'G@os:Debian and and *':\n    - web\n  '*':\n    - web\n",
            "web.sls": NOP,
        },
        "and",
        "compound|and|or",
        names=(),
        check_only=True,
    ),
    Mistake(
        "top file with an environment that does not exist",
        {"top.sls": "«bsae:\n  '*':\n    - web\n", "web.sls": NOP},
        "bsae",
        "base",
        names=(),
    ),
    Mistake(
        "top file with a tab",
        {"top.sls": "base:\n«\t'*':\n    - web\n", "web.sls": NOP},
        "tab",
        "spaces",
        names=(),
    ),
    Mistake(
        "top file is a list",
        {"top.sls": "«- base:\n    '*': [web]\n", "web.sls": NOP},
        "mapping|list",
        "base:",
        names=(),
    ),
    Mistake(
        "top file with a number",
        {"top.sls": "base:\n  '*':\n    - «5\n", "web.sls": NOP},
        "5",
        "name|quote",
        names=(),
    ),
    Mistake(
        "top file with two equal targets",
        {
            "top.sls": "base:\n  '*':\n    - web\n  «'*':\n    - db\n",
            "web.sls": NOP,
            "db.sls": "b:\n  test.nop: []\n",
        },
        "\\*",
        ":2:3|line 2",
        names=(),
    ),
    Mistake("top file empty", {"top.sls": "«base:\n", "web.sls": NOP}, "base", "\\*", names=()),
    # the pillar
    Mistake(
        "pillar with a tab",
        {"web.sls": NOP, **TOP, "pillar/x.sls": "a:\n«\tb: c\n"},
        "tab",
        "spaces",
    ),
    Mistake(
        "pillar SLS that does not exist",
        {"web.sls": NOP, "pillar/top.sls": "base:\n  '*':\n    - «xx\n", "pillar/x.sls": "a: b\n"},
        "xx",
        "x",
    ),
    Mistake(
        "pillar that is a list",
        {"web.sls": NOP, **TOP, "pillar/x.sls": "«- a\n"},
        "mapping|dictionary|list",
        "key",
    ),
    Mistake(
        "pillar with an undefined variable",
        {"web.sls": NOP, **TOP, "pillar/x.sls": "a: {{ «colour }}\n"},
        "colour",
        "default",
        column=False,
    ),
    Mistake(
        "pillar include of what does not exist",
        {"web.sls": NOP, **TOP, "pillar/x.sls": "include:\n  - «yy\na: b\n"},
        "yy",
        "x|pillar",
    ),
    Mistake(
        "pillar key twice",
        {"web.sls": NOP, **TOP, "pillar/x.sls": "a: b\n«a: c\n"},
        "'a'",
        ":1:1|line 1",
    ),
    Mistake(
        "pillar broken and used",
        {
            "web.sls": "a:\n  test.nop:\n    - name: {{ pillar['port'] }}\n",
            **TOP,
            "pillar/x.sls": "port: «[80\n",
        },
        r"\[|bracket",
        r"\]",
    ),
    Mistake(
        "pillar top file without an environment",
        {"web.sls": NOP, "pillar/top.sls": "«'*':\n  - x\n", "pillar/x.sls": "a: b\n"},
        "'\\*'",
        "base:",
    ),
    # the configuration
    Mistake(
        "configuration with a tab",
        {"web.sls": NOP, "runner.yaml": "file_roots:\n«\tbase: [states]\n"},
        "tab",
        "spaces",
    ),
    Mistake(
        "configuration key misspelt",
        {
            "web.sls": NOP,
            "runner.yaml": "«file_root:\n  base: [states]\nfile_roots: {base: [states]}\n",
        },
        "file_root",
        "file_roots",
        check_only=True,
    ),
    Mistake(
        "configuration value of the wrong type",
        {"web.sls": NOP, "runner.yaml": "«file_roots: states\n"},
        "file_roots",
        "base:",
    ),
    Mistake(
        "configuration flag in quotes",
        {"web.sls": NOP, "runner.yaml": "file_roots: {base: [states]}\n«strict: 'yes'\n"},
        "strict",
        "true",
    ),
    Mistake(
        "configuration choice",
        {
            "web.sls": NOP,
            "runner.yaml": "file_roots: {base: [states]}\n«pillar_source_merging_strategy: smrt\n",
        },
        "smrt",
        "smart",
        check_only=True,
    ),
    Mistake(
        "configuration is a list",
        {"web.sls": NOP, "runner.yaml": "«- file_roots\n"},
        "mapping",
        "key",
    ),
    Mistake(
        "configuration that is not UTF-8",
        {
            "web.sls": NOP,
            "runner.yaml": b"id: x\n# " + "«".encode() + b"\xfc\nfile_roots: {base: [states]}\n",
        },
        "UTF-8",
        "UTF-8",
    ),
    # modules of the tree
    Mistake(
        "custom state with a syntax error",
        {
            "web.sls": "x:\n  box.made: []\n",
            "_states/box.py": "def made(name)«:\n  return {\n".replace("«:", ":").replace(
                "{", "«{"
            ),
        },
        "box.py|Python|closed",
        "Python|bracket|closed|brace",
        column=False,
    ),
    Mistake(
        "custom execution module with a syntax error",
        {
            "web.sls": "x:\n  test.nop:\n    - name: {{ salt['box.get']() }}\n",
            "_modules/box.py": "def get()«\n    return 1\n",
        },
        "box.py|Python|:",
        ":|Python",
        column=False,
        also=("web.sls:3",),
    ),
    Mistake(
        "custom state with an unknown argument",
        {
            "web.sls": "x:\n  box.made:\n    - «siez: 1\n",
            "_states/box.py": "def made(name, size=1):\n    return {'name': name, 'changes': {}, 'result': True, 'comment': ''}\n",
        },
        "siez",
        "size",
        check_only=True,
    ),
    Mistake(
        "execution function that raises",
        {
            "web.sls": "x:\n  test.nop:\n    - name: «{{ salt['box.get']() }}\n",
            "_modules/box.py": "def get():\n    return {}['colour']\n",
        },
        "colour",
        "box.py",
        column=False,
    ),
    # defaults and chains
    Mistake(
        "chain with what does not exist",
        "a:\n  test.nop: []\nb:\n  test.nop: []\nchain:\n  - «'test: a -> test: bb'\n",
        "bb",
        "b",
    ),
    Mistake(
        "chain with a broken arrow",
        "a:\n  test.nop: []\nb:\n  test.nop: []\nchain:\n  - «'test: a => test: b'\n",
        "=>",
        "->",
    ),
]
