# SPDX-License-Identifier: Apache-2.0
"""file.uncomment: lines of a file are no comments."""

from __future__ import annotations

import re
from functools import partial

from modules import file
from modules.file.bounded_regex import matches
from modules.file.edits import bare, bared_lines
from runner.api import FilePath, Planned, StateFailed
from states.file import _edits, _lines


@file.validated
def uncomment(name: FilePath, regex: str, char: str = "#", backup: str | bool = ".bak") -> Planned:
    """Take the comment sign from the lines that match a regular expression.

    name: The file.
    regex: Finds the lines without their comment sign.
    char: The characters that begin a comment.
    backup: The end of the name that a copy of the old file gets; false makes none.

        /etc/adduser.conf:
          file.uncomment:
            - regex: EXTRA_GROUPS=

    Behaviour: Salt 3008's file.uncomment: only a sign that begins a line is taken, and white space
    after it stays.
    """
    core, sign, end = bare(regex), re.escape(char), "$" if regex.endswith("$") else ""
    old = _edits.lines_to_edit(name, core)
    bared = partial(matches, _lines.compiled(rf"^\s*(?:{core}){end}", re.MULTILINE))
    signed = _lines.compiled(rf"{sign}[ \t]*(?:{core}){end}", re.MULTILINE)
    if not old.any(partial(matches, signed)):
        if old.any(bared):
            return "Pattern already uncommented"
        raise StateFailed(f"{regex}: Pattern not found")
    edit = partial(bared_lines, regex=regex, char=char)
    return (yield from _edits.turned(name, old, edit, bared, backup, "uncommented"))
