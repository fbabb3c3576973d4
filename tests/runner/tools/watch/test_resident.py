# SPDX-License-Identifier: Apache-2.0
"""What the process that watches goes by, and when it does what, by a clock that never waits."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runner.tools.watch import resident
from runner.tools.watch.interests import Interests
from runner.tools.watch.resident import MINUTE, MOST_LOOKS, Resident, Settings

Asked = tuple[float, str, list[str] | None]


@pytest.mark.parametrize("hours", [-24, -1, 1, 24])
def test_a_clock_that_is_set_hides_no_change(hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = time.time
    began = resident.Moment.now()
    before = clock()  # a file that is changed now has this time,
    monkeypatch.setattr(resident.time, "time", lambda: clock() + hours * 3600)
    after = resident.time.time()  # and this one after the clock was set
    assert began.since <= min(before, after)


class Enough(Exception):
    """All was asked that a test wants to know."""


class Simulated:
    """One that watches the files `a` and `b`, each of a state, where sleeping takes no time.

    asked: when what was asked; on_question: called with how many were; compiles: whether the tree
    does, the next times.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.passed = folder, 0.0
        self.asked: list[Asked] = []
        self.on_question: Callable[[int], None] = lambda count: None
        self.compiles: list[bool] = []
        for name in "ab":
            (folder / name).touch()
        began = time.time()
        clock = SimpleNamespace(
            time=lambda: began + self.passed,
            monotonic=lambda: self.passed,
            process_time=lambda: self.passed,
        )
        monkeypatch.setattr(resident, "time", clock)
        monkeypatch.setattr(resident, "select", SimpleNamespace(**vars(select) | {"poll": self}))
        monkeypatch.setattr(resident, "PlanProcess", lambda make, leave: _Process(self))

    def __call__(self) -> Any:
        """What is slept in."""
        poll = select.poll()

        def wait(milliseconds: float) -> list[tuple[int, int]]:
            ready = poll.poll(0)
            if not ready:
                self.passed += milliseconds / 1000 + 0.001
            return ready

        return SimpleNamespace(register=poll.register, poll=wait)

    def run(self, on_question: Callable[[int], None]) -> None:
        self.on_question = on_question
        settings = Settings(str(self.folder / "state"), every=1800.0)
        with pytest.raises(Enough):
            Resident(settings, lambda: None, lambda line: None).run()

    def answer(self, what: str, tags: list[str] | None) -> dict[str, Any]:
        self.asked.append((resident.time.monotonic(), what, tags))
        self.on_question(len(self.asked))
        looks = {name: [("path", str(self.folder / name))] for name in tags or "ab"}
        return {"outcomes": {}, "looks": looks, "files": []}


class _Process:
    """A process of a plan, which answers at once."""

    def __init__(self, simulated: Simulated) -> None:
        self._simulated = simulated
        self.channel, self._other = socket.socketpair()
        compiles = simulated.compiles.pop(0) if simulated.compiles else True
        sources = {"files": [], "folders": [], "own": []}
        facts = {"states": {name: f"file: {name}" for name in "ab"}, "dependents": {}}
        facts["metrics"] = ""
        self._answers = [{"sources": sources, "facts": facts} if compiles else {"sources": sources}]
        self._other.send(b".")

    def ask(self, what: str, tags: list[str] | None, event: str) -> None:
        self._answers.append(self._simulated.answer(what, tags) | {"event": event})
        self._other.send(b".")

    def answers(self) -> list[dict[str, Any]]:
        self.channel.recv(1)
        return [self._answers.pop(0)]

    def end(self) -> None:
        self.close()

    def close(self) -> None:
        self.channel.close()
        self._other.close()

    def collect(self, wait: bool = True) -> bool:
        return True


@pytest.fixture
def simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Simulated:
    return Simulated(tmp_path, monkeypatch)


def test_what_is_looked_at_too_often_rests_until_its_minute_is_over(simulated: Simulated) -> None:
    """Others do not, and what was seen of it meanwhile is looked at then."""

    def change(count: int) -> None:
        if count <= MOST_LOOKS + 1:
            (simulated.folder / "a").write_text(str(count))
        if count == MOST_LOOKS + 1:
            (simulated.folder / "b").write_text("1")
        if count == MOST_LOOKS + 3:
            raise Enough

    simulated.run(change)
    tags = [tags for _, _, tags in simulated.asked]
    assert tags == [None, *[["a"]] * MOST_LOOKS, ["b"], ["a"]]
    first, last, of_b, rested = (simulated.asked[at][0] for at in (1, MOST_LOOKS, -2, -1))
    assert last - first < of_b - first < MINUTE <= rested - of_b < MINUTE + 1


def test_the_timer_looks_with_the_plan_from_before(simulated: Simulated) -> None:
    """Also while the tree does not compile."""
    simulated.compiles = [True, False, False, True]

    def enough(count: int) -> None:
        if count == 4:
            raise Enough

    simulated.run(enough)
    times = [at for at, _, _ in simulated.asked]
    assert [tags for _, _, tags in simulated.asked] == [None] * 4
    assert [round((at - times[0]) / 1800) for at in times] == [0, 1, 2, 3]


@pytest.mark.parametrize(("cost", "pause"), [(0.0, 10), (0.01, 10), (0.1, 50)])
def test_what_is_polled_takes_a_small_part_of_the_time(
    simulated: Simulated, monkeypatch: pytest.MonkeyPatch, cost: float, pause: int
) -> None:
    times = list[float]()

    class Costly(Interests):
        polls = True

        def poll(self, is_polled: Callable[[str], bool]) -> dict[str, str]:
            times.append(simulated.passed)
            simulated.passed += cost
            if len(times) == 10:
                raise Enough
            return {}

    monkeypatch.setattr(resident, "Interests", Costly)
    simulated.run(lambda count: None)
    later = times[5:]
    assert [round(after - before) for before, after in pairwise(later)] == [pause] * 4
