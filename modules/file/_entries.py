# SPDX-License-Identifier: Apache-2.0
"""The paths below a folder."""

from __future__ import annotations

import os
import stat as bits

from modules import _paths
from runner.api import Record, for_states, planned_as


class PathEntry(Record):
    """One path. kind: file, dir, link or other. Times are seconds since 1970."""

    path: str
    kind: str
    size: int
    atime: float
    mtime: float
    ctime: float


def entries_below(folder: str, follow: bool = False) -> list[PathEntry]:
    """All paths below a folder, the deepest first, then by name; what goes away meanwhile is left
    out.
    """
    entries = []
    walked = _paths.walk(folder, topdown=False, followlinks=follow)
    for root, folders, files in sorted(walked, key=lambda at: (-at[0].count("/"), at[0])):
        _paths.note_listed(root, [*files, *folders])
        for name in [*sorted(files), *sorted(folders)]:
            path = os.path.join(root, name)
            try:
                at = _paths.lstat(path)
            except OSError:
                continue
            kinds = {bits.S_IFREG: "file", bits.S_IFDIR: "dir", bits.S_IFLNK: "link"}
            kind = kinds.get(bits.S_IFMT(at.st_mode), "other")
            entries.append(PathEntry(path, kind, at.st_size, at.st_atime, at.st_mtime, at.st_ctime))
    return entries


@for_states
@planned_as(lambda folder: 0)  # a plan has no half of it
def count_below(folder: str) -> int:
    """The number of paths below a folder; none of them is looked at."""
    return sum(len(folders) + len(files) for _, folders, files in _paths.walk(folder))


def same(first: str, second: str) -> bool:
    """Return whether two names are the same file."""
    try:
        one, other = _paths.lstat(first), _paths.lstat(second)
    except OSError:
        return False
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
