# SPDX-License-Identifier: Apache-2.0
"""What a process that watches says of itself to others: in a file, in metrics, and to systemd."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from typing import Any

from runner.model.records import Record
from runner.output.prometheus import NOBODY_WATCHES, update, watch_samples
from runner.support.files.trusted_folder import trusted_folder

NAME = "watch.json"
LOCK = "watch.lock"


class Deviation(Record):
    """A state that is not as it should be. state: "STATE: ID"; outcome: in a word; event: what was
    seen; since: seconds since 1970; left_alone: why nobody looks at it now; empty: it is looked at.
    """

    state: str
    outcome: str
    event: str
    since: float
    left_alone: str = ""


class Status(Record):
    """What is watched, and what was found. names: the SLS files; none for those of the top file.
    planned: when the tree was compiled; looked: when all states were looked at; problem: why a
    newer tree is not used.
    """

    pid: int
    since: float
    act: str
    every: float
    names: list[str] = []
    planned: float = 0.0
    looked: float = 0.0
    problem: str = ""
    states: int = 0
    by_timer: int = 0  # of them, those of which nothing or not all tells
    unwatched: int = 0  # of them, those for which the kernel had no more watches
    lack: str = ""  # why
    deviations: list[Deviation] = []

    @property
    def is_alive(self) -> bool:
        """Return whether that process still watches."""
        try:
            with open(f"/proc/{self.pid}/cmdline", "rb") as words:
                return b"watch" in words.read()
        except OSError:
            return False

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return self._asdict() | {"deviations": [each._asdict() for each in self.deviations]}


def write(state_dir: str, status: Status) -> None:
    """Say how it is; a full disk is no reason to end."""
    with suppress(OSError):
        data = json.dumps(status.as_data()).encode("utf-8", "surrogateescape")
        trusted_folder(state_dir).write(NAME, data)


def read(state_dir: str) -> Status | None:
    """What was said last; None where nobody has watched here. Raises Untrusted."""
    try:
        data = json.loads(trusted_folder(state_dir, make=False).read(NAME))
        deviations = [Deviation(**each) for each in data.pop("deviations")]
        return Status(**data, deviations=deviations)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def remove(state_dir: str) -> None:
    """Nobody watches any more."""
    with suppress(OSError):
        trusted_folder(state_dir).remove(NAME)


def measure(path: str, status: Status | None) -> str:
    """Write the metrics of watching; None: nobody watches any more. Returns what is wrong."""
    try:
        if path:
            of_watch = status and watch_samples(len(status.deviations), status.looked)
            update(path, of_watch or NOBODY_WATCHES)
    except OSError as error:
        return f"{path} cannot be written: {error.strerror}"
    return ""


def is_service() -> bool:
    """Return whether who has started this process wants to be told how it is."""
    return bool(os.environ.get("NOTIFY_SOCKET"))


def notify(**facts: str) -> None:
    """Tell systemd, or who has started this process otherwise: sd_notify(3)."""
    where = os.environ.get("NOTIFY_SOCKET", "")
    if where[:1] not in ("/", "@"):
        return
    address = f"\0{where[1:]}" if where[0] == "@" else where
    text = "\n".join(f"{name}={value}" for name, value in facts.items())
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(text.encode("utf-8", "surrogateescape"), address)
