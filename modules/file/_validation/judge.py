# SPDX-License-Identifier: Apache-2.0
"""What `validate` does: a state is first tried apart, and the program is asked about each file that
it would write; only then the state is carried out.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Generator
from typing import cast

from modules.file._contents.streamed import Contents, copy_into
from modules.file._validation.check import run_check
from modules.file._validation.validated import asked
from runner.api import Planned, StateFailed, here, planned_as
from runner.api.apart import tried_apart


def judged(command: str, look: Callable[[], Planned]) -> Planned:
    """Carry out a state whose files a command judges. look: calls its function."""
    outcome = look()
    try:
        plan = next(outcome)
        judge = Judge(command)
        judge.try_apart(look)
        yield plan
        with asked(judge):
            next(outcome)
    except StopIteration as stop:
        return cast(str, stop.value)
    finally:
        outcome.close()
    raise RuntimeError("a state function yields twice")


class Judge:
    """Asks a command about new contents of files, once about each."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._accepted: set[tuple[str, bytes]] = set()

    def try_apart(self, look: Callable[[], Generator[object, None, object]]) -> None:
        """Ask about all that a state would write. look: calls its function. Raises StateFailed
        where something is refused.
        """
        copies: dict[str, str] = {}  # the last contents of each file
        with asked(_Collecting(copies)):
            tried_apart(look)
        for path, copy in copies.items():
            self._ask(path, copy)

    @planned_as(lambda self, path, contents: None)  # asked about what it comes to, apart
    def __call__(self, path: str, contents: Contents) -> None:
        """Ask about contents that are about to be written, unless they were accepted. Raises
        StateFailed where they are refused.
        """
        copy = _copy(path, contents)
        if (path, _digest(copy)) in self._accepted:
            shutil.rmtree(os.path.dirname(copy))
        else:
            self._ask(path, copy)

    def _ask(self, path: str, copy: str) -> None:
        try:
            verdict = run_check(self._command, copy, "validate")
            if not verdict.accepted:
                words = verdict.words.replace(copy, path) or f"(no word of {self._command})"
                raise StateFailed(
                    f"{path} is not written: validate refuses it\n{words}",
                    changes={},
                    missing=("check", self._command),
                )
            self._accepted.add((path, _digest(copy)))
        finally:
            shutil.rmtree(os.path.dirname(copy))


class _Collecting(Judge):
    """Accepts everything, and keeps it."""

    def __init__(self, copies: dict[str, str]) -> None:
        self._copies = copies

    def __call__(self, path: str, contents: Contents) -> None:
        self._copies[path] = _copy(path, contents)


def _copy(path: str, contents: Contents) -> str:
    """A private copy of new contents, in a folder of its own under the name of the file."""
    copy = os.path.join(here.scratch(), os.path.basename(path))
    with open(copy, "xb") as file:
        copy_into(contents, file)
    return copy


def _digest(path: str) -> bytes:
    with open(path, "rb") as file:  # os: of a private copy
        return hashlib.file_digest(file, "sha256").digest()
