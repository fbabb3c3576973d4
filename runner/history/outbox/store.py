# SPDX-License-Identifier: Apache-2.0
"""The outbox: a folder below `state_dir` in which reports wait until they were delivered.

A report is a file of its own, `MOMENT-ID.json`, readable by its owner alone. One that cannot be
delivered whatever happens gets another name (`.rejected`). `state.json` holds what outlasts a run:
failed tries, and how many reports were lost that no report has told of yet.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from runner.history.outbox.document import LARGEST, BadReport, parsed, text_of
from runner.model.records import Record
from runner.support.files.trusted_folder import TrustedFolder, trusted_folder

FOLDER = "outbox"
STATE, LOCK = "state.json", "lock"
MOST, MOST_BYTES = 1000, 100 * 1000 * 1000  # reports that wait, and what they take together
REJECTED = ".rejected"
_NAME = re.compile(r"\d{20}-[0-9a-f-]{36}\.json")
_LEFT = re.compile(r".*\.[0-9a-f]{12}\.new")  # of a run that was killed while it wrote
PATIENCE = 5.0  # seconds to wait for another process that writes
OLD = 3600.0  # seconds after which nobody writes such a file any more


class Lost(Record):
    """How many reports were dropped for want of room, and how many were set aside."""

    dropped: int = 0
    rejected: int = 0


class OutboxState(Record):
    """What the outbox remembers. failures: tries in a row that failed; not_before: when the next
    one is due; destination: to where; error: what went wrong last; delivered: when it went well.
    """

    failures: int = 0
    not_before: float = 0.0
    destination: str = ""
    error: str = ""
    delivered: float = 0.0
    dropped: int = 0
    rejected: int = 0


class Busy(OSError):
    """Another process uses this outbox."""


class Outbox:
    """The outbox of a machine. All methods raise OSError and Untrusted."""

    def __init__(self, state_dir: str) -> None:
        self._folder: TrustedFolder = trusted_folder(state_dir).below(FOLDER)

    @property
    def path(self) -> str:
        return self._folder.path

    # -------------------------------------------------- writing

    def add(self, report: Mapping[str, Any]) -> int:
        """Keep a report until it is delivered; how many others were dropped for it.

        It says how many were lost that no report before it tells of.
        """
        with self._locked("write"):
            state = self.state()
            lost = Lost(state.dropped, state.rejected)
            told = {key: number for key, number in lost._asdict().items() if number}
            data = text_of({**report, "lost": told} if told else report)
            dropped, untold = self._make_room(len(data))
            name = f"{report['jid']}-{report['id']}.json"
            self._folder.write(name, data, durable=True)
            # the new report tells of what was lost before; the next one of what it pushed out
            if told or dropped:
                self._keep(state._replace(dropped=untold.dropped, rejected=untold.rejected))
            return dropped

    def count_lost(self) -> None:
        """Count a report that could not be written."""
        with self._locked("write"):
            state = self.state()
            self._keep(state._replace(dropped=state.dropped + 1))

    def _make_room(self, size: int) -> tuple[int, Lost]:
        """Drop the oldest reports; how many, and what they would have told of with them."""
        waiting = self._all()
        total, dropped, lost = sum(length for _, length in waiting) + size, 0, Lost()
        while waiting and (len(waiting) >= MOST or total > MOST_BYTES):
            name, length = waiting.pop(0)
            lost = self._lost_with(name, lost)
            with suppress(IsADirectoryError, PermissionError):  # of no report
                self._folder.remove(name)
            total -= length
            dropped += not name.endswith(REJECTED)  # those were counted when they were set aside
        return dropped, lost

    def _lost_with(self, name: str, lost: Lost) -> Lost:
        """Return what is lost if this report is dropped: itself, and losses that it tells of."""
        told: Mapping[str, int] = {}
        with suppress(OSError, BadReport):
            told = parsed(self.read(name)).get("lost", {})
        more = Lost(told.get("dropped", 0), told.get("rejected", 0))
        itself = int(not name.endswith(REJECTED))
        return Lost(lost.dropped + more.dropped + itself, lost.rejected + more.rejected)

    # -------------------------------------------------- reading

    def waiting(self) -> list[str]:
        """The names of the reports that wait, the oldest first."""
        return [name for name, _ in self._all() if not name.endswith(REJECTED)]

    def rejected(self) -> list[str]:
        """The names of the files that were set aside."""
        return [name for name, _ in self._all() if name.endswith(REJECTED)]

    def size(self) -> int:
        """The bytes that all of them take."""
        return sum(size for _, size in self._all())

    def _all(self) -> list[tuple[str, int]]:
        """The names and sizes of all that is kept here, the oldest first."""
        entries = []
        for name in sorted(self._folder.names()):
            if name in (STATE, LOCK, f"{LOCK}.write"):
                continue
            with suppress(FileNotFoundError):
                status = os.lstat(name, dir_fd=self._folder.descriptor)
                if not _LEFT.fullmatch(name):
                    entries.append((name, status.st_size))
                elif time.time() - status.st_mtime > OLD:
                    self._folder.remove(name)
        return entries

    def read(self, name: str) -> bytes:
        """The text of a report. Raises BadReport for a file that is none of this outbox."""
        if not _NAME.fullmatch(name.removesuffix(REJECTED)):
            raise BadReport("its name is none of a report")
        with open(self._folder.open(name, os.O_RDONLY), "rb") as file:
            return file.read(LARGEST + 1)

    # -------------------------------------------------- after a try

    def remove(self, name: str) -> None:
        """Forget a report that was delivered."""
        self._folder.remove(name)

    def set_aside(self, name: str) -> str:
        """Keep a file that can never be delivered from being tried again; its path then."""
        with self._locked("write"):
            self._folder.rename(name, name + REJECTED)
            state = self.state()
            self._keep(state._replace(rejected=state.rejected + 1))
        return os.path.join(self._folder.path, name + REJECTED)

    def note(self, **values: Any) -> None:
        """Keep values of the state for the tries to come."""
        with self._locked("write"):
            self._keep(self.state()._replace(**values))

    def state(self) -> OutboxState:
        """Return what the outbox remembers; nothing where that cannot be read."""
        try:
            kept = json.loads(self._folder.read(STATE))
            fitting = {
                key: type(value)(kept.get(key, value))
                for key, value in OutboxState()._asdict().items()
            }
            return OutboxState(**fitting)
        except (OSError, ValueError, TypeError, AttributeError):
            return OutboxState()

    def _keep(self, state: OutboxState) -> None:
        self._folder.write(STATE, json.dumps(state._asdict()).encode())

    # -------------------------------------------------- who may

    @contextmanager
    def delivering(self) -> Iterator[None]:
        """Be the only process that delivers from here. Raises Busy where another one does."""
        with self._locked("", patience=0):
            yield

    @contextmanager
    def _locked(self, purpose: str, patience: float = PATIENCE) -> Iterator[None]:
        name = f"{LOCK}.{purpose}" if purpose else LOCK
        descriptor = self._folder.open(name, os.O_RDWR | os.O_CREAT)
        try:
            _take(descriptor, patience)
            yield
        finally:
            os.close(descriptor)


def _take(descriptor: int, patience: float) -> None:
    """Lock a file; who holds it has stopped if that takes longer than there is patience."""
    until = time.monotonic() + patience
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise Busy("another process of runner holds the outbox") from None
            time.sleep(0.02)
