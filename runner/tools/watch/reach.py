# SPDX-License-Identifier: Apache-2.0
"""Looks at file systems of servers, which may not answer: they hold up nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TypeVar

from runner.tools.watch.mounts import Polled

T = TypeVar("T")
PATIENCE = 5.0  # seconds that a server is waited for


class Reach:
    """Looks at paths, those on servers in threads. mounted: where these are."""

    def __init__(self, mounted: Polled) -> None:
        self.mounted = mounted
        self._asked: dict[str, Thread] = {}  # what does not come back, by mount point

    @property
    def silent(self) -> set[str]:
        """Where what does not answer is mounted."""
        self._asked = {point: thread for point, thread in self._asked.items() if thread.is_alive()}
        return {*self._asked} & self.mounted.servers

    def look(self, path: str, look: Callable[[], T], otherwise: T) -> T:
        """Return what a look at a path tells. otherwise: where nobody answers."""
        point = self.mounted.server(path)
        if not point:
            return look()
        if point in self.silent:
            return otherwise
        told: list[T] = []
        asked = Thread(target=lambda: told.append(look()), daemon=True)
        asked.start()
        asked.join(PATIENCE)
        if asked.is_alive():
            self._asked[point] = asked
        return told[0] if told else otherwise

    def ask(self) -> None:
        """Ask all servers. What is known of a path need not come from there."""
        for point in self.mounted.servers:
            self.look(point, partial(_answers, point), False)


def _answers(point: str) -> bool:
    with suppress(OSError):
        os.statvfs(point)
    return True
