# SPDX-License-Identifier: Apache-2.0
"""Access control lists of files (POSIX), with getfacl and setfacl."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice

from modules import cmd
from modules._machine.processes import needs
from modules._texts.lines import plain_name
from modules.file._change import explained
from modules.file._paths.place import Place, place
from modules.file._paths.walk import real_path
from modules.file._snapshot import MOST_COPIED, paths_below, snapshot
from runner.api import CommandFailed, Record, changer

MOST = 200  # objects that are held open at once
TYPES = {"u": "user", "g": "group", "m": "mask", "o": "other"}


class AclEntry(Record):
    """One line of a list. kind: user, group, mask or other, behind `default:` for what new files
    get.
    """

    kind: str
    name: str
    perms: str


def entries(path: str, recursive: bool = False) -> dict[str, list[AclEntry]]:
    """The lists of a path, or of all that lies below it, too. Raises StateFailed when getfacl
    fails.
    """
    needs("getfacl", "acl")
    done = cmd.probe(
        [
            "getfacl",
            "--absolute-names",
            *(["--recursive", "--physical"] if recursive else []),
            "--",
            path,
        ]
    ).or_fail()
    lists: dict[str, list[AclEntry]] = {}
    here = path
    for line in done.stdout.splitlines():
        if line.startswith("# file: "):
            here = _unescaped(line.removeprefix("# file: "))
            lists[here] = []
        elif line and not line.startswith("#"):
            kind, name, perms = line.partition("\t")[0].rsplit(":", 2)
            lists[here].append(AclEntry(kind, name, perms.strip()))
    return lists


def _unescaped(text: str) -> str:
    """getfacl writes what is not a plain character as a backslash and three octal digits."""
    return (
        text.encode()
        .decode("unicode_escape")
        .encode("latin-1", "surrogateescape")
        .decode(errors="surrogateescape")
    )


def getfacl(*args: str, recursive: bool = False) -> dict[str, dict[str, list[dict[str, str]]]]:
    """The lists of some paths: by path and kind the names with what they may.

    {{ salt['acl.getfacl']('/srv/www') | json }}
    """
    shown: dict[str, dict[str, list[dict[str, str]]]] = {}
    for path in args:
        for where, listed in entries(path, recursive).items():
            kinds = shown.setdefault(where, {})
            for entry in listed:
                kinds.setdefault(entry.kind, []).append({entry.name: entry.perms})
    return shown


def _former(paths: Sequence[str], recursive: bool) -> object:
    """The snapshots of what lies at paths, and below; None where it is too much for undo."""
    found = []
    for path in paths:
        found.append(path if recursive else real_path(path))
        if recursive:
            found += islice(paths_below(path), MOST_COPIED + 1)
    return {"several": [*map(snapshot, found)]} if len(found) <= MOST_COPIED else None


def _before(_kind: str, _name: str, _perms: str, *args: str, recursive: bool = False) -> object:
    return _former(args, recursive)


def _before_removal(_kind: str, _name: str, *args: str, recursive: bool = False) -> object:
    return _former(args, recursive)


def _before_all(*args: str, recursive: bool = False) -> object:
    return _former(args, recursive)


@changer(before=_before)
def modfacl(acl_type: str, acl_name: str, perms: str, *args: str, recursive: bool = False) -> bool:
    """Give a user or a group rights on paths."""
    return _run_setfacl(["-m", f"{_one_entry(acl_type, acl_name)}:{perms}"], args, recursive)


@changer(before=_before_removal)
def delfacl(acl_type: str, acl_name: str, *args: str, recursive: bool = False) -> bool:
    """Take the rights of a user or a group on paths away."""
    return _run_setfacl(["-x", _one_entry(acl_type, acl_name)], args, recursive)


@changer(before=_before_all)
def wipefacls(*args: str, recursive: bool = False) -> bool:
    """Take all rights away that go beyond those of owner, group and others."""
    return _run_setfacl(["-b"], args, recursive)


def _one_entry(kind: str, name: str) -> str:
    """The subject of an entry. Raises CommandFailed for what setfacl would take for several."""
    if not set(",\n\r").isdisjoint(f"{kind}{name}") or ":" in name:
        raise CommandFailed(f"{name!r} is not the name of one user or group")
    return plain_name(f"{kind}:{name}", "the entry")


def _run_setfacl(how: Sequence[str], paths: Sequence[str], recursive: bool) -> bool:
    needs("setfacl", "acl")
    folders_only = recursive and any(word.startswith("default:") for word in how)
    with ExitStack() as held:
        batch = _Batch(how, held)
        for path in paths:
            with explained("setting the rights", path), place(path, follow=not recursive) as where:
                _visit(where, batch, recursive, folders_only)
        batch.set()
    return True


def _visit(where: Place, batch: _Batch, recursive: bool, folders_only: bool) -> None:
    """Set the rights of what is at a place, and of all that is in it; links are left alone."""
    with where.pinned() as pin:
        is_folder, is_link = pin.is_dir, pin.is_link
    if not is_link and (is_folder or not folders_only):
        batch.add(where)
    if recursive and is_folder:
        with where.entered() as folder:
            for name in folder.names():
                with folder.place(name) as inner:
                    _visit(inner, batch, recursive, folders_only)


class _Batch:
    """Objects that are held open until one call of setfacl has set the rights of all of them."""

    def __init__(self, how: Sequence[str], held: ExitStack) -> None:
        self._how, self._held = how, held
        self._paths: dict[str, str] = {}

    def add(self, where: Place) -> None:
        pin = self._held.enter_context(where.pinned())
        pin.refuse_shared()
        self._paths[pin.name()] = where.path
        if len(self._paths) >= MOST:
            self.set()

    def set(self) -> None:
        """Set the entries of the paths so far. Raises CommandFailed when setfacl fails."""
        if not self._paths:
            return
        done = cmd.execute(["setfacl", *self._how, "--", *self._paths])
        if done.retcode:
            problem = done.error_text
            for name, path in self._paths.items():
                problem = problem.replace(f"{name}:", f"{path}:")
            raise CommandFailed(problem)
        self._held.close()
        self._paths.clear()
