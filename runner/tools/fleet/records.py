# SPDX-License-Identifier: Apache-2.0
"""What the parts of a fleet run hand to each other: hosts, and what came of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.model.records import Record

OK, FAILED, UNREACHABLE, NO_ANSWER, NOT_BEGUN = (
    "ok",
    "failed",
    "unreachable",
    "no answer",
    "not begun",
)


class Host(Record):
    """A machine of the inventory. name: its ID; grains: those that the inventory gives it."""

    name: str
    grains: Mapping[str, Any] = {}
    groups: tuple[str, ...] = ()


class HostOutcome(Record):
    """What came of one host. answer: what runner printed as JSON there, below `local`; message:
    why there is none, or what went wrong; seconds: how long it took.
    """

    host: str
    kind: str
    answer: Any = None
    message: str = ""
    seconds: float = 0.0

    @property
    def went_well(self) -> bool:
        return self.kind == OK


class Job(Record):
    """What each host is to do. function: highstate, sls or call; name: the SLS files; words: an
    execution function and its arguments as typed; positional, named: what the arguments mean.
    """

    function: str
    name: str = ""
    words: tuple[str, ...] = ()
    positional: tuple[Any, ...] = ()
    named: Mapping[str, Any] = {}
    test: bool = False


class Limits(Record):
    """How many hosts at once. batch: how many begin before the next ones may (0: all); max_fail:
    no batch begins after so many hosts failed (0: no limit); failed: so many had failed before.
    """

    forks: int
    batch: int = 0
    max_fail: int = 0
    failed: int = 0
