# SPDX-License-Identifier: Apache-2.0
"""The packages that a plan installs, with what is in their archives: fetched into the package
manager's own cache where this machine has a network, `foresee` of the configuration allows it, and
they are not too large.
"""

from __future__ import annotations

import concurrent.futures
import contextvars
import hashlib

# os in this file: it asks for archives and the network, which are no part of the planned machine
import json
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from modules._machine import fetching
from modules._planned.overlay import planned_machine
from modules.pkg import _contents
from modules.pkg._contents import Contents
from modules.pkg._tar import BadArchive
from modules.pkg.package_manager import Archive, Changes, PackageManager, Transaction
from runner.api import CommandFailed, Record, fetcher, here

PAUSE = 0.02  # seconds between two looks for archives that are being fetched
KNOWN = "archives.json"
# those that are believed: apk vouches by that of what an archive says of its files
_DIGEST = re.compile(
    r"(?:control-)?sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}|control-sha1:[0-9a-f]{40}"
)
Versions = tuple[tuple[str, str], ...]


class PlannedPackage(Record):
    """A package that a plan installs. old: the version that it replaces; empty for none."""

    name: str
    version: str
    old: str
    contents: Contents


def planned_packages(
    manager: PackageManager, changes: Changes, transaction: Transaction
) -> list[PlannedPackage] | None:
    """Return the packages that changes install; None where what is in them cannot be known."""
    if not manager.has("archives_ahead"):
        return None
    versions = tuple(sorted((name, each["new"]) for name, each in changes.items() if each["new"]))
    try:
        own = _own_archives(manager, changes, transaction)
    except OSError:  # a file that is only planned
        return None
    try:
        contents = _contents_of(manager, versions, own, transaction)
    except (BadArchive, CommandFailed, OSError) as problem:
        why = f"{problem}"
        if isinstance(problem, OSError):
            why = f"{here.cache_folder(_contents.FOLDER).path}: {problem.strerror or problem}"
        here.warn(f"what the packages bring is not foreseen: {why}")
        return None
    if contents is None:
        return None
    return [
        PlannedPackage(name, version, changes[name]["old"], contents[name])
        for name, version in versions
    ]


def _contents_of(
    manager: PackageManager,
    versions: Versions,
    own: Mapping[str, Archive],
    transaction: Transaction,
) -> dict[str, Contents] | None:
    """What packages hold; None where that cannot be known. own: archives that are no repository's.
    Raises BadArchive, CommandFailed and OSError.
    """
    listed = tuple((name, version) for name, version in versions if name not in own)
    archives = {**own, **_archives(manager, listed)}
    if len(archives) < len(versions):
        return None
    missing = tuple(archive for archive in archives.values() if not _is_there(archive))
    fetch = None
    if missing:
        setting = fetching.settings()["packages"]
        if setting != "auto" or os.geteuid() != 0 or not fetching.has_network():
            return None
        fetch = partial(_fetch, manager, missing, transaction)
    return _read(manager, archives, fetch)


def _own_archives(
    manager: PackageManager, changes: Changes, transaction: Transaction
) -> dict[str, Archive]:
    """Return the archives that a transaction names itself, by their packages. Raises OSError."""
    archives = {}
    for target in transaction.targets:
        name = manager.normal(target.name)
        if target.path and name in changes:
            with open(target.path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                digest = f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
            archives[name] = Archive(name, changes[name]["new"], target.path, size, digest)
    return archives


def _read(
    manager: PackageManager, archives: Mapping[str, Archive], fetch: Callable[[], None] | None
) -> dict[str, Contents]:
    """What archives hold, each read as soon as it is there. fetch: has them come, in this thread,
    where a run is interrupted. Raises BadArchive, and what that raises.
    """
    known = [name for name, archive in archives.items() if _contents.is_kept(archive)]
    contents = {name: _contents.contents_of(archives[name], manager) for name in known}
    waiting = {name: archive for name, archive in archives.items() if name not in contents}
    if not waiting:
        return contents
    reading: dict[str, concurrent.futures.Future[Contents]] = {}
    fetched = threading.Event()

    def read_what_is_there() -> None:
        while waiting:
            ended = fetched.is_set()
            for name in [name for name in waiting if ended or _is_there(waiting[name])]:
                look = _contents.contents_of
                reading[name] = pool.submit(
                    contextvars.copy_context().run, look, waiting.pop(name), manager
                )
            if waiting:
                fetched.wait(PAUSE)

    with concurrent.futures.ThreadPoolExecutor(1 + (os.cpu_count() or 1)) as pool:
        try:
            reader = pool.submit(contextvars.copy_context().run, read_what_is_there)
            if fetch:
                fetch()
        finally:
            fetched.set()
        reader.result()
    for name, result in reading.items():
        try:
            contents[name] = result.result()
        except (BadArchive, OSError) as problem:
            why = getattr(problem, "strerror", None) or problem
            raise BadArchive(f"{archives[name].path}: {why}") from None
    return contents


def _is_there(archive: Archive) -> bool:
    if _contents.is_kept(archive):
        return True
    try:
        return os.stat(archive.path).st_size == archive.size
    except OSError:
        return False


def _fetch(manager: PackageManager, missing: Sequence[Archive], transaction: Transaction) -> None:
    """Have archives come, within the limits of a run. Raises CommandFailed."""
    allowance = fetching.Allowance()
    allowance.take(sum(archive.size for archive in missing))
    seconds = allowance.seconds()
    versions = tuple((archive.name, archive.version) for archive in missing)
    try:
        manager.fetch_archives(versions, transaction.options, seconds)
    finally:
        allowance.count_time()


# ---------------------------------------------------------------- archives that are known


def _archives(manager: PackageManager, versions: Versions) -> dict[str, Archive]:
    """Return the archives of packages; kept for later runs until the package lists are others."""
    stamp = lists_stamp(manager)
    known = _known(stamp)
    found = {name: known[name, version] for name, version in versions if (name, version) in known}
    if len(found) < len(versions):
        asked = {**planned_machine().coming, **dict(versions)}
        rest = [pair for pair in sorted(asked.items()) if pair not in known]
        listed = manager.find_archives(tuple(rest))
        more = {name: each for name, each in listed.items() if _DIGEST.fullmatch(each.digest)}
        found |= {name: more[name] for name, _ in versions if name in more}
        known |= {(archive.name, archive.version): archive for archive in more.values()}
        _keep(stamp, known)
    return found


def lists_stamp(manager: PackageManager) -> list[Any]:
    """Return what is another one when the package lists, or what names them, are others."""
    paths = [*manager.package_lists()]
    for path in manager.REPOSITORY_FILES:
        inside = sorted(os.listdir(path)) if os.path.isdir(path) else ()
        paths += [path, *(os.path.join(path, name) for name in inside)]
    return [_stamp(path) for path in paths]


def _stamp(path: str) -> list[Any]:
    try:
        status = os.stat(path)
    except OSError:
        return [path]
    return [path, status.st_mtime_ns, status.st_ino, status.st_size]


def _known(stamp: list[Any]) -> dict[tuple[str, str], Archive]:
    kept = _contents.read_kept(here.cache_folder(_contents.FOLDER), KNOWN)
    with suppress(KeyError, TypeError):  # damaged
        if kept["stamp"] == stamp:
            archives = [Archive(*values) for values in kept["archives"]]
            return {(archive.name, archive.version): archive for archive in archives}
    return {}


@fetcher
def _keep(stamp: list[Any], known: Mapping[tuple[str, str], Archive]) -> None:
    kept = {"stamp": stamp, "archives": [tuple(archive) for archive in known.values()]}
    here.cache_folder(_contents.FOLDER).write(KNOWN, json.dumps(kept).encode())
