# SPDX-License-Identifier: Apache-2.0
"""`#!stateconf -o`: the states of an SLS run in the order as written, each requires the one before
it.
"""

from __future__ import annotations

from typing import Any

from runner.model.chunk import RESERVED
from runner.model.errors import RenderError
from runner.model.places import Place, PlacedList, PlacedMap, item_place, key_place
from runner.model.requisite_kinds import REQUISITE_KEYS


def order(made: PlacedMap, nowhere: Place) -> None:
    """Let each state require the one before it."""
    listed = [(key, state) for key in made if key not in RESERVED for state in (made[key] or ())]
    places = {(state.partition(".")[0], key): number for number, (key, state) in enumerate(listed)}
    before: dict[str, str] | None = None
    for number, (key, state) in enumerate(listed):
        arguments = made[key][state]
        if not isinstance(arguments, list):
            continue
        _check(arguments, number, places, key_place(made, key, nowhere))
        if before is not None:
            made[key][state] = _requiring(arguments, before)
        before = {state.partition(".")[0]: key}


def _check(
    arguments: list[Any], number: int, places: dict[tuple[str, str], int], place: Place
) -> None:
    for index, item in enumerate(arguments):
        if not isinstance(item, dict):
            continue
        where = item_place(arguments, index, place).source
        if "names" in item:
            hint = "write a state for each, in a loop of the template"
            raise RenderError("`names` cannot be used with stateconf -o", where, hint)
        for kind in REQUISITE_KEYS & item.keys():
            for target in item[kind] if isinstance(item[kind], list) else ():
                pair = (
                    next(iter(target.items()), ("", "")) if isinstance(target, dict) else ("", "")
                )
                other = places.get(pair, number)
                if (other < number) if kind.endswith("_in") else (other > number):
                    side = "before" if kind.endswith("_in") else "after"
                    what = f"{kind} of {pair[0]}: {pair[1]}, which is written {side} this state"
                    raise RenderError(
                        what, where, "stateconf -o runs the states in the order as written"
                    )


def _requiring(arguments: list[Any], target: dict[str, str]) -> list[Any]:
    for item in arguments:
        if isinstance(item, dict) and isinstance(item.get("require"), list):
            with_first(item["require"], target)
            return arguments
    arguments.append({"require": [target]})
    return arguments


def with_first(arguments: list[Any], item: Any) -> list[Any]:
    """The arguments with one more, at the head (behind the function, where that is an item)."""
    position = 1 if arguments and isinstance(arguments[0], str) else 0
    arguments.insert(position, item)
    if isinstance(arguments, PlacedList):
        arguments.items_at.insert(position, arguments.start)
    return arguments
