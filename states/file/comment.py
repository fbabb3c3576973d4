"""file.comment: lines of a file are commented out."""

from __future__ import annotations

import re

from runner.api import AbsolutePath, Planned, StateFailed
from states.file import _edits, _lines


def comment(
    name: AbsolutePath, regex: str, char: str = "#", backup: str | bool = ".bak", ignore_missing: bool = False
) -> Planned:
    """Comment out the lines that match a regular expression.

    name: the file. regex: finds the lines; a leading `^` stands after the white space that begins a line. char: what
    begins a comment. backup: what the name of a copy of the old file ends with; false for no copy.
    ignore_missing: lines that are not there are no failure.

        /etc/fstab:
          file.comment:
            - regex: ^bind 127.0.0.1

    Behaviour: Salt 3008's file.comment.
    """
    old = _edits.existing_text(name)
    core = bare(regex)
    if not _lines.compiled(rf"^(?!\s*{re.escape(char)}).*{core}", re.MULTILINE).search(old):
        if _lines.compiled(re.escape(char) + core, re.MULTILINE).search(old):
            return "Pattern already commented"
        if ignore_missing:
            return "Pattern not found and ignore_missing set to True"
        raise StateFailed(f"{core}: Pattern not found")
    new = _commented(old, regex, core, char)
    if new == old:
        raise StateFailed("Expected commented lines not found")  # the expression does not match from a line's beginning
    return (
        yield from _edits.edited(
            name,
            old,
            new,
            backup=backup,
            show=True,
            planned=f"File {name} is set to be updated",
            done="Commented lines successfully",
        )
    )


def bare(regex: str) -> str:
    """The expression without its anchors."""
    return regex.lstrip("^").rstrip("$")


def _commented(text: str, regex: str, core: str, char: str) -> str:
    begins = r"(\s*)" if regex.startswith("^") else r"()"
    line = _lines.compiled(rf"{begins}({core}{'$' if regex.endswith('$') else '.*'})", 0)
    found = []
    for each in text.splitlines(keepends=True):
        body = each.rstrip("\r\n")
        match = line.match(body)
        found.append(f"{match[1]}{char}{body[len(match[1]) :]}{each[len(body) :]}" if match else each)
    return "".join(found)
