# SPDX-License-Identifier: Apache-2.0
"""Streams that programs print, of tar above all, bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tarfile import TarFile


class BadArchive(Exception):
    """An archive that is refused, and why."""


class _Bounded:
    """A stream that ends with an error where it is longer than it may be."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream, self._left = stream, most

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise BadArchive("what is in it is far larger than itself")
        return data


UNPACKING = {"zst": "zstd", "gz": "gzip", "xz": "xz", "bz2": "bzip2", "lz4": "lz4"}


def unpacking_words(path: str) -> list[str]:
    """Return the program that prints what is in a file, as its name says that it is packed."""
    program = UNPACKING.get(path.rpartition(".")[2])
    return [program, "-dc", "--", path] if program else ["cat", "--", path]


@contextmanager
def printed(words: Sequence[str], most: int) -> Iterator[_Bounded]:
    """What a program prints. most: bytes; reading more raises BadArchive."""
    import subprocess

    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None, "it is a pipe"
    try:
        yield _Bounded(process.stdout, most)
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


@contextmanager
def opened_tar(words: Sequence[str], most: int) -> Iterator[TarFile]:
    """What a program prints, as a stream of members. most: bytes. Raises BadArchive."""
    import tarfile

    with printed(words, most) as stream:
        try:
            opened: Any = stream
            with tarfile.open(
                fileobj=opened, mode="r|", bufsize=1 << 20, errors="surrogateescape"
            ) as tar:
                yield tar
        except tarfile.TarError as problem:
            raise BadArchive(f"it cannot be read: {problem}") from None
