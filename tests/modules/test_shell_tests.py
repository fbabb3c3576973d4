# SPDX-License-Identifier: Apache-2.0
"""`test` without a shell: the answers of a shell, and what only a shell can answer."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest
from command import Machine
from harness import HarnessHere
from needing import needs_root

from modules import cmd
from modules._machine import processes
from runner.api import running
from runner.api.shell_tests import shell_test

SEED = 20261123
PATHS = tuple("file empty dir link dangling pipe loop program locked file/x none dir/ .".split())
OPERATORS = ("-e", "-f", "-d", "-s", "-L", "-h", "-r", "-w", "-x", "-n", "-z")
LEFT_TO_A_SHELL = (
    "test -f $HOME",
    "test -f /x*",
    "test -f ~/x",
    "test -f /a && test -f /b",
    "test -f '/a b'",
    "test -f /x\nfalse",
    "test -f /x;false",
    "test -f `pwd`",
    "test -f x",
    "test -p /bin/sh",
    "test -e /proc/self/exe",
    "test -e /dev/stdin",
    "test a = a",
    "test",
    "[",
    "[ ]",
    "test ! ",
    "[ -f /x",
    "[ -f /x ] ]",
    "test -f /x #",
    "test -f /\\x",
    "test -f '/x",
    "tests /x",
    'test -n "$X"',
    "test -n a b",
    "test\t-f /x",
    "test -f /x\r",
    "test -f /ä",
    "test (x)",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").touch()
    (tmp_path / "dir").mkdir()
    (tmp_path / "program").touch(0o755)
    (tmp_path / "locked").touch(0o000)
    (tmp_path / "link").symlink_to("dir")
    (tmp_path / "dangling").symlink_to("none")
    (tmp_path / "loop").symlink_to("loop")
    subprocess.run(["mkfifo", tmp_path / "pipe"], check=True)
    return tmp_path


@pytest.fixture
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*words: object, **named: object) -> None:
        raise AssertionError(f"a program was started: {words}")

    monkeypatch.setattr(processes, "run_to_end", refuse)


def _line(draw: random.Random, folder: Path) -> str:
    """A line that may ask something, may be wrong, or may be more than one question."""
    words = [
        *(["!"] * draw.choice((0, 0, 0, 1, 2))),
        *draw.choice(
            (["-e"], ["-f"], ["-d"], ["-s"], ["-L"], ["-h"], ["-n"], ["-z"], [], ["'-f'"])
        ),
        *draw.choice(([f"{folder}/{draw.choice(PATHS)}"], ["''"], ["5"], ["a=b"], ["-f"], [])),
        *draw.choice(([], [], [], [], ["-a", "x"], ["=", "5"], ["]"])),
    ]
    words = [draw.choice((word, word, f'"{word}"')) if word[0] == "/" else word for word in words]
    text = draw.choice((" ", " ", "  ")).join(words)
    return draw.choice((f"test {text}", f"[ {text} ]", f"test {text}\n", f" test {text}"))


@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
def test_the_answer_is_that_of_a_shell(folder: Path, no_program: None, shell: str) -> None:
    draw, answered = random.Random(SEED), 0
    lines = {_line(draw, folder) for _ in range(4000)}
    with running(HarnessHere()):
        for line in sorted(lines):
            if shell_test(line) is None:
                continue
            answered += 1
            done = subprocess.run([shell, "-c", line], capture_output=True, check=False)
            assert (cmd.retcode(line, ignore_retcode=True), b"") == (
                done.returncode,
                done.stderr,
            ), line
    assert answered > 150


@pytest.mark.parametrize("line", LEFT_TO_A_SHELL)
def test_what_is_more_than_one_plain_question_is_left_to_a_shell(line: str) -> None:
    assert shell_test(line) is None


@pytest.mark.parametrize(
    "option", ["runas", "env", "timeout", "root", "success_stdout", "template"]
)
def test_what_says_how_a_command_runs_takes_a_shell(option: str) -> None:
    assert shell_test("test -f /x", [option]) is None
    assert shell_test("test -f /x", ["ignore_retcode", "python_shell", "umask"]) is not None


def test_an_unusual_shell_is_asked(monkeypatch: pytest.MonkeyPatch, no_program: None) -> None:
    monkeypatch.setenv("SHELL", "/usr/sbin/nologin")
    with running(HarnessHere()), pytest.raises(AssertionError, match="a program was started"):
        cmd.retcode("test -f /x", python_shell=True)


def test_a_guard_sees_an_exit_code(machine: Machine, tmp_path: Path) -> None:
    fails = f"{{fun: cmd.retcode, cmd: test -e {tmp_path}/no}}"
    machine.write(
        t=(
            f"here:\n  test.nop: [{{unless: test -d {tmp_path}}}]\n"
            f"gone:\n  test.nop: [{{onlyif: '[ ! -d {tmp_path} ]'}}]\n"
            f"lost:\n  test.nop: [{{unless: test -d {tmp_path}}}, {{cwd: /no/such/folder}}]\n"
            f"called:\n  test.nop: [{{onlyif: [{fails}]}}]\n"
        )
    )
    found = {name: result["comment"] for name, result in machine.results("sls", "t").items()}
    assert found == {
        "here": "unless condition is true",
        "gone": "onlyif condition is false",
        "lost": "unless condition is true",
        "called": "onlyif condition is false",
    }


@needs_root("to do without its rights")
def test_a_guard_sees_what_is_planned_where_commands_cannot(
    machine: Machine, tmp_path: Path
) -> None:
    """Without the right to mount, commands of a dry run see the machine as it is."""
    made = f"{tmp_path}/made"
    needs = f"{{require: [file: {made}]}}"
    machine.write(
        t=(
            f"{made}:\n  file.managed: [{{contents: x}}]\n"
            f"a:\n  cmd.run: [{{name: 'true'}}, {{unless: test -s {made}}}, {needs}]\n"
            f"b:\n  cmd.run: [{{name: 'true'}}, {{onlyif: test -s {made}}}, {needs}]\n"
            f"c:\n  cmd.run: [{{name: 'true'}}, {{onlyif: grep -q x {made}}}, {needs}]\n"
            f"d:\n  cmd.run: [{{name: 'true'}}, {{onlyif: grep -q x {made}}}]\n"
        )
    )
    locked = ["setpriv", "--bounding-set=-sys_admin"]
    argv = [*locked, *machine.argv("sls", "t", "--test", "--out", "json")]
    done = subprocess.run(argv, capture_output=True, text=True, env=machine.environment, check=True)
    found = {
        result["__id__"]: (result["result"], result["comment"])
        for result in json.loads(done.stdout)["local"].values()
    }
    assert found["a"] == (True, "unless condition is true")
    assert found["b"] == (None, 'Command "true" would have been executed')
    told = f"{made} is only planned (depends on file: {made})"
    assert found["c"] == found["d"] == (None, told)
