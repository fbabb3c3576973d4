# SPDX-License-Identifier: Apache-2.0
"""`find` in maintainer scripts: of the planned files the same as the program says of real ones."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from harness import HarnessHere

from modules import file
from modules.pkg._scripts import find
from runner.api import changes_allowed, running
from runner.api.planning import changes_planned

TOLD = [
    "top",
    "",
    ".",
    "./top/",
    "top/ -maxdepth 0 -printf %p,%P,%d,%m\\n",
    "top none",
    "top/a -print0",
    "top -name a",
    "top -name '*.c?nf' -o -name 'empty*' -a -type f",
    "top -name . -o -name '*' -print",
    "top -maxdepth 1 -type d",
    "top -mindepth 1 -maxdepth 2 ! -name '*.conf' -print",
    "top -mindepth 1 ! ( -name '*.conf' -o -type l ) -printf %f:%P:%%\\n",
    "-L top -type f",
    "-H top/folder -type f",
    "top/folder -type f",
    "top/folder/ -type f",
    "top -follow -name '*.conf'",
    "top -type f,l",
    "top -type l -printf %m\\0",
    "top -empty",
    "top -perm 640",
    "top -perm -600 -type f",
    "top -perm /111 -type f",
    "top -perm /000 -type f",
    "top -uid 0 -gid 0 -o -print",
    "top -user root -print",
    "top ! -user root",
    "top -user nobody-of-this-name",
    "top -group nobody-of-this-name -o -print",
    "top -path 'top/*/b' -o -path 'top/a/*'",
    "top -name b -prune -o -print",
    "top -depth -name 'a*'",
    "top -name one.conf -quit",
    "top -not -type d -true",
]
# what only the program can tell
BEYOND = [
    "top -newer top/a",
    "top -name '[^a]*'",
    "top -regex .*",
    "top -printf %t\\n",
    "top -printf \\a",
    "top -mmin -5",
    "top -perm u=rw",
    "top -type D",
    "top -maxdepth",
    "top (",
    "top -name a )",
    "top -xdev",
    "top -uid +1",
    "top , -print",
    "top -o",
]


def made(top: str) -> None:
    file.makedirs(f"{top}/top/a/b")
    file.makedirs(f"{top}/top/b", mode="0711")
    file.write(f"{top}/top/a/one.conf", b"x", mode="0640")
    file.write(f"{top}/top/a/b/\u00e4.conf", b"x", mode="0644")
    file.write(f"{top}/top/b/two.conf", b"x", mode="0755")
    file.write(f"{top}/top/b/empty", b"", mode="0600")
    for name, target in (("folder", "a"), ("a/up", ".."), ("dangling", "nowhere")):
        file.symlink(target, f"{top}/top/{name}")


def parts(text: str | None) -> list[str]:
    """What is printed, whatever its order."""
    return sorted(re.split(r"[\n\0]", text or ""))


def test_planned_files_are_found_as_the_program_finds_real_ones(tmp_path: Path) -> None:
    dry, real = tmp_path / "dry", tmp_path / "real"
    for folder in (dry, real):
        folder.mkdir()
    with running(HarnessHere()), changes_allowed():
        made(str(real))
    with running(HarnessHere(dry=True)), changes_planned():
        made(str(dry))
        for line in TOLD:
            words = shlex.split(line.replace("\\", "\\\\"))
            done = subprocess.run(
                ["find", *words],
                cwd=real,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                capture_output=True,
                text=True,
            )
            outcome = find.found(words, str(dry))
            assert outcome is not None, line
            told = outcome.status, parts(outcome.output)
            assert told == (done.returncode, parts(done.stdout)), line


@pytest.mark.parametrize("line", BEYOND)
def test_what_only_the_program_can_tell_is_left_to_it(line: str, tmp_path: Path) -> None:
    with running(HarnessHere(dry=True)), changes_planned():
        made(str(tmp_path))
        assert find.found(shlex.split(line.replace("\\", "\\\\")), str(tmp_path)) is None


def test_folders_without_end_are_left_to_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MOST", 3)
    with running(HarnessHere(dry=True)), changes_planned():
        made(str(tmp_path))
        assert find.found(["top"], str(tmp_path)) is None
        assert find.found(["top", "-maxdepth", "0"], str(tmp_path)) is not None
