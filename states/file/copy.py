# SPDX-License-Identifier: Apache-2.0
"""file.copy: a file is a copy of another one on this machine."""

from __future__ import annotations

from typing import Any

from modules import file
from modules import user as users
from runner.api import AbsolutePath, Mode, Plan, Planned, StateFailed, here
from runner.api.durability import name_files
from states.file import _lines
from states.file._nested import refuse_to_hold, refuse_to_replace
from states.file._permissions import Permissions, folder_mode, permissions


@file.validated
def copy(
    name: AbsolutePath,
    source: str,
    force: bool = False,
    makedirs: bool = False,
    preserve: bool = False,
    user: str | int | None = None,
    group: str | int | None = None,
    mode: Mode | None = None,
    dir_mode: Mode | None = None,
    subdir: bool = False,
) -> Planned:
    """Copy a file or folder of this machine, once: what is at the target already stays unless
    `force` is set.

    name: The target.
    source: The file or folder to copy.
    force: Copy over what is there and differs.
    makedirs: Create missing parent folders.
    preserve: Keep the source's mode and owner.
    user: The owner of the copy; without it the caller.
    group: The group of the copy; without it the primary group of `user`, or the caller's.
    mode: The rights of the copy; without it those of the source.
    dir_mode: The rights of the folders that makedirs creates; without it those of the copy, with x
      wherever it has r.
    subdir: Where the target is a folder, copy into it.

        /etc/app.conf:
          file.copy:
            - source: /etc/app.conf.dist
    """
    name_files(source)
    if not file.exists(source):
        raise StateFailed(f'Source file "{source}" is not present', missing=("file", source))
    file.real_path(source)  # through no link of somebody else
    if not preserve:
        _lines.owner(user, None, "{kind} {name} is not available ")
        _lines.owner(None, group, "{kind} {name} is not available")
    typed_name = name
    if subdir and file.is_dir(name):
        name = f"{name.rstrip('/')}/{source.rstrip('/').rpartition('/')[2]}"
    name = _lines.put_to(name, source)
    occupied = file.lexists(name)
    if file.is_dir(name) and not file.is_dir(source):
        what = f"is replaced by {source}" if force else f"{source} is not copied into it"
        here.warn(f"{name} is a folder: {what}; `subdir: True` copies into it")
    if occupied and not force:
        return f'The target file "{name}" exists and will not be overwritten'
    above = _lines.parent(name)
    _lines.require_parent(name, makedirs, f"The target directory {above} is not present")
    if file.is_dir(source):
        refuse_to_hold(name, source)
    if file.is_dir(name):
        refuse_to_replace(name, file.real_path(source))
    if user is not None and group is None and not preserve:
        group = users.primary_group(str(user)) or None
    wanted = None if preserve else permissions(user, group, mode)
    if _is_copy(name, source, wanted):
        return f'"{name}" is a copy of "{source}"'
    changes: dict[str, Any] = {name: source}
    if wanted is not None:
        changes |= wanted.changes(
            file.stat(source)._replace(uid=file.user_to_uid(), gid=file.group_to_gid())
        )
    yield Plan(
        changes, f'File "{source}" is set to be copied to "{name}"', provides=[("file", name)]
    )
    _lines.make_parent(name, dir_mode or folder_mode(mode), _text(user), _text(group))
    if occupied and (file.is_dir(name) or file.is_dir(source)):
        file.remove(name)
    if preserve:
        file.copy(source, name, preserve=True)
    else:
        file.copy(source, name, mode=mode, user=_text(user), group=_text(group))
    return f'Copied "{source}" to "{typed_name}"'


def _text(value: str | int | None) -> str | None:
    return None if value is None else str(value)


def _is_copy(name: str, source: str, wanted: Permissions | None) -> bool:
    """Return whether a path already is what copying would make of it. wanted: the rights of the
    copy; None for those of the source.
    """
    old, new = file.seen(name, follow=not file.is_dir(source)), file.seen(source)
    if old is None or new is None or not _is_alike(name, old, source, new, wanted):
        return False
    if new.type != "dir":
        return True
    copied, below = (
        {entry.path.removeprefix(top.rstrip("/")): entry.path for entry in file.entries_below(top)}
        for top in (name, source)
    )
    rest = None if wanted is None else Permissions()
    pairs = [(copied[path], below[path]) for path in below.keys() & copied.keys()]
    return copied.keys() == below.keys() and all(
        (was := file.seen(there, follow=False)) is not None
        and (now := file.seen(original, follow=False)) is not None
        and _is_alike(there, was, original, now, rest)
        for there, original in pairs
    )


def _is_alike(
    name: str, old: file.Stat, source: str, new: file.Stat, wanted: Permissions | None
) -> bool:
    """Return whether two paths have the same type and contents, and the first its rights."""
    if wanted is None:
        wanted = Permissions(new.uid, new.gid, None, new.uid, new.gid)
    mode = f"{new.bits:04o}" if wanted.mode is None else wanted.mode
    if old.type != new.type or wanted._replace(mode=mode).changes(old):
        return False
    if new.type == "link":
        return file.readlink(name) == file.readlink(source)
    return new.type != "file" or (
        old.size == new.size and file.same_contents(name, file.streamed(source))
    )
