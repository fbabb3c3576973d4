# SPDX-License-Identifier: Apache-2.0
"""Trees, configurations and machines that are out to break a run: bombs, loops, depths, odd files, odd values.

Each case has to end by itself, soon and in bounds, with an exit code of the documentation, without a traceback; those
that are mistakes have to say so.

    python bench/faults/hostile.py [--only WORD] [--list]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from common import Ended, Score, Tree, warm

SECONDS, MEGABYTES = 120, 1500
BAD = ("Traceback", "this is a bug", "An exception occurred")
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
DEEP = 5000
NOP = "x:\n  test.nop: []\n"


class Case(NamedTuple):
    """One attack. files: path below the tree -> text. code: the exit code, None for any. says: in the output."""

    name: str
    files: dict[str, str | bytes]
    words: tuple[str, ...] = ("sls", "a")
    code: int | None = 1
    says: str = ""
    prepare: Callable[[Tree], object] = lambda tree: None
    config: dict[str, object] = {}
    before: Callable[[], object] = lambda: None


def sls(name: str, text: str | bytes, code: int | None = 1, says: str = "", **more: object) -> Case:
    return Case(name, {"states/a.sls": text}, ("sls", "a"), code, says, **more)  # type: ignore[arg-type]


def bombs() -> Iterator[Case]:
    yield sls("alias bomb in an SLS", BOMB, says="aliases")
    yield Case(
        "alias bomb in the pillar",
        {"states/a.sls": NOP, "pillar/top.sls": "base:\n  '*': [p]\n", "pillar/p.sls": BOMB},
        says="aliases",
    )
    yield Case(
        "alias bomb in the top file", {"states/top.sls": BOMB}, ("highstate",), says="aliases"
    )
    yield Case(
        "alias bomb in the pillar's top file",
        {"states/a.sls": NOP, "pillar/top.sls": BOMB},
        says="aliases",
    )
    yield Case(
        "alias bomb on the command line",
        {"states/a.sls": NOP},
        ("sls", "a", "--pillar", BOMB),
        says="aliases",
    )
    yield Case(
        "alias bomb in the configuration",
        {"states/a.sls": NOP, "runner.d/x.yaml": BOMB},
        says="aliases",
    )
    yield Case(
        "alias bomb in the static grains", {"states/a.sls": NOP, "grains": BOMB}, says="aliases"
    )
    yield Case(
        "alias bomb imported",
        {"states/a.sls": "{% import_yaml 'b.yaml' as b %}\n" + NOP, "states/b.yaml": BOMB},
        says="aliases",
    )
    yield sls(
        "alias bomb in load_yaml",
        "{% load_yaml as b %}\n" + BOMB + "{% endload %}\n" + NOP,
        says="aliases",
    )
    yield sls("alias that contains itself", "a: &a [*a]\n", says="itself")
    yield sls("mapping that contains itself", "a: &a\n  b: *a\n", says="itself")
    yield sls("merge of itself", "a: &a\n  <<: *a\n", says="itself")
    yield sls("a number of 5,000 digits", f"x:\n  test.nop:\n    - a: {'1' * 5000}\n", code=None)
    yield sls("a number of 5,000 digits as name", f"{'1' * 5000}:\n  test.nop: []\n", code=None)
    yield sls(
        "a python tag", "x: !!python/object/apply:os.system ['touch /tmp/owned']\n", says="tag"
    )
    yield sls("keys that are lists", "? [a, b]\n: c\n")
    yield sls(
        "keys that are numbers and null",
        "1:\n  test.nop: []\nnull:\n  test.nop: []\n2.5:\n  test.nop: []\n.nan:\n  test.nop: []\n",
        code=None,
    )
    yield sls(
        "200,000 items",
        "x:\n  test.nop:\n    - names:\n" + "".join(f"      - n{n}\n" for n in range(20000)),
        code=0,
    )


def templates() -> Iterator[Case]:
    far = "range(99999)"
    yield sls(
        "endless loops that print",
        f"{{% for a in {far} %}}{{% for b in {far} %}}xxxxxxxxxxxx{{% endfor %}}{{% endfor %}}",
    )
    yield sls(
        "endless loops that print nothing",
        f"{{% for a in {far} %}}{{% for b in {far} %}}{{% endfor %}}{{% endfor %}}" + NOP,
    )
    yield sls("a far range", "{% for a in range(10**12) %}x{% endfor %}")
    yield sls("a macro that calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")
    yield sls("a template that includes itself", "{% include 'a.sls' %}")
    yield sls("a template that imports itself", "{% import 'a.sls' as a %}")
    yield sls("a template that extends itself", "{% extends 'a.sls' %}")
    yield sls("a text times far too much", "{{ 'a' * 10**11 }}")
    yield sls("a list times far too much", "{% set x = [0] * 10**11 %}" + NOP)
    yield sls("a far power", "{{ 9 ** 9 ** 9 }}")
    yield sls("a wide format", "{{ '%99999999999d' % 1 }}")
    yield sls("a wide format method", "{{ '{:99999999999}'.format(1) }}")
    yield sls("a wide ljust", "{{ 'a'.ljust(99999999999) }}")
    yield sls("a wide center filter", "{{ 'a' | center(99999999999) }}")
    yield sls("a wide indent filter", "{{ 'a\\nb' | indent(99999999999) }}")
    yield sls(
        "texts that double",
        "{% set ns = namespace(x='xxxxxxxxxx') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x | length }}",
    )
    yield sls(
        "lists that double",
        "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}"
        + NOP,
    )
    yield sls(
        "texts that replace grows",
        "{% set ns = namespace(x='xx') %}{% for i in range(60) %}{% set ns.x = ns.x | replace('x', 'xxxx') %}{% endfor %}"
        + NOP,
    )
    yield sls(
        "a regular expression without end", "{{ ('a' * 60 ~ 'b') | regex_search('^(a+)+$') }}" + NOP
    )
    yield sls("a python renderer without end", "#!py\ndef run():\n    while True:\n        pass\n")
    yield sls(
        "a python renderer that returns itself",
        "#!py\ndef run():\n    a = {}\n    a['x'] = a\n    return a\n",
    )
    yield Case(
        "a pillar without end",
        {
            "states/a.sls": NOP,
            "pillar/top.sls": "base:\n  '*': [p]\n",
            "pillar/p.sls": f"{{% for a in {far} %}}{{% for b in {far} %}}{{% endfor %}}{{% endfor %}}",
        },
    )
    yield Case(
        "a top file without end",
        {
            "states/top.sls": f"{{% for a in {far} %}}{{% for b in {far} %}}{{% endfor %}}{{% endfor %}}"
        },
        ("highstate",),
    )
    yield sls(
        "a file's template without end",
        "{target}/f:\n  file.managed:\n    - source: salt://f\n    - template: jinja\n",
        2,
        prepare=lambda tree: tree.write(
            "states/f", f"{{% for a in {far} %}}{{% for b in {far} %}}{{% endfor %}}{{% endfor %}}"
        ),
    )
    yield Case(
        "a target of the top file without end",
        {
            "states/top.sls": "base:\n  '^(a+)+$':\n    - match: pcre\n    - a\n",
            "states/a.sls": NOP,
        },
        ("highstate", "--id", "a" * 40 + "b"),
        code=None,
    )
    yield sls("reaching for python", "{{ ''.__class__.__mro__[1].__subclasses__() }}")
    yield sls("a template of 5,000 ifs", "{% if true %}" * DEEP + "{% endif %}" * DEEP)
    yield sls("an expression of 5,000 brackets", "{{ " + "(" * DEEP + "1" + ")" * DEEP + " }}")
    yield sls(
        "an expression of 50,000 terms",
        "x:\n  test.nop:\n    - a: {{ 1" + " + 1" * 50000 + " }}\n",
        code=None,
    )
    yield Case(
        "5,000 templates that include each other",
        {
            "states/a.sls": "{% include 't0' %}" + NOP,
            **{f"states/t{n}": f"{{% include 't{n + 1}' %}}" for n in range(DEEP)},
            f"states/t{DEEP}": "",
        },
    )


def depths() -> Iterator[Case]:
    block = "".join(" " * n + f"k{n}:\n" for n in range(DEEP))
    for name, text in {
        "brackets": "[" * DEEP + "]" * DEEP,
        "braces": "{a: " * DEEP + "}" * DEEP,
        "blocks": block,
        "dashes": "- " * DEEP + "x\n",
    }.items():
        yield sls(
            f"5,000 {name}",
            f"x:\n  test.nop:\n    - a: {text}\n" if name in ("brackets", "braces") else text,
        )
        yield Case(
            f"5,000 {name} in the pillar",
            {"states/a.sls": NOP, "pillar/top.sls": "base:\n  '*': [p]\n", "pillar/p.sls": text},
        )
        yield Case(
            f"5,000 {name} in the configuration", {"states/a.sls": NOP, "runner.d/x.yaml": text}
        )
        yield Case(f"5,000 {name} in the top file", {"states/top.sls": text}, ("highstate",))
    yield Case(
        "5,000 brackets on the command line",
        {"states/a.sls": NOP},
        ("sls", "a", "--pillar", "[" * DEEP + "]" * DEEP),
    )
    yield Case(
        "5,000 brackets for a state",
        {},
        ("single", "test.nop", "name=x", "a=" + "[" * DEEP + "]" * DEEP),
        code=None,
    )
    yield sls(
        "900 levels of values",
        "x:\n  test.nop:\n    - a: " + "[" * 400 + "]" * 400 + "\n",
        code=None,
    )
    yield sls("5,000 levels of JSON", "#!json\n" + "[" * DEEP + "]" * DEEP)
    yield Case(
        "5,000 SLS files that include each other",
        {
            **{
                f"states/{'a' if n == 0 else f'i{n}'}.sls": f"include: [i{n + 1}]\n"
                for n in range(DEEP)
            },
            f"states/i{DEEP}.sls": NOP,
        },
        code=None,
    )
    yield Case(
        "5,000 pillar files that include each other",
        {
            "states/a.sls": NOP,
            "pillar/top.sls": "base:\n  '*': [i0]\n",
            **{f"pillar/i{n}.sls": f"include: [i{n + 1}]\n" for n in range(DEEP)},
            f"pillar/i{DEEP}.sls": "a: 1\n",
        },
        code=None,
    )
    for kind in ("require", "watch", "onchanges", "prereq", "listen"):
        chain = (
            "".join(
                f"x{n}:\n  test.nop:\n    - {kind}: [{{test: x{n + 1}}}]\n"
                for n in range(DEEP // 2)
            )
            + f"x{DEEP // 2}:\n  test.nop: []\n"
        )
        yield sls(f"a chain of 2,500 {kind}", chain, code=None)
        yield sls(f"a chain of 2,500 {kind}, dry", chain, code=None)._replace(
            words=("sls", "a", "--test")
        )
    yield sls(
        "a cycle of 5,000",
        "".join(
            f"x{n}:\n  test.nop:\n    - require: [{{test: x{(n + 1) % DEEP}}}]\n"
            for n in range(DEEP)
        ),
        says="x0",
    )
    yield Case(
        "extends of extends",
        {
            "states/a.sls": "include: [b]\nextend:\n  x:\n    test:\n      - a: 1\n",
            "states/b.sls": "include: [a]\nextend:\n  x:\n    test:\n      - a: 2\n",
        },
    )


def folders() -> Iterator[Case]:
    def deep(path: Path) -> None:
        """A folder 1,500 levels deep (longer than a path may be)."""
        here = os.open(path, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("dddd", dir_fd=here)
            below = os.open("dddd", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)

    def made(name: str) -> Callable[[Tree], object]:
        return lambda tree: (
            (tree.folder / name).mkdir(parents=True, exist_ok=True),
            deep(tree.folder / name),
        )

    recurse = "{target}/r:\n  file.recurse:\n    - source: salt://d\n"
    yield sls("1,500 folders to copy", recurse, None, prepare=made("states/d"))
    yield sls(
        "1,500 folders to own",
        "{target}/r:\n  file.directory:\n    - user: root\n    - recurse: [user, mode]\n    - dir_mode: 755\n",
        None,
        prepare=made("target/r"),
    )
    yield sls(
        "1,500 folders to clean",
        "{target}/r:\n  file.directory:\n    - clean: True\n",
        None,
        prepare=made("target/r"),
    )
    yield sls(
        "1,500 folders to remove",
        "{target}/r:\n  file.absent: []\n",
        None,
        prepare=made("target/r"),
    )
    yield sls(
        "1,500 folders to tidy", "{target}/r:\n  file.tidied: []\n", None, prepare=made("target/r")
    )
    yield Case(
        "1,500 folders of SLS files",
        {"states/a.sls": NOP},
        ("check",),
        None,
        prepare=made("states/d"),
    )

    def loops(tree: Tree) -> None:
        for folder in ("states/d", "target/d"):
            (tree.folder / folder / "e").mkdir(parents=True)
            (tree.folder / folder / "e/up").symlink_to("..")
            (tree.folder / folder / "self").symlink_to("self")
            (tree.folder / folder / "f").write_text("x")
        (tree.folder / "states/loop.sls").symlink_to("loop.sls")

    yield sls("links in circles to copy", recurse, None, prepare=loops)
    yield sls(
        "links in circles to clean",
        "{target}/d:\n  file.directory:\n    - clean: True\n    - recurse: [mode]\n    - file_mode: 600\n",
        None,
        prepare=loops,
    )
    yield sls(
        "a target that links to itself",
        "{target}/d/self:\n  file.managed:\n    - contents: x\n",
        None,
        prepare=loops,
    )
    yield sls(
        "a folder that links to itself",
        "{target}/d/self/x:\n  file.managed:\n    - contents: x\n    - makedirs: True\n",
        2,
        prepare=loops,
    )
    yield Case("an SLS that links to itself", {}, ("sls", "loop"), 1, prepare=loops)
    yield Case("a tree with circles", {"states/a.sls": NOP}, ("check",), None, prepare=loops)


def pipe(*names: str) -> Callable[[Tree], object]:
    def make(tree: Tree) -> None:
        for name in names:
            path = tree.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            os.mkfifo(path)

    return make


def odd_files() -> Iterator[Case]:
    for name in """
        states/a.sls states/top.sls states/map.jinja states/_states/x.py states/_modules/x.py
        states/_grains/x.py
    """.split():
        text = "{% import 'map.jinja' as m %}\n" + NOP if name.endswith("jinja") else NOP
        yield Case(
            f"a pipe as {name}",
            {"states/a.sls": text},
            ("highstate",) if "top" in name else ("sls", "a"),
            None,
            prepare=pipe(name),
        )
    yield Case(
        "a pipe in the pillar",
        {"states/a.sls": NOP, "pillar/top.sls": "base:\n  '*': [p]\n"},
        prepare=pipe("pillar/p.sls"),
    )
    yield Case(
        "a pipe as the pillar's top file",
        {"states/a.sls": NOP},
        code=None,
        prepare=pipe("pillar/top.sls"),
    )
    for name in """
        grains runner.d/x.yaml cache/state/lock cache/state/temporaries
        cache/state/history.sqlite cache/state/debts.sqlite cache/templates
    """.split():
        yield Case(
            f"a pipe as {name}",
            {
                "states/a.sls": "{target}/f:\n  file.managed:\n    - contents: x\nr:\n  cmd.run:\n    - name: 'true'\n    - onchanges: [{file: {target}/f}]\n"
            },
            code=None,
            prepare=pipe(name),
        )
    yield Case(
        "a pipe for Prometheus",
        {"states/a.sls": NOP},
        code=0,
        prepare=pipe("prom"),
        config={"prometheus_textfile": "PROM"},
    )
    yield sls(
        "a pipe as source",
        "{target}/f:\n  file.managed:\n    - source: salt://p\n",
        None,
        prepare=pipe("states/p"),
    )
    yield sls(
        "a pipe as local source",
        "{target}/f:\n  file.managed:\n    - source: {target}/p\n",
        2,
        prepare=pipe("target/p"),
    )
    yield sls(
        "a pipe to recurse",
        "{target}/f:\n  file.recurse:\n    - source: salt://d\n",
        None,
        prepare=pipe("states/d/p"),
    )
    edits = {
        "managed": "- contents: x",
        "append": "- text: x",
        "prepend": "- text: x",
        "replace": "- pattern: a\n    - repl: b",
        "line": "- mode: ensure\n    - content: x\n    - after: y",
        "blockreplace": "- content: x\n    - append_if_not_found: True",
        "comment": "- regex: a",
        "uncomment": "- regex: a",
        "keyvalue": "- key: a\n    - value: b\n    - append_if_not_found: True",
        "serialize": "- dataset: {a: 1}\n    - merge_if_exists: True",
        "copy": "- source: {target}/p",
        "rename": "- source: {target}/q",
        "symlink": "- target: /x",
        "hardlink": "- target: {target}/q",
        "touch": "- makedirs: True",
        "directory": "- mode: 755",
        "absent": "",
        "exists": "",
        "recurse": "- source: salt://d",
    }
    for function, arguments in edits.items():
        body = f"\n    {arguments}" if arguments else " []"
        yield sls(
            f"a pipe as target of file.{function}",
            f"{{target}}/p:\n  file.{function}:{body}\n",
            None,
            prepare=pipe("target/p", "target/q"),
        )
        yield sls(
            f"a folder as target of file.{function}",
            f"{{target}}/p:\n  file.{function}:{body}\n",
            None,
            prepare=lambda tree: (tree.target / "p").mkdir(),
        )
    yield sls(
        "a pipe as target of ini.options_present",
        "{target}/p:\n  ini.options_present:\n    - sections: {a: {b: c}}\n",
        None,
        prepare=pipe("target/p"),
    )
    yield sls("a device as target", "/dev/null:\n  file.managed:\n    - contents: x\n", 2)
    yield sls("an endless source", "{target}/f:\n  file.managed:\n    - source: /dev/zero\n", 2)


def texts() -> Iterator[Case]:
    yield sls("NUL in an SLS", b"x\0:\n  test.nop: []\n", says="NUL")
    yield sls(
        "NUL in a path",
        'x:\n  file.managed:\n    - name: "{target}/a\\0b"\n    - contents: x\n',
        None,
    )
    yield sls(
        "NUL in a source",
        'x:\n  file.managed:\n    - name: {target}/f\n    - source: "salt://a\\0b"\n',
        None,
    )
    yield sls("NUL in a command", 'x:\n  cmd.run:\n    - name: "echo a\\0b"\n', 2)
    yield sls(
        "NUL in an environment", 'x:\n  cmd.run:\n    - name: env\n    - env: [{A: "a\\0b"}]\n', 2
    )
    yield sls("NUL in a user", 'x:\n  user.present:\n    - name: "a\\0b"\n', None)
    yield sls("NUL in a guard", 'x:\n  cmd.run:\n    - name: "true"\n    - onlyif: "a\\0b"\n', 2)
    yield sls(
        "NUL in cwd, creates, unless",
        'x:\n  cmd.run:\n    - name: "true"\n    - creates: "/a\\0b"\n    - cwd: "/a\\0b"\n',
        2,
    )
    yield sls("NUL in an include", 'include: ["a\\0b"]\n')
    yield sls(
        "NUL in contents",
        'x:\n  file.managed:\n    - name: {target}/f\n    - contents: "a\\0b"\n',
        0,
    )
    for function in """
        file.absent file.directory file.exists file.touch file.symlink file.append file.replace
        host.present mount.mounted service.running pkg.installed cron.present sysctl.present
        git.latest archive.extracted kmod.present timezone.system locale.present group.present
    """.split():
        yield sls(
            f"NUL in {function}", f'x:\n  {function}:\n    - name: "/a\\0b"\n', None
        )._replace(words=("sls", "a", "--test"))
        yield sls(
            f"a lone surrogate in {function}",
            f'x:\n  {function}:\n    - name: "/a\\ud800b"\n',
            None,
        )._replace(words=("sls", "a", "--test"))
    yield sls("bytes that are no text", b"\xff\xfe\xfa: \x80\n", says="UTF-8")
    yield sls("bytes that are no text in a template", b"{{ '\xff' }}", says="UTF-8")
    yield sls("UTF-16", NOP.encode("utf-16"), says="UTF-8")
    yield sls("a byte order mark", b"\xef\xbb\xbf" + NOP.encode(), 0)
    yield sls("only carriage returns", NOP.replace("\n", "\r").encode(), None)
    yield sls("control characters", b"x\x07\x1b[31m:\n  test.nop: []\n")
    yield sls(
        "colours in a comment",
        'x:\n  test.configurable_test_state:\n    - comment: "\\e[31mred\\a"\n',
        None,
    )
    yield sls("an empty SLS", "", None)
    yield sls("one long line", "x:\n  test.nop:\n    - a: " + "y" * 10_000_000 + "\n", None)
    yield sls("a long ID", "y" * 100_000 + ":\n  test.nop: []\n", None)
    yield sls(
        "a long path", "{target}/" + "y" * 5000 + ":\n  file.managed:\n    - contents: x\n", None
    )
    yield sls("three documents", NOP + "---\n" + NOP + "---\n" + NOP)
    for value in (
        "",
        "[]",
        "{}",
        "null",
        "5",
        "true",
        "x",
        "[x]",
        "{x: y}",
        "[[x]]",
        "{test.nop: {a: b}}",
        "{test: {nop: x}}",
        "{test: []}",
        "{test.: []}",
        "{.nop: []}",
        "{test.nop: [5]}",
        "{test.nop: [null]}",
        "{test.nop: [{a: 1, b: 2}]}",
        "{5: []}",
        "{null: []}",
        "{test.nop: 5}",
        "{test.nop: {require: 5}}",
        "{test.nop: [{require: 5}]}",
        "{test.nop: [{require: [5]}]}",
        "{test.nop: [{require: {test: 5}}]}",
        "{test.nop: [{names: 5}]}",
        "{test.nop: [{names: {a: b}}]}",
        "{test.nop: [{order: x}]}",
        "{test.nop: [{order: []}]}",
        "{test.nop: [{name: []}]}",
        "{test.nop: [{name: null}]}",
        "{test.nop: [{retry: x}]}",
        "{test.nop: [{retry: {attempts: x}}]}",
        "{test.nop: [{onlyif: 5}]}",
        "{test.nop: [{unless: {a: b}}]}",
        "{test.nop: [{check_cmd: 5}]}",
        "{test.nop: [{parallel: x}]}",
        "{test.nop: [{use: x}]}",
        "{test.nop: [{listen: [{test: x}]}]}",
        "{test.nop: [{reload_modules: x}]}",
        "{test.nop: [{fire_event: []}]}",
        "{test.nop: [{failhard: x}]}",
    ):
        yield sls(f"an ID that says {value}", f"x: {value}\n", None)
        yield Case(
            f"a top file that says {value}",
            {"states/a.sls": NOP, "states/top.sls": f"base: {value}\n"},
            ("highstate",),
            None,
        )
        yield Case(
            f"a pillar that says {value}",
            {
                "states/a.sls": NOP,
                "pillar/top.sls": "base: {'*': [p]}\n",
                "pillar/p.sls": f"include: {value}\n",
            },
            code=None,
        )
    for key in ("include", "extend", "exclude", "chain", "defaults"):
        for value in ("5", "x", "[5]", "[{a: b}]", "{a: b}", "{x: {test: 5}}", "[[x]]", "null"):
            yield sls(f"{key}: {value}", f"{key}: {value}\n{NOP}", None)


def configurations() -> Iterator[Case]:
    from runner.sources.config.keys import DEFAULTS, SETTINGS

    for key in sorted({*SETTINGS, *DEFAULTS}):
        for value in (
            None,
            5,
            -1,
            True,
            "x",
            [],
            ["x"],
            [5],
            {},
            {"x": 5},
            {"base": 5},
            {"base": [5]},
            [None],
            "a\0b",
            "../..",
        ):
            yield Case(
                f"{key}: {value!r} in the configuration",
                {"states/a.sls": NOP, "states/top.sls": "base: {'*': [a]}\n"},
                ("highstate",),
                None,
                config={key: value},
            )


def surroundings() -> Iterator[Case]:
    tree = {"states/a.sls": "{target}/f:\n  file.managed:\n    - contents: x\n"}

    def full() -> None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

    def gone() -> None:
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        os.rmdir(folder)

    def bare() -> None:
        os.environ.clear()

    def limited(which: int, limit: int) -> Callable[[], object]:
        return lambda: resource.setrlimit(which, (limit, limit))

    yield Case("a full standard output", tree, code=None, before=full)
    yield Case(
        "a full standard output, JSON", tree, ("sls", "a", "--out", "json"), None, before=full
    )
    yield Case("a folder that is gone", tree, code=None, before=gone)
    yield Case("no environment", tree, code=0, before=bare)
    yield Case("umask 777", tree, code=None, before=lambda: os.umask(0o777))
    yield Case(
        "columns: 0",
        tree,
        code=0,
        before=lambda: os.environ.update(COLUMNS="0", LINES="0", TERM="nonsense"),
    )
    yield Case(
        "no folder for temporary files",
        tree,
        code=None,
        before=lambda: os.environ.update(TMPDIR="/nonexistent"),
    )
    yield Case("few open files", tree, code=None, before=limited(resource.RLIMIT_NOFILE, 12))
    yield Case("no processes", tree, code=None, before=limited(resource.RLIMIT_NPROC, 1))
    yield Case("a pillar that is text", tree, ("sls", "a", "--pillar", "x"), 1)
    yield Case("a pillar that is a list", tree, ("sls", "a", "--pillar", "[1]"), 1)
    yield Case("an empty name", tree, ("sls", ""), 1)
    yield Case("a name that leads out", tree, ("sls", "../a"), 1)
    yield Case("a glob without end", tree, ("sls", "*" * 60 + "x"), 1)
    yield Case("a state without a dot", tree, ("single", "test"), 1)
    yield Case("a call of nothing", tree, ("call", "x.y"), 1)
    for name in ("history", "debts"):
        yield Case(
            f"{name} that is a folder",
            tree,
            code=0,
            prepare=lambda t, name=name: (t.state / f"{name}.sqlite").mkdir(parents=True),
        )
        yield Case(
            f"{name} that is junk",
            tree,
            code=0,
            prepare=lambda t, name=name: t.write(f"cache/state/{name}.sqlite", b"junk" * 1000),
        )
        yield Case(
            f"{name} that is empty",
            tree,
            code=0,
            prepare=lambda t, name=name: t.write(f"cache/state/{name}.sqlite", b""),
        )
        yield Case(
            f"{name} that is a link to nowhere",
            tree,
            code=0,
            prepare=lambda t, name=name: (
                t.state.mkdir(parents=True),
                (t.state / f"{name}.sqlite").symlink_to("/nonexistent/x"),
            ),
        )
    yield Case(
        "a list of temporary files that is junk",
        tree,
        code=0,
        prepare=lambda t: t.write(
            "cache/state/temporaries", b'\xff\xfe[1]\n{}\n[[]]\n["/", 5]\n' * 100
        ),
    )
    yield Case(
        "a lock that is a folder",
        tree,
        code=1,
        prepare=lambda t: (t.state / "lock").mkdir(parents=True),
    )
    yield Case(
        "a state folder that is a file",
        tree,
        code=1,
        prepare=lambda t: t.write("cache/state", b"x"),
    )
    yield Case("a cache that is a file", tree, code=None, prepare=lambda t: t.write("cache", b"x"))


def cases() -> Iterator[Case]:
    for group in (
        bombs,
        templates,
        depths,
        folders,
        odd_files,
        texts,
        surroundings,
        configurations,
    ):
        yield from group()


def tried(case: Case, folder: Path, score: Score) -> Ended:
    config = {
        key: str(folder / "prom") if value == "PROM" else value
        for key, value in case.config.items()
    }
    if "cachedir" in config or "state_dir" in config:  # stay below the folder
        config = {key: value for key, value in config.items() if not isinstance(value, str)}
    tree = Tree(folder, **config)
    for name, text in case.files.items():
        tree.write(name, text)
    case.prepare(tree)
    words = tuple(word.replace("{target}", str(tree.target)) for word in case.words)
    ended = tree.start(*words, before=case.before).wait(SECONDS)
    said = ended.out + ended.err
    score.trials += 1
    wanted = (0, 1, 2) if case.code is None else (case.code,)
    score.check(
        ended.code in wanted, f"{case.name}: exit code {ended.code}, not {wanted}: {said[-600:]}"
    )
    for word in BAD:
        score.check(word not in said, f"{case.name}: {said[:900]}")
    score.check(case.says in said, f"{case.name}: does not say {case.says!r}: {said[:600]}")
    score.check(
        len(said) < 5_000_000 or "long" in case.name,
        f"{case.name}: {len(said)} characters of output",
    )
    score.check(ended.megabytes < MEGABYTES, f"{case.name}: {ended.megabytes:.0f} MB")
    score.check(ended.seconds < SECONDS, f"{case.name}: {ended.seconds:.0f} s")
    return ended


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="cases whose name has this word in it")
    parser.add_argument("--every", type=int, default=1, help="only each so manieth case")
    parser.add_argument(
        "--quick", action="store_true", help="without those that end only at the limits"
    )
    parser.add_argument("--list", action="store_true", help="what each case came to")
    options = parser.parse_args()
    warm()
    score = Score("hostile trees")
    for number, case in enumerate(cases()):
        if number % options.every or (options.only and options.only not in case.name):
            continue
        if options.quick and any(
            word in case.name for word in ("without end", "endless", "double", "grow")
        ):
            continue
        with tempfile.TemporaryDirectory(prefix="runner-hostile-") as folder:
            began = time.monotonic()
            ended = tried(case, Path(folder), score)
            if options.list or time.monotonic() - began > 5:
                first = next(iter((ended.err + ended.out).strip().splitlines()), "")
                print(
                    json.dumps(
                        [
                            case.name,
                            ended.code,
                            round(ended.seconds, 1),
                            round(ended.megabytes),
                            first[:150],
                        ]
                    )
                )
            emptied(Path(folder))
    return score.end()


def emptied(folder: Path) -> None:
    """Remove what is too deep for the library that removes folders."""
    for path in ("states/d", "target/r"):
        while (folder / path / "dddd").exists():
            os.rename(folder / path / "dddd", folder / "deep")
            for name in os.listdir(folder / "deep"):
                os.rename(folder / "deep" / name, folder / path / name)
            os.rmdir(folder / "deep")


if __name__ == "__main__":
    sys.exit(main())
