# SPDX-License-Identifier: Apache-2.0
"""`runner watch` in the background, with what it tells the one that started it."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from command import Machine
from starting import PATIENCE

MOST = 30  # rounds that a test waits for: one that goes on and on waits in vain


class Watcher:
    """One that watches. told: what it has said of itself so far."""

    def __init__(
        self, channel: socket.socket, process: subprocess.Popen[str], output: Path
    ) -> None:
        self.channel, self.process, self.output = channel, process, output
        self.told: list[str] = []

    def until(self, is_so: Callable[[], object]) -> None:
        """Wait for the end of the round after which something is so."""
        most = len(self.told) + MOST
        while not is_so():
            assert len(self.told) < most, f"{MOST} rounds in vain: {self.told}\n{self.said}"
            try:
                self.told.append(self.channel.recv(1 << 16).decode())
            except TimeoutError:
                raise AssertionError(f"waited in vain: {self.told}\n{self.said}") from None

    def until_deviating(self, count: int) -> None:
        """Wait until it says of so many states that they are not as they should be."""
        self.told.clear()
        self.until(lambda: any(f", {count} not as" in text for text in self.told))

    @property
    def said(self) -> str:
        """What it has printed."""
        return self.output.read_text()


@contextmanager
def watching(machine: Machine, *words: str, ready: str = "not as they") -> Iterator[Watcher]:
    """Start one; it has looked at all states when the block begins, and has ended after it. ready:
    what it tells of itself then.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        path = machine.folder / "notify"
        path.unlink(missing_ok=True)
        channel.bind(str(path))
        channel.settimeout(PATIENCE)
        machine.environment["NOTIFY_SOCKET"] = str(path)
        output = machine.folder / "watch.out"
        with output.open("w") as out:
            started = machine.start("watch", *words, stdout=out, stderr=out)
            with started as process:
                watcher = Watcher(channel, process, output)
                watcher.until(lambda: any(ready in text for text in watcher.told))
                try:
                    yield watcher
                finally:
                    process.terminate()  # its children, which have another group, end with it
                    process.wait(PATIENCE)
