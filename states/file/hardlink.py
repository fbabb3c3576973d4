# SPDX-License-Identifier: Apache-2.0
"""file.hardlink: a name is another name of a file."""

from __future__ import annotations

from modules import file
from runner.api import FilePath, Mode, Plan, Planned, StateFailed
from states.file import _lines
from states.file._nested import refuse_to_replace


def hardlink(
    name: FilePath,
    target: FilePath,
    force: bool = False,
    makedirs: bool = False,
    user: str | int | None = None,
    group: str | int | None = None,
    dir_mode: Mode | None = None,
) -> Planned:
    """Make sure that a path is a hard link to a file.

    name: The path.
    target: The file that it is a link to.
    force: Replace a file that is at the path.
    makedirs: Create missing parent folders.
    user: The owner of the parent folders that makedirs creates.
    group: The group of the parent folders that makedirs creates.
    dir_mode: The rights of the parent folders that makedirs creates.

        /usr/local/bin/python:
          file.hardlink:
            - target: /opt/python/bin/python3
    """
    source = file.seen(target, follow=False)
    if source is None:
        raise StateFailed(f"Target {target} for hard link does not exist", missing=("file", target))
    if source.type == "dir":
        raise StateFailed(f"Unable to hard link from directory {target}")
    _refuse_strangers(user, group)
    stat = file.seen(name, follow=False)
    if stat is not None and stat.type == "dir":
        raise StateFailed(f"Unable to hard link to directory {name}")
    above = _lines.parent(name)
    _lines.require_parent(name, makedirs, f"Directory {above} for hard link is not present")
    if stat is not None and file.same(name, target):
        return f"Target of hard link {name} is already pointing to {target}"
    comment = f"Hard link {name} to {target} is set for creation"
    changes = {"new": name}
    if stat is not None:
        if not force:
            raise StateFailed(f"File exists where the hard link {name} should be")
        refuse_to_replace(name, target)
        comment = (
            f"The file or directory {name} is set for removal to make way for a new hard link"
            f" targeting {target}"
        )
        changes = {"forced": "File for hard link was forcibly replaced", "new": name}
    yield Plan(changes, comment, provides=[("file", name), ("hard link", name)])
    _lines.make_parent(
        name, dir_mode, None if user is None else str(user), None if group is None else str(group)
    )
    if stat is not None:
        file.remove(name)
    file.link(target, name)
    return f"Created new hard link {name} -> {target}"


def _refuse_strangers(user: str | int | None, group: str | int | None) -> None:
    problems = (
        [f"User {user} does not exist."] if user is not None and file.uid_of(user) is None else []
    )
    problems += (
        [f"Group {group} does not exist."]
        if group is not None and file.gid_of(group) is None
        else []
    )
    if problems:
        raise StateFailed(
            " ".join(problems), missing=("user", str(user)) if len(problems) == 1 and user else None
        )
