# SPDX-License-Identifier: Apache-2.0
"""What an owner or a mode was before a change: people see it, Salt's JSON stays."""

from __future__ import annotations

import pytest
from command import Machine

STATES = """
{tmp}/file:
  file.managed:
    - contents: x
    - mode: 640
{tmp}/empty:
  file.managed:
    - replace: false
    - mode: 640
{tmp}/folder:
  file.directory:
    - mode: 750
{tmp}/tree:
  file.directory:
    - file_mode: 600
    - dir_mode: 755
    - recurse: [mode]
{tmp}/copy:
  file.recurse:
    - source: salt://r
    - file_mode: 600
{tmp}/new:
  file.managed:
    - contents: x
    - mode: 640
"""
LINES = """
file.managed  {tmp}/file
mode: 0644 -> 0640
file.managed  {tmp}/empty
mode: 0644 -> 0640
file.directory  {tmp}/folder
{tmp}/folder:
mode: 0700 -> 0750
file.directory  {tmp}/tree
{tmp}/tree/a:
mode: 0644 -> 0600
{tmp}/tree/b:
mode: 0664 -> 0600
mode: 0600
file.recurse  {tmp}/copy
{tmp}/copy/a:
mode: 0644 -> 0600
file.managed  {tmp}/new
mode: 0640
"""


@pytest.mark.parametrize("words", [["--test"], []])
def test_a_report_shows_old_and_new_modes(machine: Machine, words: list[str]) -> None:
    folder = machine.folder
    for path, mode in {
        "file": 0o644,
        "empty": 0o644,
        "tree/a": 0o644,
        "tree/b": 0o664,
        "copy/a": 0o644,
    }.items():
        (folder / path).parent.mkdir(exist_ok=True, mode=0o755)
        (folder / path).write_text("x\n")
        (folder / path).chmod(mode)
    (folder / "folder").mkdir(mode=0o700)
    (folder / "states/r").mkdir()
    (folder / "states/r/a").write_text("x\n")
    machine.write(a=STATES)
    changes = {
        name: each["changes"] for name, each in machine.results("sls", "a", "--test").items()
    }
    assert changes[f"{folder}/file"] == {"mode": "0640"}
    assert changes[f"{folder}/folder"] == {f"{folder}/folder": {"mode": "0750"}, "mode": "0750"}
    report = machine("sls", "a", *words).stdout
    shown = [
        line.strip()
        for line in report.splitlines()
        if "mode" in line or "file." in line or line.endswith(("/a:", "/b:", "/folder:"))
    ]
    shown = [line.removeprefix("would change").removeprefix("changed").strip() for line in shown]
    assert shown == LINES.strip().replace("{tmp}", str(folder)).splitlines()


def test_who_is_not_there_is_said_one_by_one(machine: Machine) -> None:
    machine.write(
        a="{tmp}/f:\n  file.managed:\n    - user: nobody-so-called\n    - group: nobody-so-called\n"
    )
    found = machine.results("sls", "a", "--test", code=2)[f"{machine.folder}/f"]["comment"]
    assert (
        found == "User nobody-so-called is not available\nGroup nobody-so-called is not available"
    )
