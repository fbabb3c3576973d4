# SPDX-License-Identifier: Apache-2.0
"""The packages that a plan installs, with what is in their archives: fetched into the package
manager's own cache where this machine has a network, `foresee` of the configuration allows it, and
they are not too large.
"""

from __future__ import annotations

# os in this file: it asks for archives and the network, which are no part of the planned machine
import json
import os
import time
from collections.abc import Mapping
from typing import Any

from modules.pkg import _contents
from modules.pkg._contents import Contents
from modules.pkg._tar import BadArchive
from modules.pkg.package_manager import Archive, Changes, PackageManager, Transaction
from runner.api import CommandFailed, Record, fetcher, here

MOST_MEGABYTES, MOST_SECONDS = 512, 180.0  # of what is fetched, and for how long, in one run
KNOWN = "archives.json"
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
    settings = _settings()
    if settings["packages"] == "never" or not manager.has("archives_ahead"):
        return None
    if any(target.path for target in transaction.targets):
        return None
    versions = tuple(sorted((name, each["new"]) for name, each in changes.items() if each["new"]))
    archives = _archives(manager, versions)
    if len(archives) < len(versions):
        return None
    missing = [archive for archive in archives.values() if not _is_there(archive)]
    if missing and not _fetched(manager, missing, transaction, settings):
        return None
    packages = []
    for name, version in versions:
        try:
            contents = _contents.contents_of(archives[name], manager)
        except (BadArchive, OSError) as problem:
            _warn(f"{archives[name].path}: {getattr(problem, 'strerror', None) or problem}")
            return None
        packages.append(PlannedPackage(name, version, changes[name]["old"], contents))
    return packages


def _warn(why: str) -> None:
    here.warn(f"what the packages bring is not foreseen: {why}")


def _settings() -> dict[str, Any]:
    """`foresee` of the configuration."""
    given: Mapping[str, Any] = here.opts.get("foresee") or {}
    return {"packages": "auto", "size": MOST_MEGABYTES, "seconds": MOST_SECONDS, **given}


def _is_there(archive: Archive) -> bool:
    if _contents.is_kept(archive):
        return True
    try:
        return os.stat(archive.path).st_size == archive.size
    except OSError:
        return False


def _fetched(
    manager: PackageManager,
    missing: list[Archive],
    transaction: Transaction,
    settings: Mapping[str, Any],
) -> bool:
    """Fetch archives, and tell whether all are there."""
    if settings["packages"] != "auto" or os.geteuid() != 0 or not has_network():
        return False
    spent = here.store("packages ahead")
    size = spent.get("size", 0) + sum(archive.size for archive in missing)
    seconds = float(settings["seconds"]) - spent.get("seconds", 0.0)
    why = ""
    if size > int(settings["size"]) << 20:
        why = f"{size / 1048576:.0f} MiB would be fetched; `foresee: {{size: MiB}}` allows more"
    elif seconds <= 0:
        why = "fetching took too long; `foresee: {seconds: SECONDS}` allows more"
    else:
        began = time.monotonic()
        versions = tuple((archive.name, archive.version) for archive in missing)
        try:
            manager.fetch_archives(versions, transaction.options, seconds)
        except CommandFailed as failure:
            why = failure.message
        spent["seconds"] = spent.get("seconds", 0.0) + time.monotonic() - began
        spent["size"] = size
    if why:
        _warn(why)
        return False
    return all(map(_is_there, missing))


def has_network() -> bool:
    """Return whether this machine has a route to others."""
    return any(
        any(line.split() and line.split()[position] != "lo" for line in _lines(path))
        for path, position in (("/proc/net/route", 0), ("/proc/net/ipv6_route", -1))
    )


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="ascii", errors="replace") as opened:
            lines = opened.read().splitlines()
    except OSError:
        return []
    return [line for line in lines if not line.startswith("Iface")]


# ---------------------------------------------------------------- archives that are known


def _archives(manager: PackageManager, versions: Versions) -> dict[str, Archive]:
    """Return the archives of packages; kept for later runs until the package lists are others."""
    stamp = lists_stamp(manager)
    known = _known(stamp)
    found = {name: known[name, version] for name, version in versions if (name, version) in known}
    rest = tuple((name, version) for name, version in versions if name not in found)
    if rest:
        more = manager.find_archives(rest)
        found |= more
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
    try:
        kept = json.loads(here.cache_folder(_contents.FOLDER).read(KNOWN))
        if kept["stamp"] == stamp:
            archives = [Archive(*values) for values in kept["archives"]]
            return {(archive.name, archive.version): archive for archive in archives}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {}


@fetcher
def _keep(stamp: list[Any], known: Mapping[tuple[str, str], Archive]) -> None:
    kept = {"stamp": stamp, "archives": [tuple(archive) for archive in known.values()]}
    here.cache_folder(_contents.FOLDER).write(KNOWN, json.dumps(kept).encode())
