# SPDX-License-Identifier: Apache-2.0
"""The folders above a file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command import Machine
from needing import require_root

from modules import file
from states.file._permissions import missing_folders


def test_a_folder_that_another_state_makes_meanwhile_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States that run side by side may make the same one."""
    folder, look = tmp_path / "made", file.is_dir

    def is_dir_and_then_made(path: str) -> bool:
        there = look(path)
        if path == str(folder):
            folder.mkdir(exist_ok=True)
        return there

    monkeypatch.setattr(file, "is_dir", is_dir_and_then_made)
    assert missing_folders(f"{folder}/f") == [str(folder)]


@pytest.mark.parametrize("letter", ["a", "i"])
def test_what_says_the_attributes_of_a_file_may_change_it(machine: Machine, letter: str) -> None:
    require_root("chattr")
    path = machine.folder / "f"
    path.touch()
    if subprocess.run(["chattr", f"+{letter}", path], check=False, capture_output=True).returncode:
        pytest.skip("a file system without attributes")
    for state, mode in (("mode: '0600'", 0o600), ("mode: '0644', contents: x", 0o644)):
        machine.write(a=f"{path}: {{file.managed: [{{{state}, attrs: {letter}}}]}}")
        for words, result in ((["--test"], None), ([], True), (["--test"], True)):
            (done,) = machine.results("sls", "a", *words).values()
            assert done["result"] is result, done["comment"]
        assert path.stat().st_mode & 0o777 == mode
    machine.write(a=f"{path}: {{file.managed: [{{replace: false, attrs: ''}}]}}")
    assert machine.results("sls", "a", "--test") != machine.results("sls", "a")
    path.unlink()
