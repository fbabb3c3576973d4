# SPDX-License-Identifier: Apache-2.0
"""Contents that stay on disk: compared, hashed and copied piece by piece, so that their size costs
no memory.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from modules._paths import stat_of
from modules._planned.overlay import overlay
from modules.file._contents import holes, limits
from modules.file._look import SMALL, note_version, opened_to_read
from runner.api import Record, StateFailed, Unforeseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

PIECE = 256 * 1024  # bytes that are held at once
HEAD = 4096  # bytes that show whether a file is text


class Streamed(Record):
    """The contents of a file as they were when it was looked at; what has changed since is refused,
    not copied.
    """

    path: str
    size: int
    # device, inode, when its contents and anything of it changed
    identity: tuple[int, int, int, int]

    @property
    def head(self) -> bytes:
        """The first bytes."""
        with self._opened() as file:
            return file.read(HEAD)

    def pieces(self) -> Iterator[bytes]:
        """The contents in their order. Raises StateFailed when the file has changed meanwhile."""
        with self._opened() as file:
            yield from _pieces(file)
            if _identity(stat_of(file)) != self.identity:
                raise self._has_changed()

    def part(self, start: int, size: int) -> Iterator[bytes]:
        """So many bytes of the contents from a place on. Raises StateFailed as `pieces`."""
        with self._opened() as file:
            file.seek(start)
            while size and (piece := file.read(min(PIECE, size))):
                size -= len(piece)
                yield piece
            if size or _identity(stat_of(file)) != self.identity:
                raise self._has_changed()

    def room(self) -> int:
        """The bytes that the contents take on a disk."""
        with self._opened() as file:
            return limits.needed(stat_of(file))

    def copy_to(self, target: IO[bytes]) -> None:
        """Write the contents into an open file."""
        with self._opened() as file:
            holes.copy_contents(file, target)
            if _identity(stat_of(file)) != self.identity:
                raise self._has_changed()

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        with opened_to_read(self.path) as file:
            if _identity(stat_of(file)) != self.identity:
                raise self._has_changed()
            yield file

    def _has_changed(self) -> StateFailed:
        return StateFailed(f"{self.path} was changed while it was being read; run again")


class Edited:
    """Contents that an edit makes of those of a file, piece by piece, whenever they are asked
    for.
    """

    def __init__(self, source: Streamed, size: int, edit: Callable[[], Iterator[bytes]]) -> None:
        self.path, self.size, self.pieces = source.path, size, edit

    @property
    def head(self) -> bytes:
        """The first bytes."""
        return next(self.pieces(), b"")[:HEAD]

    def room(self) -> int:
        """The bytes that the contents take on a disk."""
        return self.size

    def copy_to(self, target: IO[bytes]) -> None:
        """Write the contents into an open file."""
        for piece in self.pieces():
            target.write(piece)


Contents = bytes | Streamed | Edited


def streamed(path: str, looked_at: bool = True) -> Streamed:
    """The contents of a file, to be read later. looked_at: False for what is only copied, while the
    state goes by what it has read before. Raises StateFailed if it cannot be read.
    """
    with opened_to_read(path) as file:
        stat = stat_of(file)
        if looked_at:
            note_version(path, file)
    return Streamed(path, stat.st_size, _identity(stat))


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _identity(stat: os.stat_result) -> tuple[int, int, int, int]:
    return stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns


def head_of(contents: Contents) -> bytes:
    """The first bytes of contents."""
    return contents[:HEAD] if isinstance(contents, bytes) else contents.head


def size_of(contents: Contents) -> int:
    """The number of bytes of contents."""
    return len(contents) if isinstance(contents, bytes) else contents.size


def room_for(contents: Contents) -> int:
    """The bytes that contents take on a disk, as far as is known."""
    return len(contents) if isinstance(contents, bytes) else contents.room()


def whole(contents: Contents) -> bytes:
    """All bytes of contents that are known to be small."""
    return contents if isinstance(contents, bytes) else b"".join(contents.pieces())


def at_hand(contents: Contents) -> Contents:
    """Contents that are about to be written: those of a small file are read, once; of planned files
    that stays on disk.
    """
    if isinstance(contents, bytes) or contents.size > SMALL or overlay() is not None:
        return contents
    return whole(contents)


def copy_into(contents: Contents, target: IO[bytes]) -> None:
    """Write contents into an open file."""
    if isinstance(contents, bytes):
        target.write(contents)
    elif take := getattr(target, "take", None):  # of a planned file: what is on disk stays there
        if isinstance(contents, Edited):
            raise Unforeseen(f"the contents of {contents.path}")
        take(contents.path, contents.size)
    else:
        contents.copy_to(target)
