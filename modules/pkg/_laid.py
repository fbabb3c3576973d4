# SPDX-License-Identifier: Apache-2.0
"""What is in packages, laid over the planned files, and taken away again: by the rules by which
package managers do it.

A directory that is there stays as it is, a link to one, too; a configuration file that is there
keeps its contents. An upgrade takes away what the older version had and the newer one has not.
"""

from __future__ import annotations

import hashlib
import os
import stat as bits
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from modules import _accounts, _paths
from modules._planned.files import Entry, PlannedFiles, planned_files
from modules._planned.overlay import planned_machine
from modules.pkg._ahead import PlannedPackage
from modules.pkg._contents import Contents, Member
from modules.pkg.package_manager import PackageManager, Placement
from runner.api import CommandFailed, Record, here

REMOVING = frozenset(("prerm", "postrm"))  # scripts of a package that goes


class Former(Record):
    """A package that is installed, or will be. paths: what it has brought; configuration: of that
    what stays until it is purged. scripts: those that run when it goes.
    """

    name: str
    paths: tuple[str, ...]
    configuration: frozenset[str]
    scripts: Mapping[str, str]


def former_package(manager: PackageManager, name: str) -> Former | None:
    """Return a package that is there, or planned; None where it is not known what it has."""
    planned = planned_machine().packages.get(name)
    if planned is not None:
        contents = planned.contents
        paths = tuple(member.path for member in contents.members)
        scripts = {each: contents.control[each] for each in contents.control.keys() & REMOVING}
        return Former(name, paths, contents.configuration, scripts)
    if not manager.has("archives_ahead"):
        return None
    installed = manager.installed_scripts(name)
    scripts = {each: installed[each] for each in installed.keys() & REMOVING}
    configuration = frozenset(manager.placement((name,)).configuration)
    paths = tuple(path.rstrip("/") for path in manager.file_list(name))
    return Former(name, paths, configuration, scripts)


def install(
    manager: PackageManager, packages: Sequence[PlannedPackage], replaces_configuration: bool
) -> None:
    """Plan what packages bring, and that what older versions of them had is gone."""
    if not packages:
        return
    placement = manager.placement(tuple(package.name for package in packages))
    replaces_configuration &= bool(placement.REPLACED)  # others cannot be told so
    laying = _Laying(_files(), placement, replaces_configuration)
    for package in packages:
        former = former_package(manager, package.name) if package.old else None
        planned_machine().packages[package.name] = package
        if former is not None:
            own = package.contents.by_path
            gone = tuple(path for path in former.paths if path not in own)
            kept = former.configuration & {*gone}
            take_away(manager, former._replace(paths=gone, configuration=kept), purges=False)
        laying.all_of(package)


def take_away(manager: PackageManager, former: Former, purges: bool) -> None:
    """Plan that the files of a package are gone, with the directories that are empty then. purges:
    its configuration, too.
    """
    files, placement = _files(), manager.placement((former.name,))
    purges &= placement.PURGES
    stay = frozenset() if purges else former.configuration
    folders = _Folders(files)
    empty: list[tuple[str, tuple[str, Entry], str]] = []
    paths = [placement.path(former.name, path) for path in former.paths if path not in stay]
    if purges:
        paths += [path + end for path in former.configuration for end in ("", *placement.BESIDE)]
    for path in sorted({*paths}, reverse=True):
        above, name = os.path.split(path)
        folder = folders.at(above) if name else None
        entry = folder[1].child(name) if folder else None
        if folder and entry and (entry.is_dir or (entry.is_link and _paths.isdir(path))):
            empty.append((path, folder, name))
        elif folder and entry:
            files.put(folder, name, None)
    saves = not placement.KEEPS and not purges
    for path in sorted(former.configuration, reverse=True) if saves else ():
        folder = folders.at(os.path.dirname(path))
        entry = folder[1].child(os.path.basename(path)) if folder else None
        if folder and entry:
            files.put(folder, os.path.basename(path), None)
            known = placement.configuration.get(path, "md5:")
            if _digest(entry, known.partition(":")[0]) != known:
                files.put(folder, os.path.basename(path) + placement.SAVED, entry)
                if warning := placement.SAVED_WARNING:
                    here.warn(warning.format(path=path, saved=path + placement.SAVED))
    kept: Collection[str] | None = None
    for path, folder, name in empty:  # what is inside comes first
        entry = folder[1].child(name)
        if entry is None or entry.listed():
            continue
        if kept is None:
            kept = _kept_by_others(manager, former.name, [path for path, *_ in empty])
        if path not in kept:
            files.put(folder, name, None)


def _kept_by_others(manager: PackageManager, name: str, paths: Sequence[str]) -> set[str]:
    """The directories that other packages have, too."""
    planned = planned_machine().packages
    others = [package for other, package in planned.items() if other != name]
    kept = {path for path in paths if any(path in each.contents.by_path for each in others)}
    try:
        return kept | manager.kept_by_others(name, tuple(paths))
    except CommandFailed:  # its program does not see what is planned
        return {*paths}


def _files() -> PlannedFiles:
    files = planned_files()
    assert files is not None, "a dry run plans"
    return files


class _Folders:
    """Folders in which much is planned, each walked to once."""

    def __init__(self, files: PlannedFiles) -> None:
        self._files = files
        self._known: dict[str, tuple[str, Entry] | None] = {}

    def at(self, path: str) -> tuple[str, Entry] | None:
        """A folder; None where there is none."""
        if path not in self._known:
            try:
                self._known[path] = self._files.held_folder(path)
            except OSError:
                self._known[path] = None
        return self._known[path]

    def made(self, path: str) -> tuple[str, Entry] | None:
        """A folder, which is made if nothing is there, as those above; None for what is none."""
        found = self.at(path)
        above, name = os.path.split(path)
        if found is None and name:
            folder = self.made(above)
            if folder is not None and folder[1].child(name) is None:
                self._files.put(folder, name, Entry(bits.S_IFDIR | 0o755, 0, 0))
                self._known.pop(path, None)
                found = self.at(path)
        return found


class _Laying:
    """Packages that are laid over the planned files."""

    def __init__(
        self, files: PlannedFiles, placement: Placement, replaces_configuration: bool
    ) -> None:
        self._files, self._placement = files, placement
        self._replaces_configuration = replaces_configuration
        self._folders = _Folders(files)
        self._made: dict[str, Entry] = {}  # of the present package, by the path in its archive

    def all_of(self, package: PlannedPackage) -> None:
        contents = package.contents
        self._made = {}
        for member in contents.members:
            path = self._placement.path(package.name, member.path)
            above, name = os.path.split(path)
            folder = self._folders.made(above) if name else None
            if folder is None:  # left out, or a file is where a directory would be
                continue
            there = folder[1].child(name)
            if there is not None and (bits.S_ISDIR(member.mode) or there.is_dir):
                continue  # a directory, or a link to one
            entry = self._entry(contents, member, path)
            if entry is None:
                continue
            if member.path in contents.configuration:
                replaces = self._replaces_configuration or member.path in contents.replaced
                self._put_configuration(folder, name, path, entry, replaces)
            else:
                self._files.put(folder, name, entry)

    def _put_configuration(
        self, folder: tuple[str, Entry], name: str, path: str, entry: Entry, replaces: bool
    ) -> None:
        """Put a configuration file at its place, or beside the one that stays."""
        there = folder[1].child(name)
        known = self._placement.configuration.get(path)
        kind = known.partition(":")[0] if known else "md5"
        now, new = _digest(there, kind) if there else "", _digest(entry, kind)
        comes = known is None or self._placement.RESTORES
        if (there is None and comes) or now == known:
            self._files.put(folder, name, entry)
        elif new in (known, now):
            return
        elif replaces:
            if there is not None:
                self._files.put(folder, name + self._placement.REPLACED, there)
            self._files.put(folder, name, entry)
        else:
            self._files.put(folder, name + self._placement.LEFT, entry)
            if warning := self._placement.LEFT_WARNING:
                here.warn(warning.format(path=path, left=path + self._placement.LEFT))

    def _entry(self, contents: Contents, member: Member, path: str) -> Entry | None:
        """Return what a member becomes."""
        if member.hard:
            return self._made.get(member.link)
        user, group, mode = self._placement.rights(path) or (member.user, member.group, member.mode)
        uid = _number(_accounts.user, user, member.uid)
        gid = _number(_accounts.group, group, member.gid)
        entry = Entry(bits.S_IFMT(member.mode) | bits.S_IMODE(mode), uid, gid)
        entry.mtime_ns = member.mtime * 1_000_000_000
        if entry.is_link:
            entry.target = member.link
        elif entry.is_file:
            entry.contents = contents.of(member)
        self._made[member.path] = entry
        return entry


def _digest(entry: Entry, kind: str) -> str:
    """The digest of a file, as package managers keep them; empty for what is none."""
    if not entry.is_file:
        return ""
    with entry.reader() as reader:
        return f"{kind}:{hashlib.file_digest(reader, kind).hexdigest()}"


def _number(look: Callable[[str], Sequence[Any]], name: str, number: int) -> int:
    """The number of an account that this machine has by its name; else the one of the archive."""
    if name in ("", "root"):
        return 0 if name else number
    try:
        return int(look(name)[2])
    except KeyError:
        return number
