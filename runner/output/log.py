"""The log of runner itself, for `--log-level` and `--log-file`: what was read, rendered and run,
and how long it took.

Nothing of this is done, and nothing imported, unless somebody asked for it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from runner.api import here

INFO, DEBUG = 20, 10  # of the library


class Log:
    """The log of this process. on: whether anybody reads it."""

    def __init__(self) -> None:
        self.on = False
        self.arguments = (
            False  # whether the secrets are known by which arguments of commands are hidden
        )
        self.folders: tuple[str, ...] = ()  # reading files below these is worth a line
        self._busy = threading.local()
        self._hooked = False

    def start(self, folders: Iterable[str]) -> None:
        """Begin to write, where the level of the library's root logger says so."""
        import logging

        self.on = logging.getLogger("runner").isEnabledFor(INFO)
        self.folders = tuple(f"{os.path.realpath(folder)}/" for folder in folders)
        if not self._hooked and logging.getLogger("runner").isEnabledFor(DEBUG):
            self._hooked = True
            sys.addaudithook(self._audited)

    def info(self, message: str) -> None:
        self._write(INFO, message)

    def debug(self, message: str) -> None:
        self._write(DEBUG, message)

    @contextmanager
    def timed(self, message: str) -> Iterator[None]:
        """Write a line that says how long something took."""
        began = time.perf_counter()
        try:
            yield
        except BaseException:
            self.info(f"{message}: failed after {_milliseconds(began)}")
            raise
        if self.on:
            self.info(f"{message} in {_milliseconds(began)}")

    def _write(self, level: int, message: str) -> None:
        if self.on:
            import logging

            logging.getLogger("runner").log(level, "%s", _masked(message))

    # -------------------------------------------------- files that are read, commands that are run

    def _audited(self, event: str, args: tuple[Any, ...]) -> None:
        """Write a line for what Python itself reports: reliable, wherever in the library or the
        tree it is done.
        """
        if (
            not self.on
            or event not in ("open", "subprocess.Popen", "os.system")
            or getattr(self._busy, "yes", False)
        ):
            return
        self._busy.yes = True
        try:
            if event == "open":
                self._opened(*args)
            else:
                self._started(args[1] if event == "subprocess.Popen" else args[0])
        finally:
            self._busy.yes = False

    def _opened(self, path: object, mode: object, flags: int) -> None:
        if isinstance(path, str | bytes) and flags & os.O_ACCMODE == os.O_RDONLY:
            named = os.fsdecode(path)
            if os.path.realpath(named).startswith(self.folders) and not os.path.isdir(named):
                self.debug(f"read {named}")

    def _started(self, command: object) -> None:
        import shlex

        argv = command if isinstance(command, list | tuple) else [command]
        words = [
            os.fsdecode(word) if isinstance(word, str | bytes | os.PathLike) else str(word)
            for word in argv
        ]
        if not self.arguments or _hides_all():
            self.debug(f"run {shlex.quote(words[0])} (with arguments that are not shown)")
        else:
            self.debug(f"run {shlex.join(words)}")


LOG = Log()


def _milliseconds(began: float) -> str:
    return f"{(time.perf_counter() - began) * 1000:.1f} ms"


def _masked(text: str) -> str:
    try:
        return here.masked(text)
    except LookupError:  # no run yet
        return text


def _hides_all() -> bool:
    """True if the state that runs says `no_log`."""
    try:
        return bool(here.chunk and here.chunk.args.get("no_log"))
    except LookupError:
        return False
