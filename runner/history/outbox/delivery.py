# SPDX-License-Identifier: Apache-2.0
"""Reports from the outbox to their destination.

At the end of a run one try is made, unless earlier ones failed a short while ago. It has a few
seconds; what is not done then is left to the next one. Nothing here raises: a run never fails for
its report.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from runner.history.outbox import https, local_folder, postgresql, ssh
from runner.history.outbox.document import BadReport, parsed
from runner.history.outbox.sending import NotDelivered, Refused, Send
from runner.history.outbox.store import Busy, Outbox, OutboxState
from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.sources.config.report import Destination
from runner.support.files.trusted_folder import UntrustedFile
from runner.support.redaction import redact_all

FIRST, LONGEST = 60.0, 3600.0  # seconds from a failed try to the next one, doubled each time
SPREAD = 0.2  # of that, so that machines do not come all at once when the server is back
EACH = 60.0  # seconds for one report of `runner report send`
ANSWERS = 3  # refusals after which a try ends: one report may be at fault, several are not


class DeliveryOutcome(Record):
    """What became of a try. problem: why not all were delivered; notes: what was set aside."""

    sent: int = 0
    left: int = 0
    problem: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    waits: float = 0.0  # seconds until the next try is due, when none was made now


class _Try:
    """One try, in a thread of its own: a name server or a library may hang where no timeout is."""

    def __init__(self, outbox: Outbox, destination: Destination) -> None:
        self.outbox, self._destination = outbox, destination
        self.sent = 0
        self.error: BaseException | None = None
        self.notes: list[str] = []
        self.given_up = threading.Event()
        self.moved = threading.Event()  # set whenever a report is done with
        self.ended = threading.Event()

    def __call__(self) -> None:
        try:
            with sender(self._destination) as send:
                self._all(send)
        except BaseException as error:  # of a library too; it is reported
            self.error = error
        finally:
            self.ended.set()
            self.moved.set()

    def _all(self, send: Send) -> None:
        refusals = 0
        for name in self._waiting():
            if self.given_up.is_set():
                return
            try:
                data = self.outbox.read(name)
                report = parsed(data)
                send(name, data, report)
            except (BadReport, UntrustedFile, Refused, IsADirectoryError) as error:
                self._reject(name, error)
                continue
            except FileNotFoundError:
                continue
            except NotDelivered as error:
                self.error = error
                refusals += 1
                if not error.answered or refusals >= ANSWERS:
                    return
                continue
            if self.given_up.is_set():
                return
            self.outbox.remove(name)
            self.sent += 1
            self.moved.set()

    def _waiting(self) -> Iterator[str]:
        """The reports that wait, those included that other runs write meanwhile."""
        seen: set[str] = set()
        while names := [name for name in self.outbox.waiting() if name not in seen]:
            seen.update(names)
            yield from names

    def _reject(self, name: str, error: Exception) -> None:
        if self.given_up.is_set():
            return
        path = self.outbox.set_aside(name)
        reason = _line(error.message if isinstance(error, RunnerError) else str(error))
        self.notes.append(f"a report can never be delivered and is set aside as {path}: {reason}")
        self.moved.set()


def deliver(
    state_dir: str, destination: Destination, ignore_delay: bool = False
) -> DeliveryOutcome:
    """Deliver what waits. ignore_delay: earlier failures do not put it off, and it may take
    long. Raises OSError and RunnerError where the outbox cannot be used.
    """
    outbox = Outbox(state_dir)
    state = outbox.state()
    waits = 0.0 if ignore_delay else _delay(state, destination)
    if waits:
        return DeliveryOutcome(left=len(outbox.waiting()), waits=waits, problem=state.error)
    try:
        with outbox.delivering():
            return _tried(outbox, destination, ignore_delay)
    except Busy as error:
        return DeliveryOutcome(left=len(outbox.waiting()), problem=str(error))


def _tried(outbox: Outbox, destination: Destination, patient: bool) -> DeliveryOutcome:
    seconds = EACH if patient else destination.timeout
    attempt = _Try(outbox, destination._replace(timeout=seconds))
    thread = threading.Thread(target=attempt, daemon=True, name="delivery")
    thread.start()
    _wait(attempt, seconds, patient)
    if not attempt.ended.is_set():
        attempt.given_up.set()
        attempt.error = NotDelivered(
            f"{destination.address} did not answer in time",
            hint="`timeout` below `report` has the seconds that a run waits at its end",
        )
    problem, hint = _words(attempt.error, destination)
    state = outbox.state()
    if problem:
        outbox.note(**_failed(state, destination, problem))
    elif attempt.sent:
        outbox.note(failures=0, not_before=0.0, error="", delivered=time.time())
    left = len(outbox.waiting())
    return DeliveryOutcome(attempt.sent, left, problem, hint, tuple(attempt.notes))


def _wait(attempt: _Try, seconds: float, patient: bool) -> None:
    """Wait for the end of a try. patient: as long as a report goes within the seconds."""
    if not patient:
        attempt.ended.wait(seconds)
        return
    while not attempt.ended.is_set() and attempt.moved.wait(seconds):
        attempt.moved.clear()


def _delay(state: OutboxState, destination: Destination) -> float:
    """Seconds until a try is due; 0 for now. A clock that was set back does not put it off."""
    left = state.not_before - time.time()
    due = left <= 0 or left > LONGEST * (1 + SPREAD) or state.destination != destination.identity
    return 0.0 if due else left


def _failed(state: OutboxState, destination: Destination, problem: str) -> dict[str, Any]:
    same = state.destination == destination.identity
    failures = (state.failures if same else 0) + 1
    wait = min(FIRST * 2.0 ** min(failures - 1, 10), LONGEST)
    not_before = time.time() + wait * random.uniform(1 - SPREAD, 1 + SPREAD)
    return {
        "failures": failures,
        "not_before": not_before,
        "destination": destination.identity,
        "error": problem,
    }


def _words(error: BaseException | None, destination: Destination) -> tuple[str, str]:
    """Return what went wrong and what helps, without secrets."""
    if error is None:
        return "", ""
    if isinstance(error, RunnerError):
        message, hint = error.message, error.hint or ""
    else:
        message, hint = f"{destination.address}: {type(error).__name__}: {error}", ""
    text = redact_all(message)
    if destination.password:
        text = text.replace(destination.password, "********")
    return _line(text), hint


def _line(text: str) -> str:
    """Return what the other side may have said, as one line that steers no terminal."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split())[:1000])


def sender(destination: Destination) -> AbstractContextManager[Send]:
    """Return what sends reports there, while it is open. Raises NotDelivered."""
    if destination.kind == "https":
        return https.opened(destination)
    if destination.kind == "ssh":
        return ssh.opened(destination)
    if destination.kind == "postgresql":
        return postgresql.opened(destination)
    return local_folder.opened(destination)
