# SPDX-License-Identifier: Apache-2.0
"""A state that fails in the middle of its change: what is reported as changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from command import Machine

from runner.api import Plan, Planned, StateFailed
from runner.engine.partial_changes import made

STATE = """
import os
from runner.api import Plan, StateFailed

def there(name):
    missing = [each for each in ("a", "b") if not os.path.exists(f"{name}/{each}")]
    yield Plan({each: "new" for each in missing}, "would be made")
    open(f"{name}/a", "w").close()
    raise StateFailed("no b today")
"""


def left(**changes: str) -> Callable[[], Planned]:
    def look() -> Planned:
        yield Plan(changes, "left")
        return "done"

    return look


def fails() -> Planned:
    raise StateFailed("now it cannot even look")
    yield Plan({}, "")


@pytest.mark.parametrize(
    ("look", "exact", "found"),
    [
        (left(a="new", b="new"), True, {}),
        (left(b="new"), True, {"a": "new"}),
        (left(a="other", b="new"), True, {"a": "new"}),
        (left(), True, {"a": "new", "b": "new"}),
        (lambda: "nothing to do", True, {"a": "new", "b": "new"}),
        (fails, True, {"a": "new", "b": "new"}),
        (left(a="new", b="new"), False, {"a": "new", "b": "new"}),
    ],
)
def test_what_a_second_look_still_plans_was_not_made(
    look: Callable[[], object], exact: bool, found: dict[str, str]
) -> None:
    assert made(Plan({"a": "new", "b": "new"}, "all", exact=exact), look) == found


def test_it_stands_in_the_result(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/pair.py").write_text(STATE)
    machine.write(a="{tmp}:\n  pair.there: []\n")
    (result,) = machine.results("sls", "a", code=2).values()
    assert (result["changes"], result["comment"]) == ({"a": "new"}, "no b today")
