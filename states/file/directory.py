# SPDX-License-Identifier: Apache-2.0
"""file.directory: a folder exists, with the owner and the mode that it and what it holds should
have.
"""

from __future__ import annotations

from modules import file
from runner.api import AbsolutePath, Done, Mode, OneOrMany, Plan, Planned, Record, StateFailed, here
from states.file._folders import below, managed_below, refuse_root, superfluous
from states.file._nested import refuse_to_replace
from states.file._permissions import (
    MAKEDIRS,
    Permissions,
    before,
    missing_folders,
    parent,
    permissions,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECURSE = ("user", "group", "mode", "ignore_files", "ignore_dirs", "silent")
CLEANED = {"removed": "Removed due to clean"}


def directory(
    name: AbsolutePath,
    user: str | int | None = None,
    group: str | int | None = None,
    recurse: OneOrMany[str] | None = None,
    max_depth: int | None = None,
    dir_mode: Mode | None = None,
    file_mode: Mode | None = None,
    makedirs: bool = False,
    clean: bool = False,
    exclude_pat: OneOrMany[str] | None = None,
    follow_symlinks: bool = False,
    force: bool = False,
    backupname: str | None = None,
    allow_symlink: bool = True,
    children_only: bool = False,
    mode: Mode | None = None,
) -> Planned:
    """Make sure that a folder exists, with the right owner and mode.

    name: The folder.
    user: The owner of the folder and of those that are created above it.
    group: The group of the folder and of those that are created above it.
    recurse: What to apply to all that the folder holds: a list of `user`, `group` and `mode`, less
      `ignore_files` or `ignore_dirs`; `silent` reports no single changes.
    max_depth: How many levels below the folder `recurse` goes; without it all.
    dir_mode: The rights of the folder and of those that are created above it.
    file_mode: The rights of files in the folder, where `recurse` has `mode`; without it those of
      the folder.
    makedirs: Create missing parent folders.
    clean: Remove all that is in the folder, but what states of the run manage and what
      `exclude_pat` matches.
    exclude_pat: What `clean` leaves: globs of relative paths, regular expressions after `E@`.
    follow_symlinks: Go through links, and set owner and mode of what they point to.
    force: Remove a file or a link (to a folder too) that is in the way.
    backupname: Move what is in the way there instead (a relative path: beside the folder).
    allow_symlink: A link to a folder is as good as a folder; `force` replaces it nevertheless.
    children_only: Leave the owner and the mode of the folder itself.
    mode: The same as dir_mode, where that is not given.

        /srv/www:
          file.directory:
            - user: www-data
            - dir_mode: '0755'
            - file_mode: '0644'
            - recurse: [user, mode]

    Behaviour: Salt 3008's file.directory; a folder that holds something excluded is not cleaned
    away, and a missing parent folder fails in a dry run too.
    """
    name = name.rstrip("/") or "/"
    options = _options(recurse, max_depth, clean)
    mode = dir_mode or mode
    wanted = permissions(user, group, mode)
    obstacle = _obstacle(name, allow_symlink and not force)
    backup = backupname and (
        backupname if backupname.startswith("/") else f"{parent(name)}/{backupname}"
    )
    if obstacle:
        _refuse(name, obstacle, force, backup)
    if obstacle or not file.is_dir(name):
        return (yield from _create(name, wanted, makedirs, obstacle, backup))
    work = _PendingChanges(name)
    if clean:
        managed, folders = managed_below(name)
        work.remove, removed = superfluous(name, managed, exclude_pat or [], folders)
        work.gone = frozenset(removed)
    if not children_only:
        own = file.is_link(name) and not follow_symlinks
        if own and wanted.changes(file.stat(name)):
            here.warn(
                f"{name} is a link, and the folder that it leads to has another owner or mode:"
                " `follow_symlinks: True` sets them there, not at the link"
            )
        work.note(name, wanted, follow=not own)
    if options & {"user", "group", "mode"}:
        if max_depth is None:
            refuse_root(name, "give all of it one owner or mode:")
        inside = _PermissionsBelow(
            options, wanted, Permissions(wanted.user, wanted.group, file_mode or mode)
        )
        for path, folder in below(name, max_depth, follow_symlinks):
            if path not in work.gone:
                work.note(path, inside.permissions(path, folder), follow_symlinks)
    return (yield from work.do("silent" in options, children_only))


def _options(recurse: list[str] | None, max_depth: int | None, clean: bool) -> set[str]:
    options = set(recurse or ())
    if not options <= set(RECURSE):
        words = ", ".join(f'"{word}"' for word in RECURSE)
        raise StateFailed(f'Types for "recurse" limited to {words}.')
    if {"ignore_files", "ignore_dirs"} <= options:
        raise StateFailed(
            'Must not specify "recurse" options "ignore_files" and "ignore_dirs" at the same time.'
        )
    if max_depth is not None and clean:
        raise StateFailed("Cannot specify both max_depth and clean")
    return options


# ---------------------------------------------------------------- creating


def _obstacle(name: str, allow_symlink: bool) -> str | None:
    """The kind of obstacle in the way: "File" or "Symlink"."""
    link = file.is_link(name)
    if file.is_dir(name) and (allow_symlink or not link):
        return None
    if link and not file.is_file(name):
        return "Symlink"
    return "File" if file.lexists(name) else None


def _refuse(name: str, obstacle: str, force: bool, backup: str | None) -> None:
    if backup and file.lexists(backup):
        if not force:
            raise StateFailed(f"File exists where the backup target {backup} should go")
        refuse_to_replace(backup, name)
    if not (backup or force):
        kind = "file" if obstacle == "File" else "symlink"
        raise StateFailed(f"Specified location {name} exists and is a {kind}")


def _create(
    name: str, wanted: Permissions, makedirs: bool, obstacle: str | None, backup: str | None
) -> Planned:
    above = parent(name)
    missing = [] if file.is_dir(above) else missing_folders(name)
    if missing and not makedirs:
        raise StateFailed(f"No directory to create {name} in{MAKEDIRS}", missing=("file", above))
    changes: dict[str, Any] = {name: {"directory": "new"}}
    comment = _described(changes)
    moved: dict[str, Any] = {}
    if obstacle and not backup:
        changes["forced"] = f"{obstacle} was forcibly replaced"
    elif obstacle and backup:
        moved = {"backup": f"{name} was renamed to {backup}"}
        moved |= (
            {"forced": f"Existing file at backup path {backup} was removed"}
            if file.lexists(backup)
            else {}
        )
        changes |= {
            key: description.replace(" was ", " would be ") for key, description in moved.items()
        }
        comment = f"{name} would be backed up and replaced with a new directory"
    yield Plan(changes, comment, provides=[("file", path) for path in (*missing, name)])
    if obstacle and backup:
        if file.lexists(backup):
            file.remove(backup)
        file.rename(name, backup)
    elif obstacle:
        file.remove(name)
    if missing:
        file.makedirs(above, mode=wanted.mode, user=wanted.uid, group=wanted.gid)
    file.mkdir(name, mode=wanted.mode, user=wanted.uid, group=wanted.gid)
    return Done("", changes | moved)


# ---------------------------------------------------------------- owner and mode of what is there


class _PermissionsBelow(Record):
    """The owner and modes of what lies in a folder."""

    options: set[str]
    folders: Permissions
    files: Permissions

    def permissions(self, path: str, folder: bool) -> Permissions:
        if ("ignore_dirs" if folder else "ignore_files") in self.options:
            return Permissions()
        owner = self.folders
        mode = self.folders.mode if folder else self.files.mode
        return Permissions(
            owner.user,
            owner.group,
            mode if "mode" in self.options else None,
            owner.uid if "user" in self.options else None,
            owner.gid if "group" in self.options else None,
        )


class _PendingChanges:
    """All that is to be done to a folder that is there."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.remove: list[str] = []
        self.gone: frozenset[str] = frozenset()
        self.changed: dict[str, tuple[Permissions, dict[str, Any], bool]] = {}
        self.before: dict[str, Any] = {}

    def note(self, path: str, wanted: Permissions, follow: bool) -> None:
        if wanted.uid is None and wanted.gid is None and wanted.mode is None:
            return
        present = file.seen(path, follow)
        changes = wanted.changes(present) if present else {}
        if changes:
            self.before[path] = before(present, changes)
            self.changed[path] = (wanted, changes, follow and file.is_link(path))

    def do(self, silent: bool, children_only: bool) -> Planned:
        if not (self.changed or self.remove):
            return f"The directory {self.name} is in the correct state"
        if len(self.before) == 1:  # what was set at last is also told without a path
            self.before |= next(iter(self.before.values()))
        planned = _described(self._single())
        yield Plan(
            self._changes(silent), planned, provides=[("file", self.name)], before=self.before
        )
        for path, (wanted, changes, follow) in self.changed.items():
            wanted.set(path, changes, follow)
        for path in self.remove:
            file.remove(path)
        if self.remove:
            return f"Files cleaned from directory {self.name}"
        return f"Directory {self.name}{'/*' if children_only else ''} updated"

    def _single(self) -> dict[str, Any]:
        """Path by path."""
        single: dict[str, Any] = dict.fromkeys(sorted(self.gone), CLEANED)
        return single | {path: changes for path, (_, changes, _) in self.changed.items()}

    def _changes(self, silent: bool) -> dict[str, Any]:
        """The changes that the result reports: path by path, and what was set at last."""
        changes: dict[str, Any] = {"recursion": "Changes silenced"} if silent else self._single()
        for _, change, _ in self.changed.values():
            changes |= change
        return changes | ({"removed": self.remove} if self.remove else {})


def _described(changes: dict[str, Any]) -> str:
    lines = [
        f"{path}: {key} - {value}\n"
        for path, change in changes.items()
        if isinstance(change, dict)
        for key, value in change.items()
    ]
    return "The following files will be changed:\n" + "".join(lines)
