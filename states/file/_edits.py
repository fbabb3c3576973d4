# SPDX-License-Identifier: Apache-2.0
"""The base of the functions that edit lines: one edit of one existing text file."""

from __future__ import annotations

from modules import file
from runner.api import Plan, Planned, StateFailed
from states.file import _lines


def existing_text(name: str, binary: bool = True) -> str:
    """The text of a file that has to be there. Raises StateFailed for one that is missing or
    binary. binary: whether it may hold zero bytes.
    """
    if not file.exists(name):
        raise StateFailed(f"{name}: file not found", missing=("file", name))
    text = _lines.read_text(name)
    if not binary and "\0" in text:
        raise StateFailed(f"Cannot perform string replacements on a binary file: {name}")
    return text


def edited(
    name: str,
    old: str,
    new: str,
    *,
    backup: str | bool,
    planned: str,
    done: str,
    show: bool = True,
    user: str | int | None = None,
    group: str | int | None = None,
    mode: str | None = None,
) -> Planned:
    """Write the new text of a file. backup: what the copy's name ends with. user, group, mode: of
    the file then.
    """
    yield Plan(
        {"diff": _lines.diff(old, new) if show else True}, planned, provides=[("file", name)]
    )
    with file.backed_up(name, backup):
        file.write(name, new.encode("utf-8", "surrogateescape"), user=user, group=group, mode=mode)
    return done
