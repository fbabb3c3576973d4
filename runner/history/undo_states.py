# SPDX-License-Identifier: Apache-2.0
"""Users, services, packages and the like as they were: judged and compared; the modules restore
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runner.history.kept import KeptRun
from runner.history.merging import merged
from runner.history.undo_foresight import Foresight
from runner.history.undo_paths import UNKNOWN_SINCE
from runner.model.former_state import FormerState

State = Mapping[str, Any]


def planned(
    was: FormerState, run: KeptRun, foresight: Foresight, silent: bool
) -> Iterator[tuple[FormerState, FormerState, str, str]]:
    """Yield what is to be done about the record of a run: (what it was, what it is, why it is left
    out, a note) of each thing that the record is about and that the run has changed.
    """
    kind = was.kind
    if why := run.lost.get((kind, was.name)):
        yield was, was, why, ""
        return
    private = silent or bool(foresight.functions("undo.is_private")(kind))
    present = foresight.functions("undo.look")(kind, was.name)
    along = foresight.functions("undo.along")
    unsure = any(kind in along(other) for other, _ in run.interrupted)
    left = None if unsure else run.left_states.get((kind, was.name))
    note = UNKNOWN_SINCE if left is None else ""
    changes: dict[str, tuple[State, State]] = {}
    refused: dict[str, str] = {}
    for name, former, then, now in _each(was, present if left is None else left, present):
        if former in (now, then) or _goes_with_another(kind, name, run, foresight):
            continue
        goal = merged(former, then, now)
        if goal == now:
            continue
        changes[name] = (former if goal is None else goal, now)
        if goal is None:
            words = _words(now, then, private)
            refused[name] = f"the machine was changed since: {words}"
    rest = {name: change for name, change in changes.items() if name not in refused}
    if rest:
        refused |= foresight.functions("undo.refusals")(kind, rest, foresight.state)
    notes: Mapping[str, str] = foresight.functions("undo.notes")(kind, changes)
    for name, (former, now) in changes.items():
        why = refused.get(name, "")
        states = (FormerState(kind, name, state, private) for state in (former, now))
        said = "; ".join(filter(None, (notes.get(name), note)))
        yield *states, why, "" if why else said  # type: ignore[misc]


def _each(
    was: FormerState, left: State, present: State
) -> Iterator[tuple[str, State, State, State]]:
    """The name, the former state, how the run left it and the present state of each thing."""
    if was.name:
        yield was.name, was.state, left, present
        return
    for name in sorted({*was.state, *left}):
        yield name, was.state.get(name, {}), left.get(name, {}), present.get(name, {})


def _goes_with_another(kind: str, name: str, run: KeptRun, foresight: Foresight) -> bool:
    """Return whether something comes and goes with what the run has made: a password, with
    its user.
    """
    whole = foresight.functions("undo.part_of")(kind)
    return bool(whole) and run.made(whole, name)


def difference(was: FormerState, now: FormerState) -> str:
    """The difference of what is restored from what is there, in words."""
    return _words(was.state, now.state, was.private)


def _words(first: State, second: State, private: bool) -> str:
    if not first:
        return "removed" if second else "as it is"
    if not second:
        return "made again" + ("" if private else _detail(first))
    if private:
        return "another one"
    parts = [_part(key, first.get(key), second.get(key)) for key in first]
    return ", ".join(filter(None, parts)) or "as it is"


def _detail(state: State) -> str:
    """The state of what is made again, where it is but one word."""
    values = [value for value in state.values() if isinstance(value, str)]
    return f" ({next(iter(state))} {values[0]})" if len(state) == len(values) == 1 else ""


def _part(key: str, first: object, second: object) -> str:
    if first == second:
        return ""
    if isinstance(first, bool):
        return key if first else f"not {key}"
    if isinstance(first, list) and isinstance(second, list):
        back = [str(item) for item in first if item not in second]
        gone = [str(item) for item in second if item not in first]
        words = [f"with {', '.join(back)}"] if back else []
        words += [f"without {', '.join(gone)}"] if gone else []
        return f"{key} {' and '.join(words) or 'in another order'}"
    return f"{key} {first} instead of {second}"
