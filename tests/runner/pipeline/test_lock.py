# SPDX-License-Identifier: Apache-2.0
"""The lock of a run: one at a time, and those who only look together."""

from __future__ import annotations

import fcntl
from contextlib import ExitStack
from pathlib import Path

import pytest
from command import Machine
from starting import wait_until

from runner.pipeline import lock


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "state")


def test_a_run_waits_for_those_who_only_look(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as looks:
        for _ in range(2):
            looks.enter_context(lock.held(folder, only_looks=True))
        monkeypatch.setattr("time.sleep", lambda seconds: looks.close())
        with lock.held(folder), pytest.raises(lock.Locked), lock.held(folder, only_looks=True):
            pass


def test_a_run_does_not_wait_for_ever(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "LONGEST_LOOK", 0.01)
    with (
        lock.held(folder, only_looks=True),
        pytest.raises(lock.Locked, match="under way: `runner watch` looks at states"),
        lock.held(folder),
    ):
        pass


def test_a_run_by_hand_waits_for_a_look(machine: Machine) -> None:
    machine.write(u="a: {test.nop: []}\n")
    machine("sls", "u")
    path = machine.folder / "cache/state/lock"

    def is_open(pid: int) -> bool:
        return any(each.resolve() == path for each in Path(f"/proc/{pid}/fd").iterdir())

    with path.open() as look:
        fcntl.flock(look, fcntl.LOCK_SH)
        with machine.start("sls", "u") as process:
            wait_until(lambda: process.poll() is not None or is_open(process.pid), "it tries")
            fcntl.flock(look, fcntl.LOCK_UN)
            assert process.wait() == 0
