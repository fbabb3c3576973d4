"""file.uncomment: lines of a file are no comments."""

from __future__ import annotations

import re

from runner.api import AbsolutePath, Planned, StateFailed
from states.file import _edits, _lines
from states.file.comment import bare


def uncomment(name: AbsolutePath, regex: str, char: str = "#", backup: str | bool = ".bak") -> Planned:
    """Take the comment sign from the lines that match a regular expression.

    name: the file. regex: finds the lines without their comment sign. char: what begins a comment.
    backup: what the name of a copy of the old file ends with; false for no copy.

        /etc/adduser.conf:
          file.uncomment:
            - regex: EXTRA_GROUPS

    Behaviour: Salt 3008's file.uncomment: white space after the sign keeps a line as it is.
    """
    old = _edits.existing_text(name)
    core = bare(regex)
    sign = re.escape(char)
    if not _lines.compiled(rf"{sign}[ \t]*{core}", re.MULTILINE).search(old):
        if _lines.compiled(core, re.MULTILINE).search(old):
            return "Pattern already uncommented"
        raise StateFailed(f"{core}: Pattern not found")
    new = _lines.compiled(rf"^([ \t]*){sign}({core})", re.MULTILINE).sub(r"\1\2", old)
    if new == old:
        return "Uncommented lines successfully"  # Salt's words where white space follows the sign
    return (
        yield from _edits.edited(
            name,
            old,
            new,
            backup=backup,
            show=True,
            planned=f"File {name} is set to be updated",
            done="Uncommented lines successfully",
        )
    )
