# SPDX-License-Identifier: Apache-2.0
"""The list of the files of a tree as they were checked out, and what has changed since."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping

from runner.model.records import Record

CACHE = "__pycache__"  # what Python makes beside a tree's own modules


class ManifestEntry(Record):
    """One file or link. kind: "file", "program" or "link". digest: of its contents. The times are
    in nanoseconds.
    """

    kind: str
    digest: str
    size: int
    modified: int
    changed: int


Manifest = Mapping[str, ManifestEntry]  # by path


def taken(folder: str) -> Manifest:
    """The manifest of a folder as it is. Raises OSError."""
    return {path: _entry(os.path.join(folder, path)) for path in _paths(folder)}


def text_of(manifest: Manifest) -> str:
    """The manifest for a file."""
    return json.dumps({path: list(entry) for path, entry in manifest.items()})


def parsed(text: str) -> Manifest:
    """The manifest of a file. Raises ValueError."""
    try:
        return {path: ManifestEntry(*values) for path, values in json.loads(text).items()}
    except (AttributeError, TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def alterations(folder: str, manifest: Manifest) -> Iterator[str]:
    """Yield what somebody has altered in a folder, in words: a path and what became of it.

    A file with the size and the times that it had is not read.
    """
    there = set(_paths(folder))
    for path in sorted(there | manifest.keys()):
        if path not in manifest:
            yield f"{path} was added"
        elif path not in there:
            yield f"{path} is gone"
        elif not _is_same(os.path.join(folder, path), manifest[path]):
            yield f"{path} was changed"


def _is_same(path: str, entry: ManifestEntry) -> bool:
    try:
        status = os.lstat(path)
        if _kind(status) != entry.kind or status.st_size != entry.size:
            return False
        if (status.st_mtime_ns, status.st_ctime_ns) == (entry.modified, entry.changed):
            return True
        return _entry(path).digest == entry.digest
    except OSError:
        return False


def _entry(path: str) -> ManifestEntry:
    status = os.lstat(path)
    kind = _kind(status)
    if kind == "link":
        digest = hashlib.sha256(os.fsencode(os.readlink(path))).hexdigest()
    elif kind in ("file", "program"):
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    else:
        digest = ""
    return ManifestEntry(kind, digest, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _kind(status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "link"
    if stat.S_ISREG(status.st_mode):
        return "program" if status.st_mode & 0o100 else "file"
    return "special"


def _paths(folder: str) -> Iterator[str]:
    """The paths of all files and links below a folder; of none where there is no such folder."""
    below = [""]
    while below:
        prefix = below.pop()
        try:
            with os.scandir(os.path.join(folder, prefix)) as entries:
                for entry in entries:
                    path = f"{prefix}{entry.name}"
                    if not entry.is_dir(follow_symlinks=False):
                        yield path
                    elif entry.name != CACHE:
                        below.append(f"{path}/")
        except (FileNotFoundError, NotADirectoryError):
            continue
