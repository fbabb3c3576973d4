# SPDX-License-Identifier: Apache-2.0
"""Completion: the words that are offered, and the scripts in real shells."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from command import Machine

from runner.cli.commands.completion import candidates

FILES = {
    "web": (
        "nginx:\n  pkg.installed: []\n'a: b c':\n  test.nop: []\n{% set x = 1 %}\nno{{ x }}:\n "
        " test.nop: []\n"
    ),
    "web__conf": "include:\n  - web\n/etc/x:\n  file.managed: []\n",
}


@pytest.fixture
def site(machine: Machine) -> list[str]:
    machine.write(**FILES)
    return machine.argv()[-4:]


CASES: list[tuple[list[str], set[str]]] = [
    (["sc"], {"schema", "schedule"}),
    (["sls", "+", "web"], {"web", "web.conf"}),
    (["sls", "+", "web,web.c"], {"web,web.conf"}),
    (["check", "+", "web.c"], {"web.conf"}),
    (["why", "+", ""], {"nginx", "a: b c", "/etc/x"}),
    (["why", "+", "nginx", "web.c"], {"web.conf"}),
    (["highstate", "+", "--only", "ng"], {"nginx"}),
    (["show", "gr"], {"graph", "grains"}),
    (["show", "graph", "--out", "m"], {"mermaid"}),
    (["check", "--out=s"], {"--out=sarif"}),
    (["highstate", "--detailed"], {"--detailed-exitcodes"}),
    (["highstate", "--config", "x"], {":files"}),
    (["highstate", "--state-tree", ""], {":folders"}),
    (["single", "+", "timez"], {"timezone.system"}),
    (["single", "+", "file.m"], {"file.managed", "file.missing", "file.mknod"}),
    (["single", "+", "pk"], {"pkg.", "pkgrepo."}),
    (["single", "+", "timezone.system", "name=UTC", ""], {"utc=", "validate="}),
    (["call", "+", "user.list"], {"user.list_groups", "user.list_users"}),
    (["doc", "+", "argu"], {"arguments"}),
    (["doc", "+", "lineinf"], {"lineinfile"}),
    (["doc", "config", "history_"], {"history_runs", "history_days"}),
    (["doc", "file.managed", "history_"], set()),
    (["history", "+", "show", ""], {"last"}),
    (["schedule", "r"], {"remove"}),
    (["completion", "z"], {"zsh"}),
    (["nosuch", ""], set()),
]


@pytest.mark.parametrize(
    ("typed", "wanted"), CASES, ids=lambda case: " ".join(case) if isinstance(case, list) else ""
)
def test_what_is_offered(site: list[str], typed: list[str], wanted: set[str]) -> None:
    words = [part for word in typed for part in (site if word == "+" else [word])]
    assert {value for value, _ in candidates(words)} == wanted


@pytest.mark.parametrize(
    "typed",
    [["bash", "runner "], ["bash", "runner sls + we"], ["fish", "s"], ["fish", "sls", "--"]],
    ids=" ".join,
)
def test_a_press_of_the_key_imports_little(
    machine: Machine, site: list[str], typed: list[str]
) -> None:
    program = (
        "import atexit, sys\n"
        "told = lambda: print(*sorted({'typer', 'inspect', 'tempfile'} & sys.modules.keys()))\n"
        "atexit.register(told)\nfrom runner.cli import main; main()\n"
    )
    words = [word.replace("+", " ".join(site)) for word in typed]
    done = subprocess.run(
        [machine.argv()[0], "-c", program, "completion", "candidates", "--", *words],
        env=machine.environment,
        capture_output=True,
        text=True,
    )
    *offered, imported = done.stdout.splitlines()
    assert (offered != [], imported, done.stderr) == (True, "", "")


def test_a_command_is_offered_with_what_its_help_says() -> None:
    described = dict(candidates(["hi"])) | dict(candidates(["sls", "--te"]))
    assert described == {
        "highstate": "Apply everything that the top file assigns to this machine.",
        "history": "List the runs of this machine, or show what they did.",
        "--test": "Change nothing; show what would change.",
    }


def test_a_broken_configuration_is_silence(machine: Machine) -> None:
    machine("completion", "candidates", "--", "fish", "sls", "--config", "/none", "x", code=None)
    done = subprocess.run(
        [
            *machine.argv()[:3],
            "completion",
            "candidates",
            "--",
            "fish",
            "sls",
            "--config",
            "/none",
            "",
        ],
        env=machine.environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("runner sls CONFIG web.c", "web.conf"),
        ("runner why CONFIG ngi", "nginx"),
        ("runner why CONFIG a", r"a:\ b\ c"),
        ("runner why CONFIG 'a: ", "a: b c"),
        ("runner why CONFIG a:\\ ", r"\ b\ c"),
        ("runner show graph --out=merm", "mermaid"),
    ],
)
def test_bash(machine: Machine, site: list[str], tmp_path: Path, line: str, reply: str) -> None:
    assert reply_of_bash(machine, site, tmp_path, line) == (f"{reply}\n", "")


@pytest.mark.parametrize("options", ["", "shopt -s failglob;", "shopt -s nullglob;", "set -eu;"])
def test_bash_takes_no_name_for_a_pattern(
    machine: Machine, site: list[str], tmp_path: Path, options: str
) -> None:
    machine.write(globs="'/etc/h*':\n  test.nop: []\n'/none/[h]*':\n  test.nop: []\n")
    (tmp_path / "f[1]*").touch()
    (tmp_path / "f1x").touch()
    for typed, reply in {
        "why CONFIG '/etc/h": "/etc/h*",
        "why CONFIG /none/": r"/none/\[h\]\*",
        "why CONFIG '/none/": "/none/[h]*",
        "why --config f[": "f[1]*",
        "nosuch ": "",
    }.items():
        answer = reply_of_bash(machine, site, tmp_path, f"runner {typed}", options)
        assert answer == (f"{reply}\n", "")


def test_names_that_no_line_can_hold_are_not_offered(machine: Machine, site: list[str]) -> None:
    for name in ("new\nline", "a\ttab", "esc\x1b[31m"):
        (machine.folder / f"states/{name}.sls").write_text("{}")
    assert {value for value, _ in candidates(["sls", *site, ""])} == {"web", "web.conf"}


def reply_of_bash(
    machine: Machine, site: list[str], tmp_path: Path, line: str, options: str = ""
) -> tuple[str, str]:
    """What the Tab key would put at the end of a line, and what it prints on the terminal."""
    program = tmp_path / "runner"
    argv = machine.argv()
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH={machine.environment['PYTHONPATH']} exec {argv[0]} -c '{argv[2]}'"
        ' "$@"\n'
    )
    program.chmod(0o755)
    line = line.replace("CONFIG", f"--config={site[1]} --cachedir={site[3]}")
    word = line.rpartition(" ")[2]
    script = (
        f"{program} completion bash > {tmp_path}/c; . {tmp_path}/c; compopt() {{ :; }};"
        f' {options} COMP_WORDS=({program} "$1"); COMP_CWORD=1; _runner; echo "${{COMPREPLY[*]-}}"'
    )
    environment = {**machine.environment, "COMP_LINE": line, "COMP_POINT": str(len(line))}
    done = subprocess.run(
        ["bash", "-c", script, "bash", word],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_good_shell(machine: Machine, shell: str) -> None:
    script = subprocess.run(
        [*machine.argv()[:3], "completion", shell],
        env=machine.environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "completion candidates" in script
    if shutil.which(shell):
        assert (
            subprocess.run([shell, "-n"], input=script, text=True, capture_output=True).stderr == ""
        )


def test_completion_of_another_shell(machine: Machine) -> None:
    argv = [*machine.argv()[:3], "completion", "ksh"]
    done = subprocess.run(argv, env=machine.environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "one of bash, zsh, fish" in done.stderr
