# SPDX-License-Identifier: Apache-2.0
"""Streams that programs print, of tar above all, bounded."""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import IO, TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo

LARGER = "what is in it is far larger than itself"
LATEST = 1 << 33  # seconds, in which a file is of the year 2242
MOST_ENDS = 100  # reads behind the end, by which one passes over what is not there


class BadArchive(Exception):
    """An archive that is refused, and why."""


class _Bounded:
    """A stream that ends with an error where it is longer than it may be."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream, self._left, self._ends = stream, most, 0

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise BadArchive(LARGER)
        self._ends += not data
        if self._ends > MOST_ENDS:
            raise BadArchive("it ends within what it says that it has")
        return data


class Tar:
    """A stream of members, which say no more of themselves than they may."""

    def __init__(self, tar: TarFile, most: int) -> None:
        """most: bytes of all files, with the holes of those that have some."""
        self._tar, self._left = tar, most

    def __iter__(self) -> Iterator[TarInfo]:
        for info in self._tar:
            self._left -= info.size if info.isreg() else 0
            if self._left < 0:
                raise BadArchive(LARGER)
            is_owner = _is_number(info.uid, info.gid) and "\0" not in info.uname + info.gname
            if not is_owner or not abs(info.mtime) < LATEST:
                raise BadArchive(f"its member {info.name!r} has an owner or a time that is none")
            yield info

    def opened(self, info: TarInfo) -> IO[bytes] | None:
        """The contents of the member that came last; None of one that is no file."""
        return self._tar.extractfile(info) if info.isreg() else None


def _is_number(*numbers: int) -> bool:
    """Return whether numbers can be those of accounts."""
    return all(0 <= number < 0xFFFF_FFFF for number in numbers)


UNPACKING = {"zst": "zstd", "gz": "gzip", "xz": "xz", "bz2": "bzip2", "lz4": "lz4"}


def unpacking_words(path: str) -> list[str]:
    """Return the program that prints what is in a file, as its name says that it is packed."""
    program = UNPACKING.get(path.rpartition(".")[2])
    return [program, "-dc", "--", path] if program else ["cat", "--", path]


@contextmanager
def printed(words: Sequence[str], most: int) -> Iterator[_Bounded]:
    """What a program prints. most: bytes; reading more raises BadArchive."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None, "it is a pipe"
    try:
        yield _Bounded(process.stdout, most)
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


@cache
def _checked_member() -> type[TarInfo]:
    """What reads a member: where its header is wrong, tarfile would take the archive to be at its
    end.
    """
    errors: Any = tarfile
    wrong = (errors.InvalidHeaderError, errors.TruncatedHeaderError)

    class CheckedMember(tarfile.TarInfo):
        @classmethod
        def fromtarfile(cls, archive: TarFile) -> Self:
            try:
                return super().fromtarfile(archive)
            except wrong as problem:
                raise tarfile.ReadError(str(problem)) from None

    return CheckedMember


@contextmanager
def opened_tar(words: Sequence[str], most: int) -> Iterator[Tar]:
    """What a program prints, as a stream of members. most: bytes. Raises BadArchive."""
    with printed(words, most) as stream:
        try:
            opened: Any = stream
            with tarfile.open(
                fileobj=opened,
                mode="r|",
                bufsize=1 << 20,
                errors="surrogateescape",
                tarinfo=_checked_member(),
            ) as tar:
                yield Tar(tar, most)
        except tarfile.TarError as problem:
            raise BadArchive(f"it cannot be read: {problem}") from None
        except ValueError:
            raise BadArchive("it cannot be read: what should be a number is none") from None
