# SPDX-License-Identifier: Apache-2.0
"""Secrets are searched for in everything that runs leave or say: streams, reports, logs, history, events, metrics, caches,
crash reports; in plain and in other forms. Only the files that are to hold them may.

    python bench/faults/sinks.py
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import string
import sys
import tempfile
from pathlib import Path

from common import Score, Tree, seeded, warm

from runner.support.redaction import forms as secret_forms

SLS = """
{% set db = pillar['db'] %}
{target}/managed:
  file.managed:
    - contents: |
        user = root
        password = {{ db['password'] }}
{target}/template:
  file.managed:
    - source: salt://template
    - template: jinja
    - context: {token: {{ db['token'] | yaml_dquote }}}
{target}/appended:
  file.append:
    - text: {{ ('password ' ~ db['password']) | yaml_dquote }}
{target}/key:
  file.managed:
    - contents_pillar: db:private_key
{target}/ini:
  ini.options_present:
    - sections: {main: {password: {{ db['password'] | yaml_dquote }}}}
{target}/serialized:
  file.serialize:
    - dataset: {password: {{ db['password'] | yaml_dquote }}}
    - serializer: json
replaced:
  file.replace:
    - name: {target}/appended
    - pattern: {{ db['password'] | regex_escape | yaml_dquote }}
    - repl: {{ db['token'] | yaml_dquote }}
echoes:
  cmd.run:
    - name: printf '%s\\n' "$WORD" | tee {target}/echoed; printf '%s\\n' "$WORD" | base64 -w0; printf 'u:%s' "$WORD" | base64 -w0
    - env: [{WORD: {{ db['password'] | yaml_dquote }}}]
fails:
  cmd.run:
    - name: printf '%s\\n' "$WORD" >&2; exit 3
    - env: [{WORD: {{ db['token'] | yaml_dquote }}}]
reads:
  cmd.run:
    - name: cat
    - stdin: {{ db['password'] | yaml_dquote }}
named {{ db['token'] }}:
  test.fail_without_changes: []
no such folder:
  file.managed:
    - name: /nonexistent/{{ db['token'] }}/f
    - contents: x
fetched:
  file.managed:
    - name: {target}/fetched
    - source: {{ ('http://user:' ~ db['token'] ~ '@127.0.0.1:9/x?key=' ~ db['token']) | yaml_dquote }}
    - skip_verify: True
cloned:
  git.latest:
    - name: {{ ('http://user:' ~ db['token'] ~ '@127.0.0.1:9/x.git') | yaml_dquote }}
    - target: {target}/clone
slot:
  cmd.run:
    - name: __slot__:salt:test.echo({{ ('true ' ~ db['token']) | yaml_dquote }})
guarded:
  cmd.run:
    - name: 'true'
    - unless: test {{ db['token'] | yaml_dquote }} = x
marked:
  cmd.run:
    - name: cat {target}/hidden
    - no_log: True
"""
MISTAKES = {
    "undefined": "x: {{ pillar['db']['password'] }}{{ nothing }}\n",
    "raised": "{{ raise(pillar['db']['password']) }}\n",
    "python": "#!py\ndef run():\n    raise ValueError(__pillar__['db']['password'])\n",
    "yaml": "x:\n  test.nop:\n    - {{ pillar['db']['token'] }}: [\n",
    "argument": "x:\n  test.nop:\n    - {{ pillar['db']['token'] }}: 1\n  file.managed:\n    - mode: {{ pillar['db']['token'] }}\n",
    "requisite": "x:\n  test.nop:\n    - require: [{test: '{{ pillar['db']['token'] }}'}]\n",
    "function": "x:\n  test.{{ pillar['db']['token'] }}: []\n",
    "include": "include: ['{{ pillar['db']['token'] }}']\n",
    "twice": "{{ pillar['db']['token'] }}: {test.nop: []}\n{{ pillar['db']['token'] }}: {test.nop: []}\n",
    "division": "{{ (pillar['db']['token'] | length) / 0 }}{{ pillar['db']['token'] }}\n",
}
RUNS = (
    ("sls", "a", "--test"),
    ("sls", "a", "--test", "-v"),
    ("sls", "a", "-v"),
    ("sls", "a", "--out", "json"),
    ("sls", "a", "--out", "yaml"),
    ("sls", "a", "--out", "junit"),
    ("sls", "a", "--events", "-"),
    ("sls", "a", "--events", "EVENTS", "-l", "debug", "--log-file", "LOG"),
    ("sls", "a", "-l", "debug", "--detailed-exitcodes"),
    ("check", "a"),
    ("check", "a", "--out", "json"),
    ("show", "pillar"),
    ("show", "pillar", "--out", "json"),
    ("show", "sls", "a"),
    ("show", "low-sls", "a", "--out", "json"),
    ("show", "highstate", "--out", "yaml"),
    ("show", "lowstate", "--out", "json"),
    ("show", "graph"),
    ("show", "graph", "--out", "html"),
    ("show", "graph", "--out", "json"),
    ("show", "pending"),
    ("why", "replaced", "a"),
    ("why", "replaced", "a", "--out", "json"),
    ("call", "pillar.get", "db:password"),
    ("call", "pillar.items", "--out", "json"),
    ("call", "cmd.run", "cat TARGET/echoed"),
    ("call", "file.read", "TARGET/managed"),
    ("history",),
    ("history", "show", "3"),
    ("history", "show", "last", "--out", "json"),
    ("history", "diff", "3", "4", "--out", "json"),
    ("undo", "--test"),
    ("undo", "--out", "json"),
    ("single", "test.nop", "name=TOKEN"),
    ("single", "no.such", "name=TOKEN"),
)


@functools.cache
def forms(secret: str) -> dict[str, bytes]:
    """A secret as it may stand somewhere, each form once."""
    found = {
        form.rstrip("="): name for name, form in secret_forms.forms(secret).items() if len(form) > 6
    }
    return {name: form.encode() for form, name in found.items()}


def search(score: Score, where: str, data: bytes, secrets: list[str]) -> None:
    for secret in secrets:
        for name, form in forms(secret).items():
            if form in data:
                at = data.index(form)
                score.check(False, f"{where}: {name}: {data[max(0, at - 60) : at + 60]!r}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, help="only each so manieth command")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    warm()
    chance, score = seeded(options.seed), Score("secrets in sinks")
    letters = string.ascii_letters + string.digits
    password = "Pw&/+'\"% " + "".join(chance.choices(letters, k=12))
    # a state is called by it, and what may be a word stays visible there
    token = chance.choice(string.digits) + "".join(chance.choices(letters, k=19))
    key = "-----BEGIN KEY-----\n" + "\n".join(
        "".join(chance.choices(letters, k=64)) for _ in range(4)
    )
    secrets = [password, token, *key.split("\n")[1:], "another-secret-word"]
    with tempfile.TemporaryDirectory(prefix="runner-sinks-") as folder:
        os.environ["TMPDIR"] = folder
        tempfile.tempdir = None
        tree = Tree(Path(folder), prometheus_textfile=f"{folder}/prom")
        tree.write("states/a.sls", SLS)
        tree.write("states/top.sls", "base: {'*': [a]}\n")
        tree.write("states/template", "token={{ token }}\n")
        tree.write("pillar/top.sls", "base: {'*': [db]}\n")
        tree.write(
            "pillar/db.sls",
            json.dumps({"db": {"password": password, "token": token, "private_key": key}}),
        )
        tree.write("target/hidden", "another-secret-word\n")
        tree.write("target/appended", f"old {password}\n")
        for name, text in MISTAKES.items():
            tree.write(f"states/mistake_{name}.sls", text)
        more = [
            (verb, f"mistake_{name}", *out)
            for name in MISTAKES
            for verb in ("sls", "check")
            for out in ((), ("--out", "json"))
        ]
        for words in (*RUNS, *more)[:: options.every]:
            changed = {
                "EVENTS": f"{folder}/events",
                "LOG": f"{folder}/log",
                "TARGET": str(tree.target),
                "TOKEN": token,
            }
            for old, new in changed.items():
                words = tuple(word.replace(old, new) for word in words)
            ended = tree.run(*words)
            score.trials += 1
            search(score, f"{' '.join(words)[:60]}, stdout", ended.out.encode(), secrets)
            search(score, f"{' '.join(words)[:60]}, stderr", ended.err.encode(), secrets)
            score.check(ended.code in (0, 1, 2, 4, 6), f"{words}: {ended}")
        allowed = ("states/", "pillar/", "target/", "cache/state/undo/")
        for path in sorted(tree.folder.rglob("*")):
            name = str(path.relative_to(tree.folder))
            # compiled templates are as secret as the pillar itself
            if name.startswith("cache/") and path.is_file():
                score.check(path.stat().st_mode & 0o077 == 0, f"{name} can be read by others")
            if path.is_file() and not name.startswith((*allowed, "cache/templates/")):
                score.trials += 1
                search(score, f"the file {name}", path.read_bytes(), secrets)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
