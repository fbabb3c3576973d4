# SPDX-License-Identifier: Apache-2.0
"""States side by side (`parallel: True`): each in a thread with a copy of the context, waited for
by who needs it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context

from runner.api.programs import allow_programs, end_programs
from runner.engine.signal_watchdog import SignalWatchdog
from runner.model.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.engine.step import RunPlan

MOST = 32  # at once
# Seconds after which a wait looks up: a signal that the system handed to the thread of a state is
# heeded only when the main thread goes on.
LOOK_UP = 0.5


class Needs:
    """The states of a plan that have to end before another one starts."""

    def __init__(self, plan: RunPlan) -> None:
        self._relations = plan.relations
        self._rank = {position: rank for rank, position in enumerate(plan.order)}
        self._after: dict[int, set[int]] = {}
        for first, then, _ in plan.relations.automatic:
            self._after.setdefault(then, set()).add(first)
        by_targets: dict[int, set[int]] = {}
        self._prepared_by: dict[int, list[set[int]]] = {}
        for group in plan.relations.preparing:
            if id(group.targets) not in by_targets:
                holders = by_targets[id(group.targets)] = set()
                for target in group.targets:
                    self._prepared_by.setdefault(target, []).append(holders)
            by_targets[id(group.targets)].add(group.holder)

    def of(self, position: int) -> set[int]:
        """Those that prepare its change; those that it requires or comes after by itself; and those
        that what it looks at does.
        """
        needed = set[int]().union(*self._prepared_by.get(position, ()))
        asked: set[tuple[int, bool]] = set()
        looked = [position]
        for each in looked:
            needed |= self._after.get(each, set())
            for group in self._relations.of(each).groups:
                key = id(group.targets), group.kind.prepares
                if group.kind.orders and key not in asked:
                    asked.add(key)
                    needed.update(group.targets)
                    looked += group.targets if group.kind.prepares else ()
        return {each for each in needed if self._rank[each] < self._rank[position]}


class ParallelStates:
    """The states that run now, by their positions. Threads are daemons: a run that ends does not
    wait for them.
    """

    def __init__(self, most: int = 0) -> None:
        allow_programs()
        self._threads: dict[int, threading.Thread] = {}
        self._outcomes: dict[int, Result | BaseException] = {}
        self._one_ended = threading.Condition()
        self._free = threading.BoundedSemaphore(most or MOST)
        self._watchdog: SignalWatchdog | None = None

    def start(self, position: int, work: Callable[[], Result]) -> None:
        """Begin with a state, as soon as there is room."""
        if self._watchdog is None and threading.current_thread() is threading.main_thread():
            self._watchdog = SignalWatchdog()
        while not self._free.acquire(timeout=LOOK_UP):
            pass

        def run() -> None:
            try:
                self._outcomes[position] = work()
            except BaseException as error:
                self._outcomes[position] = error
            finally:
                self._free.release()
                with self._one_ended:
                    self._one_ended.notify_all()

        context = copy_context()
        self._threads[position] = threading.Thread(target=lambda: context.run(run), daemon=True)
        self._threads[position].start()

    def positions(self) -> list[int]:
        """The states that were started and not waited for, in the order of the starts."""
        return list(self._threads)

    def runs(self, position: int) -> bool:
        """Return whether a state has been started and has not ended."""
        return position in self._threads and position not in self._outcomes

    def first(self) -> int:
        """Wait for the state that ends first of all that have been started."""
        with self._one_ended:
            while not self._outcomes:
                self._one_ended.wait(LOOK_UP)
        position: int = next(iter(self._outcomes))
        return position

    def wait(self, position: int) -> Result:
        """The result of a state, when it has ended."""
        while self._threads[position].is_alive():
            self._threads[position].join(LOOK_UP)
        del self._threads[position]
        outcome = self._outcomes.pop(position)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def end(self) -> None:
        """End the programs that the states wait for, with all that these have started."""
        if self._watchdog:
            self._watchdog.heeded()
        if self._works():
            end_programs()

    def close(self) -> None:
        """The run is over; what still works in a thread may not keep this process from its end."""
        if self._watchdog and not self._works():
            self._watchdog.stop()
            self._watchdog = None

    def _works(self) -> bool:
        return any(thread.is_alive() for thread in self._threads.values())
