# SPDX-License-Identifier: Apache-2.0
"""What the looks of each state ask the machine for, while a run is under way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from modules import _looks
from runner import api
from runner.api import here

Look = tuple[str, str]  # (path, folder, tree, program or server; its name)
_KEPT = "kept"  # an answer that was kept, by its topic and its question


class LookLog:
    """By the tag of each state, what its looks asked for. What an answer came from that another
    look had got is asked for by all that use it.
    """

    def __init__(self) -> None:
        self._asked: dict[str, list[tuple[str, Any]]] = {}
        self._of_answer: dict[Any, list[tuple[str, Any]]] = {}

    @contextmanager
    def noting(self, stores: dict[str, dict[Any, Any]]) -> Iterator[None]:
        """Note what the states of a run ask for. stores: those of the run."""
        stores["cached_look"] = _Topics(self)
        with _looks.told(self.note, api):
            yield

    def note(self, kind: str, name: Any) -> None:
        """Note something that a look asks for."""
        self._now().append((kind, name))

    def asked_for(self, answer: Any) -> int:
        """Note that a kept answer is asked for; returns where what it comes from begins."""
        self.note(_KEPT, answer)
        return len(self._now())

    def answered(self, answer: Any, begin: int) -> None:
        """Note what an answer came from."""
        self._of_answer[answer] = self._now()[begin:]

    def _now(self) -> list[tuple[str, Any]]:
        """What the state that looks now has asked for; all else is under no tag."""
        try:
            chunk = here.chunk
        except LookupError:
            chunk = None
        return self._asked.setdefault("" if chunk is None else chunk.tag, [])

    def looks(self) -> dict[str, list[Look]]:
        """What the looks of each state asked for."""
        return {tag: list(self._whole(asked)) for tag, asked in self._asked.items() if tag}

    def _whole(self, asked: list[tuple[str, Any]]) -> dict[Look, None]:
        """What was asked for, with what kept answers came from."""
        waiting, looks, known = list(asked), dict[Look, None](), set[Any]()
        while waiting:
            kind, name = waiting.pop()
            if kind != _KEPT:
                looks[kind, name] = None
            elif name not in known:
                known.add(name)
                waiting += self._of_answer.get(name, ())
        return looks


class _Topics(dict[str, dict[Any, Any]]):
    """The kept answers of a run, by topic."""

    def __init__(self, log: LookLog) -> None:
        super().__init__()
        self._log = log

    def setdefault(self, topic: str, default: Any = None) -> Any:
        if topic not in self:
            self[topic] = _Answers(self._log, topic)
        return self[topic]


class _Answers(dict[Any, Any]):
    """The kept answers on one topic."""

    def __init__(self, log: LookLog, topic: str) -> None:
        super().__init__()
        self._log, self._topic = log, topic
        self._begun: dict[Any, int] = {}

    def get(self, key: Any, default: Any = None) -> Any:
        self._begun[key] = self._log.asked_for((self._topic, key))
        return super().get(key, default)

    def __setitem__(self, key: Any, answer: Any) -> None:
        super().__setitem__(key, answer)
        if key in self._begun:
            self._log.answered((self._topic, key), self._begun.pop(key))
