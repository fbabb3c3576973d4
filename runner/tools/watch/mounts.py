# SPDX-License-Identifier: Apache-2.0
"""The table of mounts of this process: its lines, and where what they tell of lies.

The kernel tells of what this machine changes in a file system. What another one does (NFS), what a
server does (FUSE), or what is done below an overlay, has to be looked for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping

from runner.model.paths import unescaped

PATH = "/proc/self/mountinfo"
_PIECE = 1 << 16
_SHARED = re.compile(
    r"nfs4?|cifs|smb3?|smbfs|9p|virtiofs|vboxsf|ceph|afs|coda|lustre|beegfs|orangefs|gfs2|ocfs2"
    r"|fuse(\..*)?"
)
_LOWER = re.compile(rb"(?:^|,)lowerdir\+?=(/[^:,]+)")  # the uppermost


def lines(descriptor: int) -> frozenset[bytes]:
    """The lines of an open mountinfo file; from then on poll(2) tells of other ones."""
    text = b""
    while piece := os.pread(descriptor, _PIECE, len(text)):
        text += piece
    return frozenset(text.split(b"\n")) - {b""}


def present() -> frozenset[bytes]:
    """The lines as they are now."""
    descriptor = os.open(PATH, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return lines(descriptor)
    finally:
        os.close(descriptor)


class Polled:
    """Which paths lie in file systems that others may change without a word."""

    def __init__(self, of_lines: Iterable[bytes]) -> None:
        """
        >>> shared = b"9 1 0:9 / /a rw - nfs4 server:/a rw"
        >>> polled = Polled([shared, b"8 9 8:1 / /a/b rw shared:1 - ext4 /dev/sda1 rw"])
        >>> polled.has("/a/c"), polled.has("/a"), polled.has("/a/b/c"), polled.has("/ab")
        (True, True, False, False)
        """
        rows = [line.split(b" ") for line in of_lines]
        by_number = {fields[0]: fields for fields in rows}
        places = {(fields[1], fields[4]) for fields in rows if fields[1] != fields[0]}
        self._points: dict[str, bool] = {}
        self.servers = set[str]()  # where what others serve is mounted
        overlays: dict[str, str] = {}  # with a folder below
        for fields in rows:
            if not _is_covered(fields, by_number, places):
                point, rest = _path(fields[4]), fields[fields.index(b"-") + 1 :]
                self._points[point] = bool(_SHARED.fullmatch(os.fsdecode(rest[0])))
                if self._points[point] and point != "/":
                    self.servers.add(point)
                if lower := _LOWER.search(rest[-1]):
                    overlays[point] = _path(lower[1])
        for point, lower_folder in overlays.items():
            # of a container, what is below is nowhere in its file system
            is_here = self._point(lower_folder) != point and (
                bool(self.server(lower_folder)) or os.path.isdir(lower_folder)
            )
            self._points[point] = is_here
        self.any = any(self._points.values())

    def has(self, path: str) -> bool:
        """Return whether a path lies in one of them."""
        return self.any and self._points.get(self._point(path), False)

    def server(self, path: str) -> str:
        """Where what another one serves is mounted, if a path lies in such a file system."""
        point = self._point(path) if self.servers else ""
        return point if point in self.servers else ""

    def _point(self, path: str) -> str:
        """Where what a path lies in is mounted."""
        while path not in self._points and path.strip("/"):
            path = os.path.dirname(path)
        return path


def _is_covered(
    fields: list[bytes],
    by_number: Mapping[bytes, list[bytes]],
    places: Collection[tuple[bytes, bytes]],
) -> bool:
    """Return whether no path leads to a mount: another one is at its place, or on the way there.
    places: of all mounts, the number of the one that each lies in, with its point.
    """
    if (fields[0], fields[4]) in places:
        return True
    while True:
        number, outer, point = fields[0], fields[1], fields[4]
        while point != b"/":
            point = os.path.dirname(point)
            if (outer, point) in places:
                return True
        if outer == number or outer not in by_number:
            return False
        fields = by_number[outer]


def points(of_lines: Iterable[bytes]) -> list[str]:
    """The folders, or files, that are mounted on.

    >>> points([b"23 1 8:1 / /my\\\\040data ro shared:1 - ext4 /dev/sda1 rw"])
    ['/my data']
    """
    return [_path(line.split(b" ")[4]) for line in of_lines]


def _path(field: bytes) -> str:
    return unescaped(os.fsdecode(field))
