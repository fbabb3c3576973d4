# SPDX-License-Identifier: Apache-2.0
"""file.comment: lines of a file are commented out."""

from __future__ import annotations

import re
from functools import partial

from modules import file
from modules.file.bounded_regex import matches
from modules.file.edits import bare, commented_out
from runner.api import FilePath, Planned, StateFailed
from states.file import _edits, _lines


@file.validated
def comment(
    name: FilePath,
    regex: str,
    char: str = "#",
    backup: str | bool = ".bak",
    ignore_missing: bool = False,
) -> Planned:
    """Comment out the lines that match a regular expression.

    name: The file.
    regex: Finds the lines, from where they begin (`^` is not needed); begin it with `\\s*` to find
      indented lines. `(?i)` before it ignores case.
    char: The characters that begin a comment.
    backup: The end of the name that a copy of the old file gets; false makes none.
    ignore_missing: Lines that are not there are no failure.

        /etc/fstab:
          file.comment:
            - regex: ^/dev/sdb1\\s
    """
    core, sign = bare(regex), re.escape(char)
    old = _edits.lines_to_edit(name, core)
    commented = partial(matches, _lines.compiled(f"{sign}(?:{core})", re.MULTILINE))
    bared = _lines.compiled(rf"^(?!\s*{sign})\s*(?:{core})", re.MULTILINE)
    if not old.any(partial(matches, bared)):
        if old.any(commented):
            return "Pattern already commented"
        _edits.warn_of_carriage_returns(name, old, bared)
        if ignore_missing:
            return "Pattern not found and ignore_missing set to True"
        raise StateFailed(f"{core}: Pattern not found")
    edit = partial(commented_out, regex=regex, char=char)
    return (yield from _edits.turned(name, old, edit, commented, backup, "commented"))
