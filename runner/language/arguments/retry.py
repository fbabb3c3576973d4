# SPDX-License-Identifier: Apache-2.0
"""The `retry:` of a state: how often it is tried again, and when."""

from __future__ import annotations

import random

from runner.api.argtypes import duration_problem
from runner.model.global_arguments import RETRY
from runner.model.places import Value
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_EXPECTED = {"attempts": "a whole number", "until": "true or false"}


class Retry(Record):
    """How often a state is tried again: attempts in all, seconds between them, up to `splay`
    seconds more.
    """

    attempts: int = RETRY["attempts"].default
    until: bool = RETRY["until"].default
    interval: int = RETRY["interval"].default
    splay: int = RETRY["splay"].default

    def pause(self) -> float:
        """Seconds until the next attempt."""
        if not self.splay:
            return float(self.interval)
        return self.interval + random.randint(0, self.splay)


def retry_options(value: Value) -> tuple[Retry, str]:
    """The options of `retry:` and the mistakes in them; wrong ones become their defaults."""
    if isinstance(value, list):
        value = {
            key: item for entry in value if isinstance(entry, dict) for key, item in entry.items()
        }
    if not isinstance(value, dict):
        return Retry(), "" if value in (
            True,
            False,
        ) else f"retry is neither True nor a mapping: {value!r}"
    options: dict[str, Any] = {}
    problems = []
    for key, (default, _) in RETRY.items():
        number = value.get(key, default)
        fits = type(number) is type(default) and not duration_problem(number)
        options[key] = number if fits else default
        if not fits:
            expected = _EXPECTED.get(key, "whole seconds")
            problems.append(
                f"retry: {key} cannot be {number!r}: expected {expected},"
                f" and {str(default).lower()} is used"
            )
    problems += [f"retry: there is no {key!r}" for key in value if key not in RETRY]
    return Retry(**options), "; ".join(problems)
