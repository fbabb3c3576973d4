# SPDX-License-Identifier: Apache-2.0
"""Configuration files, changed as trees by Augeas."""

from __future__ import annotations

from collections.abc import Iterator

from modules import file
from modules.file.differences import diff
from modules.formats import augeas
from runner.api import AbsolutePath, Line, Plan, Planned, StateFailed
from runner.api.claims import PART, Claim
from states._tools import explained


@file.validated
def change(
    name: Line,
    context: Line | None = None,
    changes: list[Line] | None = None,
    lens: Line | None = None,
    load_path: list[AbsolutePath] | None = None,
) -> Planned:
    """Change files as trees; comments and the order of the rest stay.

    name: Names the state.
    context: The file, after /files, which paths that do not begin with a slash are below.
    changes: commands: set, setm, mv (move), ins (insert), rm (remove), clear, clearm, touch,
      rename, defvar, defnode; ins inserts each time, so it needs an unless.
    lens: Reads the file of the context, with .lns; without it the one that knows the file by its
      path.
    load_path: Folders with more lenses.

        redis:
          augeas.change:
            - context: /files/etc/redis/redis.conf
            - lens: Redis.lns
            - changes:
              - set maxmemory-policy allkeys-lru
              - set maxmemory 1G

    Behaviour: Salt 3007's augeas.change; a dry run shows the difference.
    """
    if not changes:
        raise StateFailed("'changes' must be specified as a list")
    if context and not context.startswith("/files/"):
        raise StateFailed(f"Error: the context {context} does not begin with /files/")
    with explained("Error"):
        edits = augeas.edits(changes, context, lens, load_path or ())
    if not edits:
        return "No changes made"
    for edit in edits:
        file.refuse_rewrite(file.real_path(edit.path))
    where = f' in file "{context}"' if context else ""
    yield Plan(
        {"diff": "".join(map(_difference, edits))},
        f"Executing commands{where}:\n" + "\n".join(changes),
        provides=[("file", edit.path) for edit in edits],
    )
    augeas.write(edits)
    return "Changes have been saved"


def _difference(edit: augeas.AugeasEdit) -> str:
    """A unified diff, with the path where it is not clear."""
    old, new = (
        "" if data is None else data.decode("utf-8", "surrogateescape")
        for data in (edit.old, edit.new)
    )
    text = diff(old, new)
    return text.replace("--- \n+++ \n", f"--- {edit.path}\n+++ {edit.path}\n", 1)


def owns(fun: str, name: str, context: str | None = None, **_: object) -> Iterator[Claim]:
    """Some of the file of the context."""
    path = str(context or "").removeprefix("/files")
    if path:
        yield Claim(PART, path)


def autorequire(name: str, context: str | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """A change comes after its file and the program that makes it."""
    yield "pkg", augeas.PACKAGE
    if context:
        yield "file", context.removeprefix("/files")
