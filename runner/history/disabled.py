# SPDX-License-Identifier: Apache-2.0
"""Scheduled runs that a person has stopped for a while: `<state_dir>/disabled.json`."""

from __future__ import annotations

import datetime
import fcntl
import json
import os
from contextlib import contextmanager, suppress

from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.sources.config.options import DISABLED
from runner.support.files.text import clipped
from runner.support.files.trusted_folder import TrustedFolder, is_there, trusted_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LONGEST = 500  # characters of a reason or of a name


class Disabled(Record):
    """Scheduled runs are disabled. why: the reason. by: who did it. since, until: ISO 8601; until
    is None when they stay disabled until somebody enables them.
    """

    why: str
    by: str
    since: str
    until: str | None = None

    def __str__(self) -> str:
        end = f"until {self.until}" if self.until else "until `runner enable`"
        return f"scheduled runs are disabled {end}: {self.why} ({self.by}, {self.since})"

    def as_data(self) -> dict[str, str | None]:
        """The keys and values of the file, which JSON answers show, too."""
        return self._asdict()


def disabled(state_dir: str) -> Disabled | None:
    """Return what disables scheduled runs now; None when nothing does, or its time is over.

    A file that cannot be understood counts: somebody wanted these runs to stop. Raises RunnerError
    where the folder cannot be trusted or read.
    """
    with _problems(state_dir):
        if not is_there(state_dir, DISABLED):
            return None
        return _read(trusted_folder(state_dir, make=False))


def disable(
    state_dir: str, why: str, by: str, lasting: datetime.timedelta | None = None
) -> tuple[Disabled, Disabled | None]:
    """Disable scheduled runs; return what disables them now, and what did before. lasting: for how
    long; None: until `enable`. Raises RunnerError for no reason at all, and where it cannot be
    written.
    """
    now = _now()
    why, by = _one_line(why), _one_line(by)
    if not why:
        raise RunnerError(
            "say why scheduled runs are to be disabled",
            hint='runner disable "the database is being moved" --for 8h',
        )
    until = None
    if lasting is not None:
        try:
            until = (now + lasting).isoformat(timespec="seconds")
        except OverflowError:
            raise RunnerError(
                "that is longer than the calendar goes",
                hint="without --for they are disabled until `runner enable`",
            ) from None
    new = Disabled(why, by, now.isoformat(timespec="seconds"), until)
    with _problems(state_dir), _alone(state_dir) as folder:
        before = _read(folder)
        folder.write(DISABLED, (json.dumps(new.as_data(), indent=4) + "\n").encode())
        folder.sync()
        return new, before


def enable(state_dir: str) -> Disabled | None:
    """Enable scheduled runs; return what disabled them. Raises RunnerError where that cannot be
    written.
    """
    with _problems(state_dir):
        if not is_there(state_dir, DISABLED):
            return None
    with _problems(state_dir), _alone(state_dir) as folder:
        before = _read(folder)
        folder.remove(DISABLED)
        folder.sync()
        return before


@contextmanager
def _alone(state_dir: str) -> Iterator[TrustedFolder]:
    """The folder, while nobody else disables or enables. What a killed one left goes."""
    folder = trusted_folder(state_dir)
    fcntl.flock(folder.descriptor, fcntl.LOCK_EX)
    try:
        for name in folder.names():
            if name.startswith(f"{DISABLED}.") and name.endswith(".new"):
                folder.remove(name)
        yield folder
    finally:
        fcntl.flock(folder.descriptor, fcntl.LOCK_UN)


@contextmanager
def _problems(state_dir: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        path = os.path.join(state_dir, DISABLED)
        raise RunnerError(
            f"{path}: {error.strerror}",
            hint="disable and enable as the user who has the scheduled runs",
        ) from None


def _read(folder: TrustedFolder) -> Disabled | None:
    try:
        found = json.loads(folder.read(DISABLED))
        read = Disabled(*(_one_line(str(found.get(key) or "-")) for key in ("why", "by", "since")))
        until = found.get("until")
        if until is not None:
            read = read._replace(until=_time(until).isoformat(timespec="seconds"))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return Disabled(f"{DISABLED} in {folder.path} is damaged", "nobody knows who", "-")
    return None if read.until and _time(read.until) <= _now() else read


def _time(text: Any) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).astimezone()


def _now() -> datetime.datetime:
    return datetime.datetime.now().astimezone()


def _one_line(text: str) -> str:
    """Words of a person as one line that no terminal, log or mail can misunderstand."""
    with suppress(UnicodeError):  # bytes of the command line that are no text
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    text = " ".join("".join(c if c.isprintable() else " " for c in text[: 8 * LONGEST]).split())
    return clipped(text, LONGEST)
