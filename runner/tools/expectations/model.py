# SPDX-License-Identifier: Apache-2.0
"""The values: an expectation, and what came out of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.model.places import Source
from runner.model.records import Record


class Expectation(Record):
    """What shall hold of one thing.

    kind: file, port, ...; name: of the thing; asserted: word -> value, as the looks take it;
    places: word -> where it was typed; "" is the name's.
    """

    kind: str
    name: str
    asserted: Mapping[str, Any]
    places: Mapping[str, Source]

    def place(self, word: str) -> Source | None:
        """Where an assertion was typed; that of the name for one that is implied."""
        return self.places.get(word) or self.places.get("")


class Outcome(Record):
    """Whether one assertion holds. ok: None where it could not be looked at; problem: what is
    wrong, or why it was not looked at.
    """

    kind: str
    name: str
    word: str
    expected: Any
    actual: Any
    ok: bool | None
    problem: str
    source: Source | None = None

    def __str__(self) -> str:
        about = f"{self.kind} {self.name}: {self.word}"
        return f"{about}: {self.problem}" if self.problem else about
