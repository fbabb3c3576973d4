# SPDX-License-Identifier: Apache-2.0
"""Whatever changes a file that waits for its name does to it what it does to one that has it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from carried_out import snapshot
from harness import HarnessHere
from sharing import IT, commit, have_wait

from modules import file
from runner.api import StateFailed, changes_allowed, running
from runner.support.files.group_commit import GROUP_COMMIT

# by function: "f" is the file that waits, "g" another one, "d" a folder, "n" nothing yet
CHANGES: dict[str, tuple[tuple[Any, ...], ...]] = {
    "apply_patch": (("f", ["sh", "-c", 'echo new >> "$0"'], [], ""),),
    "chown": (("f", "1", None), ("f", None, "2", False)),
    "copy": (("g", "f"), ("d", "n"), ("f", "n"), ("f", "g")),
    "discard": (("f",),),
    "link": (("g", "f"), ("f", "n")),
    "makedirs": (("f",), ("n/f",)),
    "mkdir": (("f",), ("n",)),
    "mknod": (("f", "p"), ("n", "p")),
    "put_back": (("f", "none"), ("f", "dir", 0o700), ("f", "link", 0, 0, 0, "g")),
    "put_symlink": (("g", "f"),),
    "remove": (("f",), ("d",)),
    "remove_folder": (("f",),),
    "rename": (("f", "n"), ("d", "n")),
    "set_attributes": (("f", "+d"),),
    "set_mode": (("f", "0604"), ("f", "0604", False)),
    "symlink": (("g", "f"),),
    "utime": (("f", 5.0, 6.0),),
    "write": (("f", b"new"), ("n", b"new")),
}


def outcome(folder: Path, name: str, arguments: tuple[Any, ...], waits: bool) -> Any:
    """What a function makes of a folder, and says of it."""
    (folder / "d").mkdir(parents=True)
    for path in ("f", "g", "d/x"):
        (folder / path).write_text(path)
        os.utime(folder / path, (1, 1))
    paths = ("f", "g", "d", "n", "n/f")
    typed = [str(folder / each) if each in paths else each for each in arguments]
    said = ""
    with running(HarnessHere()), changes_allowed():
        own = str(folder / "f")
        have_wait([own] if waits else [])
        with GROUP_COMMIT.collecting(IT, own):
            try:
                getattr(file, name)(*typed)
            except StateFailed as failure:
                said = failure.message
        assert not commit()
    if name == "set_attributes":
        said += file.get_attributes(own) or ""
    found = {path: at[:3] + at[4:] for path, at in snapshot(folder, times=True).items()}
    times = os.lstat(own).st_mtime if name == "utime" else 0
    shutil.rmtree(folder)
    return said, found, times


@pytest.mark.parametrize(
    ("name", "arguments"), [(name, each) for name, some in CHANGES.items() for each in some]
)
def test_what_changes_a_file_sees_that_it_waits(
    name: str, arguments: tuple[Any, ...], tmp_path: Path
) -> None:
    named, waiting = (outcome(tmp_path / "here", name, arguments, each) for each in (False, True))
    assert waiting == named


def test_every_changer_of_files_is_tried() -> None:
    found = {
        name
        for names in file._SUBMODULES.values()
        for name in names
        if getattr(getattr(file, name), "changes_the_machine", False)
        and getattr(file, name).__module__ == "modules.file"
    }
    assert found == CHANGES.keys()
