# SPDX-License-Identifier: Apache-2.0
"""Looks that are kept for the run, until what they read changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness import HarnessHere

from modules import _paths, aliases, sysctl
from modules.ssh import keys
from runner.api import cached_look, forget_looks, running


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


def test_what_the_start_and_sshd_read_is_looked_at_once_for_many_states(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A run that had nothing to do took the longer, the more files were there, for each state."""
    asked: list[str] = []
    later = tmp_path / "99-zz.conf"
    later.write_text("vm.a = 1\nvm.b = 1\n")

    def glob(pattern: str) -> list[str]:
        asked.append(pattern)
        return [str(later)] * pattern.startswith(sysctl.FOLDER)

    def text_of(path: str) -> str:
        asked.append(path)
        return "AuthorizedKeysFile /etc/keys/%u\n" if path == keys.SSHD else ""

    monkeypatch.setattr(sysctl.systemd, "suits", lambda: True)
    monkeypatch.setattr(_paths, "glob", glob)
    monkeypatch.setattr(_paths, "text_of", text_of)
    with running(HarnessHere()):
        for name, told in (("vm.a", True), ("vm/b", True), ("vm.c", False)):
            lost = sysctl.lost_at_start(name, "2", f"{sysctl.FOLDER}/99-salt.conf")
            assert (f"sets it to 1: {later} is read" in lost) is told
            assert "AuthorizedKeysFile" in keys.not_read("root", ".ssh/authorized_keys")
    assert len(asked) == len(sysctl.READ_AT_START) + 1


def test_files_that_the_start_reads_are_read_once_for_each_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Who sets a parameter by a program has looks forgotten, each time."""
    files = [tmp_path / f"6{n}.conf" for n in range(6)]
    for path in files:
        path.write_text(f"vm.a = {path.stem}\n")
    read: list[str] = []
    text_of = sysctl.file.text_to_edit

    def text_to_edit(path: str) -> str:
        read.append(path)
        return text_of(path)

    monkeypatch.setattr(sysctl.file, "text_to_edit", text_to_edit)
    monkeypatch.setattr(sysctl.systemd, "suits", lambda: True)
    found = [str(path) for path in files]
    monkeypatch.setattr(_paths, "glob", lambda at: found * at.startswith(sysctl.FOLDER))
    with running(HarnessHere()):
        for last in ("65", "65", "65", "700"):
            if last == "700":
                files[-1].write_text("vm.a = 700\n")
            forget_looks(None)
            lost = sysctl.lost_at_start("vm.a", "2", f"{sysctl.FOLDER}/50-own.conf")
            assert f"sets it to {last}: {files[-1]} is read" in lost
    assert read == [*found[::-1], found[-1]]


def test_an_alias_is_looked_for_in_the_lines_that_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of many states looked at all that those before it had added."""
    texts = ["".join(f"a{n}: b{n}\n" for n in range(count)) for count in range(30)]
    looked: list[str] = []
    parse = aliases._split

    def split(line: str) -> tuple[str, str]:
        looked.append(line)
        return parse(line)

    monkeypatch.setattr(aliases, "_split", split)
    for count, text in enumerate(texts):
        monkeypatch.setattr(aliases.file, "text_to_edit", lambda _, text=text: text)
        last = f"a{count - 1}"
        assert aliases.get_target(last) == (f"b{count - 1}" if count else "")
        assert not aliases.has_target(f"a{count}", "b")
    assert len(looked) < 100
