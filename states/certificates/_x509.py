# SPDX-License-Identifier: Apache-2.0
"""What the functions of x509 share: the file that each of them manages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from modules import file
from runner.api import Group, Line, Mode, Name, Planned, Record, StateFailed, here
from states.file._managed import Writing, look_at
from states.file._permissions import permissions

Owner = Name | int | None


class FileArguments(Record):
    """The file itself.

    user, group, mode, attrs, makedirs, dir_mode, backup, create, follow_symlinks, check_cmd,
      tmp_dir, tmp_ext: As of file.managed.
    """

    user: Owner = None
    group: Owner = None
    mode: Mode | None = None
    attrs: Line | None = None
    makedirs: bool = False
    dir_mode: Mode | None = None
    backup: Line | bool | None = None
    create: bool = True
    follow_symlinks: bool = True
    check_cmd: str | None = None
    tmp_dir: Line | None = None
    tmp_ext: Line | None = None

    def writing(self, name: str, private: bool = False) -> Writing:
        """The file to be. private: it holds a private key."""
        if private and self.backup:
            here.warn("a file with a private key is not backed up, so that there is one copy of it")
        return Writing(
            look_at(name, self.follow_symlinks),
            permissions(self.user, self.group, self.mode or _private_mode(name, private)),
            self.makedirs,
            self.dir_mode,
            self.attrs,
            "minion" if self.backup and self.backup != "master" and not private else None,
            self.check_cmd,
            self.tmp_dir,
            self.tmp_ext or "",
            private,
        )


ManagedFile = Annotated[FileArguments, Group()]


def _private_mode(name: str, private: bool) -> str | None:
    """The mode of a file that gets a private key, and that all may read as it is."""
    readable = private and file.is_file(name) and file.stat(name).bits & 0o004
    return "0600" if readable else None


def present_data(writing: Writing) -> bytes | None:
    """The contents of the file as it is; None where it is to be made."""
    if writing.new:
        return None
    name = writing.target.name
    if writing.target.present is None or not file.is_file(name):
        writing.target.refuse_special()
        return None
    return file.read_bytes(name)


def manage(
    what: str,
    writing: Writing,
    arguments: FileArguments,
    changes: dict[str, Any],
    make: Callable[[], bytes],
    anew: bool = True,
) -> Planned:
    """Bring the file about. what: its contents in words. changes: how the present contents differ.

    anew: contents that are there are said to be recreated.
    """
    name = writing.target.name
    if writing.new and not arguments.create:
        return f"File {name} is not present and is not set for creation"
    if not changes and (writing.new or not writing.permission_changes()):
        return f"The {what} is in the correct state"
    if not changes:
        verb = "updated"
    elif writing.new or not anew:
        verb = "created"
    else:
        verb = "recreated"
    done = yield from writing.with_contents(
        make, changes, f"The {what} would have been {verb}", f"The {what} has been {verb}"
    )
    return done


def refuse_private_key(data: bytes, name: str) -> None:
    """Raise StateFailed for contents that are a private key, which is not replaced by anything
    else.
    """
    if b"PRIVATE KEY-----" in data:
        raise StateFailed(
            f"{name} holds a private key, which is not replaced by anything else: if that is meant,"
            " remove it first"
        )


def paths(arguments: Iterable[object]) -> list[str]:
    """The paths among arguments."""
    return [item for item in arguments if isinstance(item, str) and item.startswith("/")]
