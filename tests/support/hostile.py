# SPDX-License-Identifier: Apache-2.0
"""Values that nobody means and somebody writes, as each text among a state function's arguments."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from law_table import SLOW, is_good
from laws import EVERYTHING, Scenario
from trying import REGISTRY, bound

from runner.api import RunnerError
from runner.language.arguments.scalars import Mismatch, Shape
from runner.language.arguments.schema import features_of, schema_of

VALUES = {
    "two lines": "one\nHOSTILE",
    "an option": "-oHOSTILE",
    "a NUL character": "a\0b",
    "spaces": " a  b ",
    "quotes": "a'b\"c`d$e;f&g|h",
    "long": "x" * 300,
    "very long": "x" * 70_000,
    "no UTF-8": "a\udcffb",
    "empty": "",
    "folders above": "../../a",
    "a pattern": "[*?]{}%s\\",
    "no letters": "\x1b[31m\u202e\u2028\ufeff",
    "bytes": b"a\xff\x00",
}
SOME = 2  # of a function


def takes(shape: Shape, value: Any) -> bool:
    """Whether a value is taken as it is, alone or in a list."""
    return any(converted(shape, given) in (value, [value]) for given in (value, [value]))


def converted(shape: Shape, value: Any) -> Any:
    try:
        return shape.convert(value)
    except Mismatch:
        return None


def texts_of(function: str) -> Iterator[tuple[str, Shape]]:
    """The arguments of a state function that take a text, but for those that a provider may lack:
    the engine asks it before anything runs.
    """
    for name, parameter in schema_of(REGISTRY.state(function).function).parameters.items():
        if not features_of(parameter) and takes(parameter.shape, "/plain"):
            yield name, parameter.shape


def with_hostile_values(scenarios: Sequence[Scenario]) -> Iterator[tuple[Scenario, list[Scenario]]]:
    """For each function a scenario, and the same with one of VALUES as one of its texts: some that
    its name chooses, or all of them (`RUNNER_LAWS=all`). Without those that are refused before
    anything runs.
    """
    alone = [each for each in reversed(scenarios) if not each.after]
    first = {each.function: each for each in alone}
    first |= {each.function: each for each in alone if is_good(each)}
    for function, scenario in sorted(first.items()):
        every = [*_variants(scenario)]
        random.Random(function).shuffle(every)
        some = len(every) if EVERYTHING else 1 if function.startswith(SLOW) else SOME
        bindable = (each for each in every if _is_bound(each))
        yield scenario, [*itertools.islice(bindable, some)]


def _variants(scenario: Scenario) -> Iterator[Scenario]:
    for argument, shape in texts_of(scenario.function):
        below = str(scenario.args.get(argument, "")).startswith("{tmp}/")
        for value in VALUES.values():
            used = f"{{tmp}}/{value}" if below and isinstance(value, str) else value
            args = {**scenario.args, argument: [used] if _is_listed(shape) else used}
            yield replace(scenario, args=args, plans=True, fails=None)


def _is_listed(shape: Shape) -> bool:
    return converted(shape, "/plain") == ["/plain"]


def _is_bound(scenario: Scenario) -> bool:
    try:
        bound(scenario, Path("/tmp"))
    except RunnerError:
        return False
    return True
