# SPDX-License-Identifier: Apache-2.0
"""Reports that were delivered as files, into PostgreSQL.

A file is removed when its rows are committed, not before; one that is no report is moved to
`rejected` beside a file that says why. Anybody who may deliver may have put anything there: only
regular files are read, nothing is followed, and no message quotes them.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from runner.history.outbox.document import LARGEST, BadReport, parsed
from runner.history.outbox.postgresql import keep
from runner.history.outbox.sending import Refused
from runner.model.errors import RunnerError
from runner.model.records import Record

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

REJECTED = "rejected"
REASON = ".reason"  # ends the name of the file that says why
TOGETHER = 200  # files of one commit
TOGETHER_BYTES = 16 * 1024 * 1024
_UNFINISHED = re.compile(r"\.\d{20}-[0-9a-f-]{36}\.json\.\w+")
OLD = 86400.0  # seconds
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Collected(Record):
    """What a collection did. known: reports that were there already; rejected: file and reason."""

    taken: int = 0
    known: int = 0
    rejected: tuple[tuple[str, str], ...] = ()


class _ReportFile(Record):
    """A report in the folder, as it was read."""

    name: str
    status: os.stat_result
    report: dict[str, Any]


class Collector:
    """The files of a folder. Raises RunnerError for a folder that cannot be used, or that another
    collector is at work on.
    """

    def __init__(self, path: str, connection: Connection, address: str) -> None:
        self._connection, self._address = connection, address
        self._rejected: list[tuple[str, str]] = []
        try:
            self._folder = os.open(path, os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another collector is at work in {path}"
            raise RunnerError(message, code="locked") from None
        except OSError as error:
            raise RunnerError(f"the folder {path} cannot be used: {error.strerror}") from None

    def __call__(self) -> Collected:
        """Take all files that are there now."""
        taken = known = 0
        for files in self._batches():
            stored = self._stored(files)
            taken, known = taken + sum(stored), known + len(stored) - sum(stored)
        return Collected(taken, known, tuple(self._rejected))

    # -------------------------------------------------- reading

    def _batches(self) -> Iterator[list[_ReportFile]]:
        batch: list[_ReportFile] = []
        size = 0
        for name in sorted(os.listdir(self._folder)):
            if name.startswith(".") or name == REJECTED:
                self._sweep(name)
                continue
            try:
                file = self._read(name)
            except FileNotFoundError:
                continue
            except BadReport as error:
                self._reject(name, error.message)
                continue
            except OSError as error:
                self._reject(name, f"it cannot be read: {error.strerror}")
                continue
            batch.append(file)
            size += file.status.st_size
            if len(batch) >= TOGETHER or size >= TOGETHER_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _sweep(self, name: str) -> None:
        """Remove what a delivery that was cut off has left, when nobody can be at it any more."""
        with suppress(OSError):
            old = time.time() - os.lstat(name, dir_fd=self._folder).st_mtime > OLD
            if old and _UNFINISHED.fullmatch(name):
                os.unlink(name, dir_fd=self._folder)

    def _read(self, name: str) -> _ReportFile:
        try:
            descriptor = os.open(name, _READ, dir_fd=self._folder)
        except FileNotFoundError:
            raise
        except OSError as error:
            if stat.S_ISREG(os.lstat(name, dir_fd=self._folder).st_mode):
                raise
            raise BadReport("it is no regular file") from error
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise BadReport("it is no regular file")
            return _ReportFile(name, status, parsed(file.read(LARGEST + 1)))

    # -------------------------------------------------- writing

    def _stored(self, files: list[_ReportFile]) -> list[bool]:
        """Commit files together, and remove them; of each that is kept, whether it was new.

        Where the server takes one of them for wrong, each is written by itself.
        """
        with self._connection.transaction():
            try:
                new = self._keep(files)
                kept = files
            except Refused:
                new, kept = [], []
                for file in files:
                    try:
                        new += self._keep([file])
                        kept.append(file)
                    except Refused as error:
                        self._reject(file.name, error.message)
        for file in kept:
            self._remove(file)
        return new

    def _keep(self, files: list[_ReportFile]) -> list[bool]:
        return keep(self._connection, [file.report for file in files], self._address)

    def _remove(self, file: _ReportFile) -> None:
        """Remove a file, unless another one has its name by now."""
        try:
            now = os.lstat(file.name, dir_fd=self._folder)
            if _identity(now) == _identity(file.status):
                os.unlink(file.name, dir_fd=self._folder)
        except FileNotFoundError:
            return
        except OSError as error:
            reason = f"it is stored, but cannot be removed: {error.strerror}"
            self._rejected.append((file.name, reason))

    def _reject(self, name: str, reason: str) -> None:
        """Move a file out of the way, if that can be done."""
        try:
            with suppress(FileExistsError):
                os.mkdir(REJECTED, 0o700, dir_fd=self._folder)
            place = os.open(REJECTED, _FOLDER, dir_fd=self._folder)
            try:
                kept = _free_name(place, name)
                os.rename(name, kept, src_dir_fd=self._folder, dst_dir_fd=place)
                said = os.open(f"{kept}{REASON}", _NEW, 0o600, dir_fd=place)
                with open(said, "w", encoding="utf-8") as file:
                    file.write(f"{reason}\n")
            finally:
                os.close(place)
        except OSError as error:
            reason += f"; it cannot be moved to {REJECTED}: {error.strerror}"
        self._rejected.append((name, reason))


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _free_name(place: int, name: str) -> str:
    """A name that nothing has yet in the folder of what was rejected, nor the reason's."""
    short = re.sub(r"[^\w.-]", "_", name)[:150]
    taken = set(os.listdir(place))
    names = (short, *(f"{short}.{number}" for number in range(1, 100_000)))
    unused = (free for free in names if not taken & {free, free + REASON})
    return next(unused, f"{short}.{os.urandom(6).hex()}")
