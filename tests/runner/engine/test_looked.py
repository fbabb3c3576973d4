# SPDX-License-Identifier: Apache-2.0
"""What the looks of each state ask the machine for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness import HarnessHere

from modules import _paths, cmd, file
from runner.api import cached_look, running
from runner.engine.loader.looked import LookLog


def test_each_state_has_what_it_asked_for_and_what_kept_answers_came_from(tmp_path: Path) -> None:
    (tmp_path / "known").write_text("a")

    @cached_look("inner")
    def inner() -> str:
        return cmd.probe(["cat", f"{tmp_path}/known"]).stdout

    @cached_look("outer", f"{tmp_path}/stamp")
    def outer() -> list[str]:
        return [inner(), *_paths.listdir(str(tmp_path))]

    here: Any = HarnessHere()
    log = LookLog()
    with log.noting(here.stores), running(here):
        for tag in "first", "second":
            here.chunk = SimpleNamespace(tag=tag, args={})
            outer()
        here.chunk = SimpleNamespace(tag="third", args={})
        file.exists(f"{tmp_path}/a/b")
        _paths.glob(f"{tmp_path}/*/c")
        Path("/proc/self/mountinfo").read_text()
    looks = {tag: {*asked} for tag, asked in log.looks().items()}
    both = {("program", "cat"), ("folder", str(tmp_path)), ("folder", f"{tmp_path}/stamp")}
    assert both <= looks["first"]
    assert both <= looks["second"]  # it started no program of its own
    assert ("path", f"{tmp_path}/a/b") in looks["third"]
    assert ("tree", str(tmp_path)) in looks["third"]
    assert ("path", "/proc/self/mountinfo") in looks["third"]
    assert not looks["third"] & both


def test_afterwards_nobody_is_told(tmp_path: Path) -> None:
    here: Any = HarnessHere()
    log, before = LookLog(), _paths.listdir
    with log.noting(here.stores), running(here):
        here.chunk = SimpleNamespace(tag="a", args={})
    assert _paths.listdir is before
    with running(here):
        file.exists(str(tmp_path))
        Path("/proc/self/mountinfo").read_text()
    assert log.looks() == {}
