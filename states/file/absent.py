# SPDX-License-Identifier: Apache-2.0
"""file.absent: nothing exists at a path."""

from __future__ import annotations

from modules import file
from runner.api import AbsolutePath, Done, Plan, Planned, StateFailed
from states.file import _lines


def absent(name: AbsolutePath) -> Planned:
    """Make sure that nothing exists at a path; a folder goes with all that it holds.

    name: The path. A symlink is removed itself, never what it points to.

        /etc/motd.old:
          file.absent
    """
    if name.rstrip("/") == "":
        raise StateFailed('Refusing to make "/" absent')
    if not file.lexists(name):
        return Done(f"File {name} is not present", missing=_lines.absence(name))
    folder = file.is_dir(name) and not file.is_link(name)
    kind = "Directory" if folder else "File"
    if folder:
        file.refuse_mounted("remove", name, below=True)  # before what is in it is counted
    yield Plan({"removed": name}, f"{kind} {name} is set for removal")
    held = file.count_below(name) if folder else 0
    try:
        file.remove(name)
    except StateFailed as failure:
        if folder and file.count_below(name) < held:
            part = f"{failure.message}; part of what {name} held is removed"
            raise StateFailed(part, changes={"removed": name}) from None
        raise
    return f"Removed {kind.lower()} {name}"
