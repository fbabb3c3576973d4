# SPDX-License-Identifier: Apache-2.0
"""Thousands of mangled SLS, pillar, top and configuration files: each run has to end soon, with an exit code of the
documentation, without a traceback, in bounds of memory.

    python bench/faults/fuzz.py [--trials 3000] [--seed N] [--keep DIR]
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from pathlib import Path

from common import Ended, Score, Tree, seeded, warm

BAD = ("Traceback", "this is a bug", "An exception occurred")
SLS = """\
{% set n = pillar.get('count', 3) %}
{% from 'map.jinja' import data with context %}
include:
  - b
  - .c
extend:
  base file:
    file:
      - require:
        - test: first
exclude:
  - id: unwanted
first:
  test.succeed_with_changes:
    - name: one
    - onlyif: 'true'
    - order: 5
{target}/f:
  file.managed:
    - contents: |
        {{ data.text }} {% for i in range(n) %}{{ i }} {% endfor %}.
    - mode: '0644'
    - makedirs: True
    - require: [{test: first}]
    - watch_in:
        - cmd: react
react:
  cmd.wait:
    - name: echo {{ pillar['word'] | upper }}
    - env: [{A: b}, {C: 1}]
    - retry: {attempts: 1, interval: 1}
many:
  test.nop:
    - names: [a, b, {c: [{order: last}]}]
    - require_any: [{test: first}]
    - unless: [{fun: test.false}, 'false']
    - listen: [{file: {target}/f}]
chain:
  - 'test: first -> file: {target}/f ~> cmd: react'
edited:
  file.replace:
    - name: {target}/f
    - pattern: '[0-9]+'
    - repl: x
    - parallel: True
  test.check_pillar:
    - present: [word]
unwanted: test.nop
"""
OTHERS = {
    "states/b.sls": "base file:\n  file.managed:\n    - name: {target}/b\n    - contents: &c text\n    - check_cmd: 'true'\n",
    "states/c.sls": "#!jinja|yaml\nc:\n  module.run:\n    - test.echo: [{text: x}]\nd:\n  test.configurable_test_state: [{changes: Random}, {result: true}]\n",
    "states/map.jinja": "{% set data = {'text': 'hello'} %}{% macro m(x) %}[{{ x }}]{% endmacro %}\n",
    "states/top.sls": "base:\n  '*':\n    - a\n  'os:Debian':\n    - match: grain\n    - b\n  'G@id:m1 and not E@x.*':\n    - match: compound\n    - c\n",
    "pillar/top.sls": "base:\n  '*': [p]\n  'm*': [q]\n",
    "pillar/p.sls": "word: {{ 'x' * 3 }}\ncount: 2\ndeep: {a: [1, 2, {b: ~}], password: hunter2hunter2}\n",
    "pillar/q.sls": "include:\n  - p:\n      defaults: {z: 1}\n      key: sub\nlist: [1, 2]\n",
    "runner.d/x.yaml": "id: m1\nfailhard: false\nstate_auto_order: true\nnodegroups: {g: 'm1,m2'}\njinja_sls_env: {trim_blocks: true}\nsecret_keys: [password]\nhistory_runs: 5\n",
    "grains": "role: [web, db]\n",
}
WORDS = re.compile(r"\w+|\s+|[^\w\s]")
TOKENS = (
    *"[]{}:,-|>&*!%@`'\"#?~=<>/.\\\t\n ",
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "- ",
    ": ",
    "  ",
    "\n- ",
    "---\n",
    "...\n",
    "<<: ",
    "*a",
    "&a ",
    "!!binary ",
    "null",
    "true",
    "''",
    '"',
    "0o17",
    "1e999",
    "-1",
    ".nan",
    "9" * 40,
    "include",
    "extend",
    "exclude",
    "require",
    "watch",
    "prereq",
    "listen_in",
    "onfail_any",
    "use",
    "names",
    "order",
    "retry",
    "onlyif",
    "unless",
    "check_cmd",
    "chain",
    "defaults",
    "name",
    "fun",
    "noop",
    "pillar",
    "grains",
    "salt['test.echo'](1)",
    "loop",
    "namespace()",
    "{% for x in y %}",
    "{% if %}",
    "{% endif %}",
    "{% import_yaml 'b.sls' as z %}",
    "{% call m() %}",
    "| yaml",
    "| json",
    "| tojson",
    "__slot__:salt:test.echo(1)",
    "\0",
    "\x1b",
    "\u2028",
    "\ufeff",
    "\udcff",
    "é",
    "日本",
    "\r\n",
    "A" * 3000,
)


def mangled(text: str, chance: random.Random) -> str:
    """A text with some things wrong in it."""
    parts = WORDS.findall(text)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        if not parts:
            return chance.choice(TOKENS)
        at = chance.randrange(len(parts))
        how = chance.randrange(8)
        if how == 0:
            del parts[at]
        elif how == 1:
            parts.insert(at, chance.choice(TOKENS))
        elif how == 2:
            parts[at] = chance.choice(TOKENS)
        elif how == 3:
            parts[at] = parts[chance.randrange(len(parts))]
        elif how == 4:
            del parts[at : at + chance.randrange(20)]
        elif how == 5:
            parts[at:at] = parts[chance.randrange(len(parts)) :][: chance.randrange(30)]
        elif how == 6:
            other = chance.randrange(len(parts))
            parts[at], parts[other] = parts[other], parts[at]
        else:
            letters = list(parts[at])
            letters[chance.randrange(len(letters))] = chr(
                chance.choice([chance.randrange(128), chance.randrange(0x3000)])
            )
            parts[at] = "".join(letters)
    return "".join(parts)


def judged(score: Score, ended: Ended, what: str) -> bool:
    said = ended.out + ended.err
    before = len(score.wrong)
    score.check(ended.code in (0, 1, 2), f"{what}: exit code {ended.code}: {said[-500:]}")
    for word in BAD:
        score.check(word not in said, f"{what}: {said[-900:]}")
    score.check(ended.code == 0 or bool(said.strip()), f"{what}: code {ended.code} and not a word")
    score.check(ended.seconds < 60, f"{what}: {ended.seconds:.0f} s")
    score.check(ended.megabytes < 1000, f"{what}: {ended.megabytes:.0f} MB")
    return len(score.wrong) == before


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=3000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", type=Path, help="where to keep the trees that went wrong")
    options = parser.parse_args()
    warm()
    chance, score = seeded(options.seed), Score("mangled files")
    codes: dict[int, int] = {}
    with tempfile.TemporaryDirectory(prefix="runner-fuzz-") as folder:
        tree = Tree(Path(folder))
        files = {"states/a.sls": SLS, **OTHERS}
        for name, text in files.items():
            tree.write(name, text)
        clean = tree.run("highstate")
        score.check(clean.code == 0, f"the tree as it is: {clean}")
        for number in range(options.trials):
            name = "states/a.sls" if chance.random() < 0.5 else chance.choice(list(files))
            text = mangled(files[name], chance)
            tree.write(
                name,
                text.replace("{target}", str(tree.target)).encode(
                    "utf-8", "surrogateescape" if "\udcff" in text else "strict"
                ),
            )
            words = chance.choice(
                [
                    ("highstate",),
                    ("highstate", "--test"),
                    ("sls", "a"),
                    ("check",),
                    ("highstate", "--out", "json"),
                    ("show", "lowstate"),
                ]
            )
            ended = tree.run(*words)
            score.trials += 1
            codes[ended.code] = codes.get(ended.code, 0) + 1
            if (
                not judged(score, ended, f"trial {number}, {name}, {' '.join(words)}")
                and options.keep
            ):
                options.keep.mkdir(parents=True, exist_ok=True)
                kept = {
                    "words": words,
                    "name": name,
                    "text": text,
                    "out": ended.out,
                    "err": ended.err,
                }
                (options.keep / f"{number}.json").write_text(json.dumps(kept, indent=1))
            tree.write(name, files[name])
    print(f"exit codes: {dict(sorted(codes.items()))}")
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
