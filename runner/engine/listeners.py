# SPDX-License-Identifier: Apache-2.0
"""The listeners of a run: outputs and the history follow it by its events."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, contextmanager

from runner.model import plain_values
from runner.model.events import ChangerCalled, Event, RunStarted
from runner.model.stdlib import Lock
from runner.support.redaction import Secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

Listener = Callable[[Event], None]


class Listeners:
    """Hands events, without secrets, to whoever follows a run."""

    def __init__(self, listeners: Iterable[Listener], secrets: Secrets) -> None:
        self._listeners = tuple(listeners)
        # with what is called of them, as it is looked up once
        self._takers: dict[type[Event], tuple[tuple[Listener, Any], ...]] = {}
        self._secrets = secrets
        self._lock = Lock()  # states may run side by side
        self.started = False  # they have heard that a run has started
        self.lost: list[str] = []  # those that failed, and why

    def add(self, listener: Listener) -> None:
        """Have one more follow the run from now on."""
        self._listeners = (*self._listeners, listener)
        self._takers.clear()

    def take(self, kind: type[Event]) -> bool:
        """Return whether anybody takes events of a kind."""
        takers = self._takers.get(kind)
        return bool(self._takers_of(kind) if takers is None else takers)

    def emit(self, event: Event) -> None:
        """Hand an event to the listeners. One that raises gets no more: what only watches a run
        does not end it.
        """
        takers = self._takers.get(type(event))
        if takers is None:
            takers = self._takers_of(type(event))
        if not takers:
            return
        event = self._secrets.event(event)
        with self._lock:
            self.started |= isinstance(event, RunStarted)
            for listener, call in takers:
                try:
                    call(event)
                except Exception as error:
                    self._lose(listener, error)

    def _takers_of(self, kind: type[Event]) -> tuple[tuple[Listener, Any], ...]:
        """The listeners that take events of a kind: all that do not say which ones by `events`."""
        takers = self._takers[kind] = tuple(
            (listener, getattr(listener, "__call__"))  # noqa: B004, B009
            for listener in self._listeners
            if kind in getattr(listener, "events", (kind,))
        )
        return takers

    def _lose(self, failed: Listener, error: Exception) -> None:
        self._listeners = tuple(listener for listener in self._listeners if listener is not failed)
        self._takers.clear()
        problem = self._secrets.mask(f"{type(error).__name__}: {plain_values.text_of(error)}")
        self.lost.append(
            f"{type(failed).__name__} failed and saw nothing more of this run: {problem}"
        )


@contextmanager
def from_first_change(listeners: Listeners, begin: Callable[[ExitStack], None]) -> Iterator[None]:
    """Have something begin with the first change of a run, and end with the run."""
    with ExitStack() as end:
        listeners.add(_AtFirstChange(lambda: begin(end)))
        yield


class _AtFirstChange:
    events = (ChangerCalled,)

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin, self._begun = begin, False

    def __call__(self, event: Event) -> None:
        if not self._begun:
            self._begun = True
            self._begin()
