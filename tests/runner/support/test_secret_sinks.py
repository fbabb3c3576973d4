# SPDX-License-Identifier: Apache-2.0
"""Secrets in all forms (the table in runner/support/redaction/forms.py), in all that runs leave or
print.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
import subprocess
from urllib.parse import quote

import pytest
from command import Machine

from runner.support.redaction import HIDDEN, Secrets
from runner.support.redaction.forms import ENCODINGS, forms

NOW, OLD = "Pw&/+'\"% <é>$!Zq7Kd2", "Pw&/+'\"% <é>$!Yo9Mx4"  # both end in what no spelling changes
END = {NOW: "Zq7Kd2", OLD: "Yo9Mx4"}
TREE = """
{% set pw = pillar['db']['password'] %}
{tmp}/forms:
  file.managed:
    - source: {tmp}/source
    - mode: '0600'
{tmp}/link:
  file.symlink:
    - target: {{ ('/to/' ~ pw) | yaml_dquote }}
    - force: true
{tmp}/ini:
  ini.options_present:
    - sections: {a: {password: {{ pw | yaml_dquote }}}}
{tmp}/kv:
  file.keyvalue:
    - key_values: {password: {{ pw | yaml_dquote }}}
    - append_if_not_found: true
{tmp}/yaml:
  file.serialize:
    - dataset: {outer: {password: {{ pw | yaml_dquote }}}}
prints:
  cmd.run:
    - name: cat {tmp}/source; cat {tmp}/laid_out; exit 3
remains:
  cmd.run:
    - name: cat {tmp}/remains
says:
  cmd.run:
    - name: {{ ('echo ' ~ (pw | quote)) | yaml_dquote }}
{{ ('called ' ~ pw) | yaml_dquote }}:
  test.fail_with_changes: []
logs:
  test.configurable_test_state:
    - comment: {{ pw | yaml_dquote }}
{% do salt['log.error'](pw) %}
clones:
  git.latest:
    - name: http://127.0.0.1:9/x.git
    - target: {tmp}/clone
    - https_user: joe
    - https_pass: {{ pw | yaml_dquote }}
fires:
  event.send:
    - name: told
    - data: {word: {{ pw | yaml_dquote }}}
silent:
  file.symlink:
    - name: {tmp}/silent
    - target: /to/UnkeyedMark
    - no_log: true
"""
TOP = """
{% set pw = pillar['db']['password'] %}
base:
  {{ ('nobody ' ~ pw) | yaml_dquote }}: [{match: glob}, a]
  '*': [{{ ('says ' ~ pw) | yaml_dquote }}]
"""
OWN = """
from runner.api import Resource


def made(name: str) -> str:
    "Made."


def resources(name):
    lines = open("{tmp}/source").read().splitlines()
    if name == "named":
        return [Resource("own.made", line) for line in lines]
    if name == "noted":
        return [Resource("own.made", str(at), note=line) for at, line in enumerate(lines)]
    return [Resource("own.made", "x", {"lines": lines})]
"""
DUMPS = ("xxd", "xxd -p", "od -An -tx1", "od -Ax -tx1", "hexdump -C", "base64", "base64 -w 60")
SINKS = {  # one run was before them: the fourth is the first real one
    "a dry run": ("sls", "a", "--test", "-v"),
    "a dry run, JSON": ("sls", "a", "--test", "--out", "json"),
    "a run, YAML": (
        "sls",
        "a",
        "--out",
        "yaml",
        "--events",
        "EVENTS",
        "-l",
        "debug",
        "--log-file",
        "LOG",
    ),
    "JUnit": ("sls", "a", "--out", "junit"),
    "PuppetDB": ("sls", "a", "--out", "puppetdb"),
    "events": ("sls", "a", "--events", "-"),
    "the history": ("history",),
    "the history of a run": ("history", "show", "4"),
    "the history of a run, JSON": ("history", "show", "4", "--out", "json"),
    "the page of a run": ("history", "show", "4", "--out", "html"),
    "two runs": ("history", "diff", "1", "4"),
    "the versions of a file": ("history", "file", "TARGET/forms"),
    "the versions of a file, JSON": ("history", "file", "TARGET/forms", "--out", "json"),
    "the versions of a link": ("history", "file", "TARGET/link"),
    "undo": ("undo", "4", "--test"),
    "undo, JSON": ("undo", "4", "--test", "--out", "json"),
    "resource": ("resource", "file", "TARGET/forms"),
    "resource, JSON": ("resource", "file", "TARGET/forms", "--out", "json"),
    "resource, arguments": ("resource", "own"),
    "resource, names": ("resource", "own", "named"),
    "resource, notes": ("resource", "own", "noted"),
    "call": ("call", "file.read", "TARGET/forms"),
    "call, JSON": ("call", "cmd.run", "cat TARGET/laid_out", "--out", "json"),
    "check": ("check", "a"),
    "show pillar": ("show", "pillar", "--out", "json"),
    "show top": ("show", "top"),
    "show sls": ("show", "sls", "a"),
    "show low-sls": ("show", "low-sls", "a", "--out", "json"),
    "show graph": ("show", "graph", "a", "--out", "html"),
    "why": ("why", "says", "a"),
    "an error": ("sls", "broken"),
    "an error, events": ("sls", "twice", "--events", "-"),
}


def printed(secret: str) -> str:
    """A line for each form."""
    return "".join(
        f"{number} [{form}]\n"
        for number, form in enumerate(forms(secret).values())
        if "\n" not in form
    )


def laid_out(secret: str) -> str:
    """Return what programs print of it in hexadecimal and in base64, over several lines."""
    parts = []
    for ahead in ("", "user:", "a longer word before it, "):
        for words in DUMPS:
            data = (ahead + secret + " and what comes after it").encode()
            parts.append(
                subprocess.run(
                    shlex.split(words), input=data, capture_output=True, check=True
                ).stdout.decode()
            )
    return "\n".join(parts)


def leaks(secret: str, sink: str) -> list[str]:
    """Return what can be read of a secret: the end that all spellings share, and its encodings."""
    needles = {"spelled": END[secret]}
    data = secret.encode()
    for name, encode in ENCODINGS.items():
        for number, text in enumerate(encode(data)):
            needles[f"{name}, {number}"] = max(
                re.findall("[A-Za-z0-9]+", text.rstrip("=")[2:-2]), key=len
            )
    # what dumps show of it: the last bytes, and groups of these
    tail = [f"{byte:02x}" for byte in END[secret].encode()]
    needles |= {"bytes": " ".join(tail[:4]), "pairs": f"{tail[-4]}{tail[-3]} {tail[-2]}{tail[-1]}"}
    return [f"{name}: {needle}" for name, needle in needles.items() if needle in sink]


@pytest.fixture(scope="module")
def sinks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what there is to read after a secret was changed and all commands were called."""
    machine = Machine(tmp_path_factory.mktemp("sinks"))
    machine.config["prometheus_textfile"] = str(machine.folder / "prom")
    machine.config["report"] = {"to": "file:reports"}
    machine.config["html_report"] = "pages"
    for folder in ("reports", "pages"):
        (machine.folder / folder).mkdir()
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/own.py").write_text(OWN.replace("{tmp}", str(machine.folder)))
    machine.write(a=TREE, top=TOP, pillar__top="base: {'*': [db]}\n")
    machine.write(
        twice="include: [a]\n{{ ('called ' ~ pillar['db']['password']) | yaml_dquote }}:\n"
        "  test.nop: []\n"
    )
    machine.write(broken="x:\n  test.nop:\n    - {{ pillar['db']['password'] | yaml_dquote }}: [\n")
    remains = f'a: "{OLD}",\nb = {OLD}\nc={OLD}\n{base64.b64encode(OLD.encode()).decode()}\n'
    (machine.folder / "remains").write_text(remains + f"http://joe:{quote(OLD, safe='')}@host/\n")
    outputs = {}
    for secret in (OLD, NOW):
        machine.write(pillar__db=json.dumps({"db": {"password": secret}}))
        (machine.folder / "source").write_text(printed(secret))
        (machine.folder / "laid_out").write_text(laid_out(secret))
        if secret == OLD:
            assert "**********" in machine("sls", "a", code=2).stdout
    for sink, words in SINKS.items():
        changed = {
            "TARGET": str(machine.folder),
            "EVENTS": f"{machine.folder}/events",
            "LOG": f"{machine.folder}/log",
        }
        for old, new in changed.items():
            words = tuple(word.replace(old, new) for word in words)
        done = machine(*words, code=None)
        outputs[sink] = done.stdout + done.stderr
    state = machine.folder / "cache/state"
    for path in [*state.iterdir(), *(machine.folder / name for name in ("events", "log", "prom"))]:
        if path.is_file():
            outputs[f"the file {path.name}"] = path.read_bytes().decode(errors="replace")
            assert path.name == "prom" or path.stat().st_mode & 0o077 == 0, (
                f"{path.name} can be read by others"
            )
    for name in ("report", "page"):
        written = (machine.folder / f"{name}s").iterdir()
        outputs[f"the file {name}"] = "".join(path.read_text() for path in written)
    return outputs


FILES = ("history.sqlite", "lock", "former-secrets", "events", "log", "prom", "report", "page")


@pytest.mark.parametrize("sink", [*SINKS, *(f"the file {name}" for name in FILES)])
def test_no_form_is_in_a_sink(sinks: dict[str, str], sink: str) -> None:
    assert sinks[sink]
    assert leaks(NOW, sinks[sink]) == []


@pytest.mark.parametrize("sink", [*SINKS, *(f"the file {name}" for name in FILES)])
def test_no_form_of_the_old_secret_is_in_a_sink(sinks: dict[str, str], sink: str) -> None:
    assert leaks(OLD, sinks[sink]) == []
    assert "UnkeyedMark" not in sinks[sink] or sink in ("show sls", "show low-sls"), (
        "a state with no_log"
    )


def test_the_test_would_see_them(sinks: dict[str, str]) -> None:
    assert "link: points to /to/********** (another) instead of /to/**********\n" in sinks["undo"]
    for secret in (OLD, NOW):
        assert [name for name, text in forms(secret).items() if not leaks(secret, text)] == []
        assert len(leaks(secret, laid_out(secret))) > 3


VALUES = (
    NOW,
    "plain0word1X",
    "a\\b\tc%d{e}`f`|~^#@*;()[]",
    "first line of it\nthe second of it",
    "日本語パスワード",
)


@pytest.mark.parametrize("value", VALUES)
def test_each_form_is_found(value: str) -> None:
    secrets = Secrets()
    secrets.add(value)
    shown = {name: secrets.mask(f"before [{form}] after") for name, form in forms(value).items()}
    whole = re.compile(
        rf"before \[\S?{re.escape(HIDDEN)}[^A-Za-z]{{0,8}}[A-Za-z0-9]{{0,3}}[^A-Za-z]{{0,12}}\]"
        r" after"
    )
    assert {name: text for name, text in shown.items() if not whole.fullmatch(text)} == {}


@pytest.mark.parametrize("width", [20, 64, 76])
@pytest.mark.parametrize("ahead", ["", "u:", "us:", "usr:", "x" * 50])
def test_base64_over_several_lines(width: int, ahead: str) -> None:
    secrets = Secrets()
    secrets.add(NOW)
    coded = base64.b64encode(f"{ahead}{NOW} and more".encode()).decode()
    lines = [coded[at : at + width] for at in range(0, len(coded), width)]
    for joint in ("\n", "\r\n", "\n  ", "\n+", "\\n", "\\\\n"):
        assert leaks(NOW, secrets.mask(joint.join(lines)).replace("\n", "")) == []


def key(word: str) -> str:
    kind = "RSA PRIVATE KEY"
    return f"-----BEGIN {kind}-----\n{word}abcdefghijklmnop\n-----END {kind}-----\n"


def test_a_private_key_is_a_secret_under_any_name(machine: Machine) -> None:
    """In the pillar, among arguments, and in a file whose difference is shown."""
    machine.write(
        pillar__top="base: {'*': [web]}\n",
        pillar__web=json.dumps({"web": {"key": key("OURS"), "keys": [key("LISTED")]}}),
        a="{tmp}/f: {file.managed: [contents_pillar: 'web:key']}\n"
        "{tmp}/g: {file.append: [name: {tmp}/f, text: more]}\n"
        f"{{tmp}}/h: {{file.managed: [{{contents: {json.dumps(key('ARGUMENT'))}}}]}}\n",
    )
    for name in "fh":
        (machine.folder / name).write_text(key(f"OLD{name}"))
    told = machine("show", "pillar").stdout
    for words in (["sls", "a", "--test"], ["sls", "a"], ["history", "show", "--out", "json"]):
        told += machine(*words).stdout
    assert not re.findall("OURS|LISTED|ARGUMENT|OLD", told)
    assert told.count("BEGIN RSA") >= 4
    assert "OURS" in (machine.folder / "f").read_text()
