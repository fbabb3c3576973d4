# SPDX-License-Identifier: Apache-2.0
"""file.symlink: a symbolic link points where it should."""

from __future__ import annotations

from modules import file
from runner.api import FilePath, Mode, Plan, Planned, StateFailed, here
from states.file import _lines
from states.file._nested import refuse_to_replace


def symlink(
    name: FilePath,
    target: str,
    force: bool = False,
    backupname: str | None = None,
    makedirs: bool = False,
    user: str | int | None = None,
    group: str | int | None = None,
    mode: Mode | None = None,
    atomic: bool = False,
    disallow_copy_and_unlink: bool = False,
    inherit_user_and_group: bool = False,
    follow_symlinks: bool = True,
) -> Planned:
    """Make sure that a symbolic link exists, points where it should and has the right owner.

    name: The link.
    target: The path that the link says. It need not exist, unless a state of this run was to make
      it and failed: then nothing is changed, but for a state with `onfail`.
    force: Remove a file or folder that is in the way.
    backupname: Move it there instead (a relative path: beside the link).
    makedirs: Create missing parent folders.
    user: The owner of the link; without it the caller.
    group: The group of the link; without it the primary group of `user`.
    mode: The rights of the parent folders that makedirs creates.
    atomic: Ignored; links are always replaced in one step, by renaming.
    disallow_copy_and_unlink: Ignored; a link is never copied and removed.
    inherit_user_and_group: Without user and group leave those that an existing link has.
    follow_symlinks: Ignored; whatever the target is, the link says it.

        /usr/local/bin/app:
          file.symlink:
            - target: /opt/app/bin/app

    Behaviour: Salt 3008's file.symlink, but force removes a folder too, as documented.
    """
    _lines.owner(user, group, "{kind} {name} does not exist")
    link = file.is_link(name)
    keep = inherit_user_and_group and link and user is None and group is None
    owner = _present_owner(name) if keep else _wanted_owner(user, group)
    if link and file.readlink(name) == target:
        return (yield from _with_owner(name, owner))
    obstacle = None if link or not file.lexists(name) else name
    backup = backupname and _beside(name, backupname)
    if obstacle:
        _refuse(name, target, force, backup)
    above = _lines.parent(name)
    _lines.require_parent(name, makedirs, f"Directory {above} for symlink is not present")
    _look_at_target(name, _beside(name, target))
    yield Plan({"new": name}, _intention(name, target, obstacle, backup), provides=[("file", name)])
    _lines.make_parent(name, mode, owner[0], owner[1])
    if obstacle and backup:
        if file.lexists(backup):
            file.remove(backup)
        file.rename(name, backup)
    elif obstacle and file.is_dir(name):
        file.remove(name)
    file.put_symlink(target, name, *owner)
    return f"Created new symlink {name} -> {target}"


def _beside(name: str, path: str) -> str:
    """A path as a link in the folder of `name` means it."""
    return path if path.startswith("/") else f"{_lines.parent(name)}/{path}"


def _look_at_target(name: str, target: str) -> None:
    """Say that something is replaced by a link to nothing. Raises StateFailed where a state of this
    run was to make what is not there.
    """
    if file.exists(target):
        return
    if here.chunk is None or not any(
        requisite.kind.must_fail for requisite in here.chunk.requisites
    ):
        for chunk in here.chunks:
            result = here.results.get(chunk.tag)
            if result is not None and result.result is False and chunk.is_to_make(target):
                raise StateFailed(
                    f"{name} would point to {target}, which is not there:"
                    f" {chunk.state}: {chunk.id} failed to make it"
                )
    if file.lexists(name):
        message = f"{name} is replaced by a link to {target}, which is not there"
        here.warn(message, unless=("file", target))


def _present_owner(name: str) -> tuple[str, str]:
    at = file.stat(name, follow=False)
    return at.user, at.group


def _wanted_owner(user: str | int | None, group: str | int | None) -> tuple[str, str]:
    """The names of an owner; without a group the primary one of the user, without a user the
    caller.
    """
    uid = file.user_to_uid(user)
    gid = file.primary_gid(uid) if group is None else file.group_to_gid(group)
    return file.uid_to_user(uid), file.gid_to_group(gid)


def _with_owner(name: str, owner: tuple[str, str]) -> Planned:
    text = ":".join(owner)
    if _present_owner(name) == owner:
        return f"Symlink {name} is present and owned by {text}"
    yield Plan({"ownership": text}, f"Ownership of symlink {name} is set to be changed to {text}")
    file.chown(name, *owner, follow=False)
    return f"Set ownership of symlink {name} to {text}"


def _refuse(name: str, target: str, force: bool, backup: str | None) -> None:
    if backup:
        if not file.lexists(backup):
            return
        if not force:
            raise StateFailed(
                f"Symlink & backup dest exists and Force not set. {name} -> {target} - backup:"
                f" {backup}"
            )
        refuse_to_replace(backup, name)
    elif not force:
        kind = "Directory" if file.is_dir(name) else "File"
        raise StateFailed(f"{kind} exists where the symlink {name} should be")
    else:
        refuse_to_replace(name, _beside(name, target))


def _intention(name: str, target: str, obstacle: str | None, backup: str | None) -> str:
    if file.is_link(name):
        return f"Link {name} target is set to be changed to {target}"
    if obstacle and backup:
        return f"{name} is set to be moved to {backup}, for a new symlink targeting {target}"
    if obstacle:
        return (
            f"The file or directory {name} is set for removal to make way for a new symlink"
            f" targeting {target}"
        )
    folder_note = (
        "" if file.is_dir(_lines.parent(name)) else f"\n{_lines.parent(name)} will be created"
    )
    return f"Symlink {name} to {target} is set for creation{folder_note}"
