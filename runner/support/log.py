# SPDX-License-Identifier: Apache-2.0
"""The log of runner itself, for `--log-level` and `--log-file`: what was read, rendered, asked and
run, and how long it took.

Nothing of this is done, and nothing imported, unless somebody asked for it. Secrets are hidden
where messages become lines (`cli/running/python_messages.py`).
"""

from __future__ import annotations

import logging
import os
import shlex
import subprocess
import sys
import time
from contextlib import contextmanager

from runner.model.stdlib import Local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

INFO, DEBUG, TRACE = 20, 10, 5  # of the library, and Salt's
# what describes the machine, beside the trees
MACHINE = ("/etc/", "/var/lib/dpkg/", "/var/lib/rpm/", "/lib/apk/", "/var/lib/pacman/")


class Log:
    """The log of this process. on: whether anybody reads it."""

    def __init__(self) -> None:
        self.on = False
        self.on_terminal = False  # its lines stand between those of the report
        self.arguments = (
            False  # whether the secrets are known by which arguments of commands are hidden
        )
        self.folders: tuple[str, ...] = ()  # reading files below these is worth a line
        self.is_silent: Callable[[], bool] = bool  # whether the state that runs says `no_log`
        self._busy = Local()
        self._hooked = False

    def start(self, folders: Iterable[str], is_silent: Callable[[], bool]) -> None:
        """Begin to write, where the level of the library's root logger says so."""
        logger = logging.getLogger("runner")
        self.on, self.is_silent = logger.isEnabledFor(INFO), is_silent
        trees = tuple(f"{os.path.realpath(folder)}/" for folder in folders)
        self.folders = ("/",) if logger.isEnabledFor(TRACE) else (*trees, *MACHINE)
        if not self._hooked and logger.isEnabledFor(DEBUG):
            self._hooked = True
            sys.addaudithook(self._audited)
            self._follow_programs()

    def info(self, message: str) -> None:
        self._write(INFO, message)

    def debug(self, message: str) -> None:
        self._write(DEBUG, message)

    @contextmanager
    def timed(self, message: str, level: int = INFO) -> Iterator[None]:
        """Write a line that says how long something took."""
        began = time.perf_counter()
        try:
            yield
        except BaseException:
            self._write(level, f"{message}: failed after {_milliseconds(began)}")
            raise
        if self.on:
            self._write(level, f"{message} in {_milliseconds(began)}")

    def asked(self, topic: str, look: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what a look at the machine gives, with a line that says how long it took."""
        if not self.on:
            return look(*args, **kwargs)
        with self.timed(f"asked for {topic} ({look.__module__}.{look.__qualname__})", DEBUG):
            return look(*args, **kwargs)

    def _write(self, level: int, message: str) -> None:
        if self.on:
            logging.getLogger("runner").log(level, "%s", message)

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
                command = args[0] if event == "os.system" else args[1]
                self.debug(f"run {self._command(command)}")
        finally:
            self._busy.yes = False

    def _opened(self, path: object, mode: object, flags: int) -> None:
        if isinstance(path, str | bytes) and flags & os.O_ACCMODE == os.O_RDONLY:
            named = os.fsdecode(path)
            if named.endswith(".pyc"):
                return
            if os.path.realpath(named).startswith(self.folders) and not os.path.isdir(named):
                shown = "a file of a state with no_log" if self.is_silent() else named
                self.debug(f"read {shown}")

    def _command(self, command: object) -> str:
        """A command as the log shows it."""
        argv = command if isinstance(command, list | tuple) else [command]
        words = [
            os.fsdecode(word) if isinstance(word, str | bytes | os.PathLike) else str(word)
            for word in argv
        ]
        if not self.arguments or self.is_silent():
            return f"{shlex.quote(words[0])} (with arguments that are not shown)"
        return shlex.join(words)

    def _follow_programs(self) -> None:
        """Have each program that is started from now on write a line at its end."""

        class Followed(subprocess.Popen):  # type: ignore[type-arg]
            """A program whose end stands in the log."""

            def __init__(self, *args: Any, **options: Any) -> None:
                self._began, self._ended_with = time.perf_counter(), None
                self._runs = False
                try:
                    super().__init__(*args, **options)
                except OSError as error:
                    LOG.debug(f"not started: {error.filename}: {error.strerror}")
                    raise
                self._runs = True

            @property
            def returncode(self) -> Any:
                return self._ended_with

            @returncode.setter
            def returncode(self, code: Any) -> None:
                is_news = self._runs and code is not None and self._ended_with is None
                self._ended_with = code
                if is_news:
                    LOG.debug(self._end())

            def _end(self) -> str:
                name = os.path.basename(LOG._command(self.args).partition(" ")[0])
                if _lives(self.pid):
                    return f"left in the background: {name} (process {self.pid})"
                took, code = _milliseconds(self._began), self._ended_with
                return f"exit code {code} of {name} (process {self.pid}) after {took}"

        subprocess.Popen = Followed  # type: ignore[misc]


LOG = Log()


def _lives(pid: int) -> bool:
    """Return whether a program that this process started still runs."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:  # it has ended, and somebody has asked how
        return False


def _milliseconds(began: float) -> str:
    return f"{(time.perf_counter() - began) * 1000:.1f} ms"
