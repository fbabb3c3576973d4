# SPDX-License-Identifier: Apache-2.0
"""Looks that are kept for the run, until what they read changes."""

from __future__ import annotations

import os
from pathlib import Path

from harness import HarnessHere

from runner.api import cached_look, running


def test_a_look_is_made_again_when_its_file_changed_whoever_did_it(tmp_path: Path) -> None:
    looks: list[str] = []
    path = tmp_path / "ann"

    @cached_look("files of users", f"{tmp_path}/{{0}}", str(tmp_path / "nowhere"))
    def read(user: str) -> str:
        looks.append(user)
        return path.read_text() if path.exists() else ""

    with running(HarnessHere()):
        assert (read("ann"), read("ann"), looks) == ("", "", ["ann"])
        path.write_text("one")
        assert (read("ann"), read("ann"), len(looks)) == ("one", "one", 2)
        os.utime(path, ns=(1, 1))
        (tmp_path / "new").write_text("two")
        os.replace(tmp_path / "new", path)
        assert (read("ann"), len(looks)) == ("two", 3)


def test_a_service_without_an_init_script_does_not_run() -> None:
    from modules.service import sysv

    with running(HarnessHere()):
        assert sysv.status("no-such-service-of-anybody") is False
