"""What the functions that edit lines share: one edit of one existing text file."""

from __future__ import annotations

from modules import file
from runner.api import Plan, Planned, StateFailed
from states.file import _lines


def existing_text(name: str) -> str:
    """The text of a file that has to be there."""
    if not file.exists(name):
        raise StateFailed(f"{name}: file not found", lacks=("file", name))
    return _lines.read_text(name)


def edited(
    name: str, old: str, new: str, *, backup: str | bool, show: bool, planned: str, done: str, hidden: object = True
) -> Planned:
    """Write the new text of a file. backup: what the copy's name ends with. hidden: the diff when it is not shown."""
    yield Plan({"diff": _lines.diff(old, new) if show else hidden}, planned, provides=[("file", name)])
    if backup:
        file.copy(name, name + (backup if isinstance(backup, str) else ".bak"), preserve=True)
    _lines.write_text(name, new)
    return done
