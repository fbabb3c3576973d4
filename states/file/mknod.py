# SPDX-License-Identifier: Apache-2.0
"""file.mknod: a pipe or a device file."""

from __future__ import annotations

from typing import Literal

from modules import file
from runner.api import FilePath, Mode, Plan, Planned, StateFailed
from states.file import _lines
from states.file._permissions import before, permissions

_KINDS = {
    "p": ("pipe", "Fifo pipe"),
    "c": ("char", "Character device"),
    "b": ("block", "Block device"),
}


def mknod(
    name: FilePath,
    ntype: Literal["p", "c", "b"],
    major: int = 0,
    minor: int = 0,
    user: str | int | None = None,
    group: str | int | None = None,
    mode: Mode = "0600",
) -> Planned:
    """Make sure that a pipe or a device file is there.

    name: The path.
    ntype: `p` for a pipe, `c` for a character device, `b` for a block device (devices need root).
    major: The major number of the device.
    minor: The minor number of the device.
    user: The owner; without it as it is.
    group: The group; without it as it is.
    mode: The rights of the file.

        /dev/net/tun:
          file.mknod:
            - ntype: c
            - major: 10
            - minor: 200
            - mode: '0666'

    Behaviour: Salt 3008's file.mknod; an owner who does not exist or a missing folder fails.
    """
    _, kind = _KINDS[ntype]
    wanted = permissions(user, group, mode)
    present = file.seen(name, follow=False)
    if present is None:
        if missing := _lines.parent_lacking(name, makedirs=False):
            raise StateFailed(f"The folder of {name} does not exist", missing=missing)
        yield Plan(
            {"new": f"{kind} {name} created."},
            f"{kind} {name} is set to be created",
            provides=[("file", name)],
        )
        file.mknod(name, ntype, major, minor, mode)
        wanted.set(name, wanted.owner_changes(file.stat(name).uid, file.stat(name).gid))
        return ""
    _refuse_other(name, present, ntype, (major, minor))
    changes = wanted.changes(present)
    if not changes:
        return f"{kind} {name} is in the correct state"
    yield Plan(changes, f"{kind} {name} is set to be changed", before=before(present, changes))
    wanted.set(name, changes)
    return ""


def _refuse_other(name: str, present: file.Stat, ntype: str, numbers: tuple[int, int]) -> None:
    """Fail where something else is there."""
    type_, kind = _KINDS[ntype]
    if present.type == "file":
        raise StateFailed(f"File {name} exists and is not a {kind.lower()}. Refusing to continue")
    if present.type != type_:
        raise StateFailed(f"File {name} exists and cannot be overwritten")
    present_numbers = file.device(name)
    if ntype != "p" and present_numbers != numbers:
        is_ = "/".join(map(str, present_numbers))
        raise StateFailed(
            f"{kind} {name} exists and has a different major/minor {is_}. Refusing to continue"
        )
