# SPDX-License-Identifier: Apache-2.0
"""What the patch program changes, by a changer that undo and dry runs know."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from modules import _paths, cmd
from modules.file import _look
from modules.file._change import alters, make_folders
from modules.file._contents.write import write
from modules.file._snapshot import missing_folders, snapshot
from modules.file.large_texts import large_text
from runner.api import Unforeseen, for_states, here
from runner.api.planning import only_files

# options with which it writes beside the file, if anywhere
_NEAR = frozenset(
    """
    -R --reverse -l --ignore-whitespace -u --unified -c --context -n --normal --binary -E
    --remove-empty-files -b --backup --posix --no-backup-if-mismatch
    """.split()
)
_FUZZ = ("-F", "--fuzz=")
_KEPT = ".orig"  # what does not fit exactly is kept under this name
MEMORY = 64 << 10  # kB that the program may take


def _files(path: str, names: Sequence[str]) -> list[str]:
    return [os.path.join(path, name) for name in names] if names else [path]


def _before(path: str, argv: object, words: object, text: object, names: Sequence[str] = ()) -> Any:
    found = [
        [*missing_folders(os.path.dirname(file)), snapshot(file), snapshot(f"{file}{_KEPT}")]
        for file in _files(path, names)
    ]
    return {"several": [facts for several in found for facts in several]}


@only_files
def _plan_patch(
    path: str, argv: Sequence[str], words: Sequence[str], text: str, names: Sequence[str] = ()
) -> cmd.Completed:
    """Patch copies, then have the outcome as the planned files."""
    if not all(word in _NEAR or word.startswith(_FUZZ) for word in words):
        raise Unforeseen("where the patch program writes to")
    folder = os.path.join(here.scratch(), "patching")
    files = dict(zip(_files(path, names), _files(folder, names or ["file"]), strict=True))
    for file, copy in files.items():
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        if _look.is_file(file):
            if large_text(file):
                raise Unforeseen(f"the contents of {file}")
            with open(copy, "wb") as target:
                target.write(_look.read_bytes(file))
    where = [f"--directory={folder}"] if names else [f"{folder}/file"]
    argv = [*argv, *words, *where]
    env = own_temporary_files()
    done = cmd.complete(argv, stdin=text, env=env, python_shell=False, see_planned=False)
    for file, copy in files.items():
        if not _paths.exists(copy) and _look.lexists(file):
            raise Unforeseen("which folders the patch program removes")
        for end in ("", _KEPT):
            if _paths.exists(f"{copy}{end}"):
                make_folders(os.path.dirname(file))
                write(f"{file}{end}", _look.read_whole(f"{copy}{end}"))
    return done if names else done._replace(stdout=done.stdout.replace(f"{folder}/file", path))


@alters(before=_before, planned=_plan_patch)
def apply_patch(
    path: str, argv: Sequence[str], words: Sequence[str], text: str, names: Sequence[str] = ()
) -> cmd.Completed:
    """Have the patch program change a file, or files in a folder. argv: the program and what it is
    always told. words: further options. text: the patch. names: of the files in the folder.
    """
    where = f"--directory={path}" if names else path
    return cmd.probe([*argv, *words, where], stdin=text, env=own_temporary_files())


@for_states
def in_little_memory(program: str, size: int) -> list[str]:
    """The words that start a patch program, which reads a file in parts where it gets no memory for
    all of it. size: that of the patch, which it holds.
    """
    most = MEMORY + size // 256
    return ["/bin/sh", "-c", f'ulimit -v {most} 2>/dev/null; exec "$@"', "sh", program]


@for_states
def own_temporary_files() -> dict[str, str]:
    """The environment of a patch program that does not fail for a /tmp that is full."""
    return {"TMPDIR": here.scratch()}
