# SPDX-License-Identifier: Apache-2.0
"""A file that the patch program changes, as a changer that undo and dry runs know."""

from __future__ import annotations

import os
from collections.abc import Sequence

from modules import cmd
from modules.file import _look
from modules.file._change import alters, remove
from modules.file._snapshot import snapshot
from modules.file._write import write
from runner.api import Unforeseen, here
from runner.api.planning import only_files

# options with which it writes beside the file, if anywhere
_NEAR = frozenset(
    (
        *("-R", "--reverse", "-l", "--ignore-whitespace", "-u", "--unified", "-c", "--context"),
        *("-n", "--normal", "--binary", "-E", "--remove-empty-files", "-b", "--backup", "--posix"),
        "--no-backup-if-mismatch",
    )
)
_FUZZ = ("-F", "--fuzz=")
_KEPT = ".orig"  # what does not fit exactly is kept under this name


def _before(path: str, *_: object) -> object:
    return {"several": [snapshot(path), snapshot(f"{path}{_KEPT}")]}


@only_files
def _plan_patch(path: str, argv: Sequence[str], words: Sequence[str], text: str) -> cmd.Completed:
    """Patch a copy, then have its outcome as the planned file."""
    if not all(word in _NEAR or word.startswith(_FUZZ) for word in words):
        raise Unforeseen("where the patch program writes to")
    folder = os.path.join(here.scratch(), "patching")
    os.makedirs(folder, exist_ok=True)
    copy = os.path.join(folder, "file")
    with open(copy, "wb") as file:
        file.write(_look.read_bytes(path))
    done = cmd.complete([*argv, *words, copy], stdin=text, python_shell=False, see_planned=False)
    for end in ("", _KEPT):
        if os.path.exists(f"{copy}{end}"):
            write(f"{path}{end}", _look.read_whole(f"{copy}{end}"))
        elif not end:
            remove(path)
    return done


@alters(before=_before, planned=_plan_patch)
def apply_patch(path: str, argv: Sequence[str], words: Sequence[str], text: str) -> cmd.Completed:
    """Have the patch program change a file. argv: the program and what it is always told. words:
    further options. text: the patch.
    """
    return cmd.probe([*argv, *words, path], stdin=text)
