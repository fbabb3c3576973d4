# SPDX-License-Identifier: Apache-2.0
"""Owner and mode: what a path is to have, and what differs. Shared by managed, directory and
recurse.
"""

from __future__ import annotations

from modules import file
from runner.api import Record, StateFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

OwnerName = str | int | None


class Permissions(Record):
    """The owner and mode that a path is to have; None: as it is. Names as written, numbers for
    comparing.
    """

    user: OwnerName = None
    group: OwnerName = None
    mode: str | None = None
    uid: int | None = None
    gid: int | None = None

    def owner_changes(self, uid: int, gid: int) -> dict[str, Any]:
        """The differences from an owner, as results report it."""
        changes: dict[str, Any] = {}
        if self.uid is not None and self.uid != uid:
            changes["user"] = self.user
        if self.gid is not None and self.gid != gid:
            changes["group"] = self.group
        return changes

    def owner_changes_of_new(self, path: str) -> dict[str, Any]:
        """The differences from the owner that a new path gets from the system."""
        if self.uid is None and self.gid is None:
            return {}
        return self.owner_changes(*creator(path))

    def changes(self, present: file.Stat) -> dict[str, Any]:
        """The differences from a path that exists."""
        changes = self.owner_changes(present.uid, present.gid)
        if self.mode is not None and int(self.mode, 8) != present.bits and present.type != "link":
            changes["mode"] = self.mode
        return changes

    def set(self, path: str, changes: dict[str, Any], follow: bool = True) -> None:
        """Make what differs as it should be (after the yield)."""
        if "user" in changes or "group" in changes:
            file.chown(
                path,
                self.uid if "user" in changes else None,
                self.gid if "group" in changes else None,
                follow,
            )
        if "mode" in changes and self.mode is not None:
            file.set_mode(path, self.mode, follow)


def before(present: file.Stat | None, changes: Mapping[str, Any]) -> dict[str, str]:
    """The owner and the mode that changes replace."""
    keys = (
        [key for key in ("user", "group", "mode") if key in changes] if present is not None else []
    )
    return {key: getattr(present, key) for key in keys}


def permissions(user: OwnerName, group: OwnerName, mode: str | None) -> Permissions:
    """Owner and mode as an SLS says them; StateFailed for an owner who does not exist."""
    user = None if user == "" else user
    group = None if group == "" else group
    uid = None if user is None else file.uid_of(user)
    gid = None if group is None else file.gid_of(group)
    problems, missing = [], None
    if group is not None and gid is None:
        problems, missing = [f"Group {group} is not available"], ("group", str(group))
    if user is not None and uid is None:
        problems, missing = [f"User {user} is not available", *problems], ("user", str(user))
    if problems:
        raise StateFailed("\n".join(problems), missing=missing)
    return Permissions(user, group, mode, uid, gid)


def creator(path: str) -> tuple[int, int]:
    """The owner that a new file or folder gets from the system: the caller, or the folder's group
    if it insists.
    """
    above = nearest(path)
    return file.user_to_uid(), above.gid if above.bits & 0o2000 else file.group_to_gid()


def nearest(path: str) -> file.Stat:
    """The nearest folder above a path that is there."""
    while True:
        path = parent(path)
        stat = file.seen(path)
        if stat is not None:
            return stat


MAKEDIRS = "; `makedirs: true` makes it"  # of a folder that is not there


def parent(path: str) -> str:
    """The folder that a path is in."""
    return path.rpartition("/")[0] or "/"


def missing_folders(path: str) -> list[str]:
    """The folders above a path that are not there, the uppermost first. Raises StateFailed when one
    above them is not a folder.
    """
    missing = []
    path = parent(path)
    while not file.is_dir(path):
        if file.lexists(path) and not file.is_dir(path):  # one may be made at this moment
            raise StateFailed(f"{path} is not a directory, so nothing can be created in it")
        missing.append(path)
        path = parent(path)
    return missing[::-1]


def folder_mode(mode: str | None) -> str | None:
    """The mode of the folders above a file: its own with x wherever it has r."""
    if mode is None:
        return None
    number = int(mode, 8)
    return f"{number | (number & 0o444) >> 2:04o}"
