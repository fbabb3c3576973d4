# SPDX-License-Identifier: Apache-2.0
"""No test races with a program that it has just started: starts are those of support/starting.py.

What is raw has a reason: it is what the test is about.
"""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import starting

TESTS = Path(__file__).parent
# `&` at the end of a command of shell, and what takes a program out of its session
IN_THE_BACKGROUND = re.compile(
    r"\b(setsid|nohup)\b|(?<![&>|<])&\s*($|[\n;)]|(while|until|echo|sleep)\b)"
)
RAW = {
    "test_nothing_waits.py": "what a command leaves in the background is ended with it",
    "test_unattended.py": "what a command leaves in the background is ended with it",
    "test_waiting.py": "it looks for them",
    "machine/test_services.py": "a service that dies a while after its start, and what is at rest",
    "modules/test_processes.py": "a start that takes long",
    "runner/output/test_output.py": "what must not come back within some ticks",
    "runner/cli/test_root.py": "what a run leaves in the background is ended with it",
    "test_full_disk.py": "a server that is slow",
    "runner/cli/test_notifying.py": "what a hook leaves in the background stays there",
    "runner/tools/test_search.py": "command lines that people look up",
}


def raw(path: Path) -> Iterator[str]:
    """Yield what a file starts without waiting until it is there, and what waits by the clock."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Constant(value=str(text)) if len(text) > 1:
                found = IN_THE_BACKGROUND.search(text)
            case ast.Call(func=ast.Attribute(value=ast.Name(module), attr=name)):
                found = (module, name) in (("time", "sleep"), ("subprocess", "Popen"))
            case _:
                continue
        if found:
            yield f"{path.relative_to(TESTS)}:{node.lineno}: {ast.unparse(node)[-70:]}"


def files() -> Iterator[Path]:
    """Yield all tests; what supports them knows how to wait."""
    yield from (path for path in TESTS.rglob("*.py") if path.parent.name != "support")


def test_programs_are_started_by_what_waits_until_they_run() -> None:
    found = [
        each for path in files() if str(path.relative_to(TESTS)) not in RAW for each in raw(path)
    ]
    assert not found, "use Debian.start, or Machine.start, wait_until ... of support/starting.py"


def test_reasons_are_still_needed() -> None:
    assert [name for name in RAW if not [*raw(TESTS / name)]] == []


@pytest.mark.parametrize(
    "line", ["sleep 9 &", "a & b=$!; (c &); wait", "a >b 2>&1 & until c; do d; done", "setsid -f a"]
)
def test_the_rule_sees_them(line: str) -> None:
    assert IN_THE_BACKGROUND.search(line)


def test_a_start_returns_once_the_program_runs(tmp_path: Path) -> None:
    words = ("exec sh -c 'touch begun; exec sleep 1000'",)
    done = shell(starting.starts(*words, ready=f"test -e {tmp_path}/begun", cwd=str(tmp_path)))
    pid = int(done.stdout)
    os.kill(pid, signal.SIGKILL)
    gone = starting.waits(f"! grep -v '[)] Z' /proc/{pid}/stat")
    assert shell(gone).returncode == 0


def test_what_never_comes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    done = shell(starting.starts("sh", "-c", "exit 3", ready="test -e /none"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "ended with 3 before: test -e /none" in done.stderr
    monkeypatch.setattr(starting, "PATIENCE", 0.1)
    done = shell(starting.starts("sleep", "3", ready="test -e /none"))
    assert "waited 0.1 seconds for: test -e /none" in done.stderr
    assert "waited 0.1 seconds for: test -e /none" in shell(starting.waits("test -e /none")).stderr
    with pytest.raises(AssertionError, match=r"waited 0.1 seconds for: the moon"):
        starting.wait_until(bool, "the moon")


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True)


def test_a_run_that_hangs_ends_with_its_test_and_holds_up_nothing(tmp_path: Path) -> None:
    """pytest itself has to end after such a failure."""
    test = (
        "from prestarted import Server\n"
        "def test_it():\n"
        "    server = Server({'PATH': '/usr/bin:/bin', 'HOME': '/', 'PYTHONPATH': ROOT})\n"
        "    server.run(['single', 'cmd.run', 'sleep 1000', '--cachedir', CACHE], {}, 3)\n"
    ).replace("ROOT", repr(str(TESTS.parent)))
    (tmp_path / "test_it.py").write_text(test.replace("CACHE", repr(str(tmp_path / "c"))))
    words = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{TESTS}/support"},
        timeout=starting.PATIENCE,
    )
    assert "TimeoutExpired" in done.stdout and "1 failed" in done.stdout, done.stdout + done.stderr
