# SPDX-License-Identifier: Apache-2.0
"""Answers and runs as salt-call prints them for people: its forms `nested` and `highstate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.model.diagnostics import Diagnostic

DASHES = "----------"
STATE_OUTPUT = ("full", "terse", "mixed", "changes", "filter")  # each also with `_id` at its end
RESULTS = {True: "Clean", False: "Failed", None: "Differs"}
MARGIN = " " * 14  # of what belongs to a state


def nested(data: Any) -> str:
    """Any value, each key and each item on a line of its own."""
    return "".join(f"{line}\n" for line in _value(data, 0))


def errors(problems: Sequence[Diagnostic]) -> str:
    """What kept a tree from being compiled."""
    text = "".join(f"{DASHES}\n    {problem}\n" for problem in problems)
    return f"local:\n    Data failed to compile:\n{text}"


def highstate(data: Any, state_output: str = "full", verbose: bool = True) -> str:
    """The states of a run, then a summary; any other answer is nested. state_output: Salt's option
    of that name. verbose: what is in order, too.
    """
    if not _is_run(data):
        return nested(data)
    return "".join(f"{line}\n" for line in _run(data, state_output, verbose))


# ---------------------------------------------------------------- nested


def _value(value: Any, indent: int) -> Iterator[str]:
    margin = " " * indent
    if isinstance(value, Mapping):
        if indent:
            yield margin + DASHES
        for key in sorted(value, key=str):
            yield f"{margin}{key}:"
            yield from _value(value[key], indent + 4)
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, Mapping | list | tuple):
                yield f"{margin}|_"
                yield from _value(item, indent + 2)
            else:
                lines = _lines(item)
                yield from (f"{margin}{'  ' if at else '- '}{line}" for at, line in lines)
    else:
        yield from (margin + line for _, line in _lines(value))


def _lines(value: Any) -> Iterator[tuple[int, str]]:
    """The lines of a plain value, each with its number; none of an empty text."""
    return enumerate(str(value).splitlines())


# ---------------------------------------------------------------- highstate


def _is_run(data: Any) -> bool:
    answers = data.values() if isinstance(data, Mapping) else ()
    return all(
        isinstance(states, Mapping)
        and all(isinstance(each, Mapping) and "__run_num__" in each for each in states.values())
        for states in answers
    ) and any(answers)


def _run(data: Mapping[str, Any], state_output: str, verbose: bool) -> Iterator[str]:
    for machine, states in data.items():
        yield f"{machine}:"
        tags = sorted(states, key=lambda tag: int(states[tag]["__run_num__"]))
        for tag in tags:
            state = states[tag]
            if not verbose and state["result"] and not state["changes"]:
                continue
            if _is_terse(state, state_output.removesuffix("_id")):
                yield _terse(tag, state, state_output.endswith("_id"))
            else:
                yield from _full(tag, state, state_output.endswith("_id"))
        yield from _summary(machine, list(states.values()))


def _is_terse(state: Mapping[str, Any], state_output: str) -> bool:
    """Return whether a state is told in one line."""
    calm = state["result"] is not False
    of_mixed = {"terse": True, "mixed": calm, "changes": calm and not state["changes"]}
    return of_mixed.get(state_output, False)


def _function(tag: str) -> str:
    module, *_, function = tag.split("_|-")
    return f"{module}.{function}"


def _terse(tag: str, state: Mapping[str, Any], by_id: bool) -> str:
    result = "Changed" if state["changes"] and state["result"] else RESULTS[state["result"]]
    return (
        f"  Name: {state['__id__'] if by_id else state['name']} - Function: {_function(tag)}"
        f" - Result: {result} - Started: {state['start_time']} - Duration: {state['duration']} ms"
    )


def _full(tag: str, state: Mapping[str, Any], by_id: bool) -> Iterator[str]:
    yield DASHES
    yield f"          ID: {state['__id__']}"
    yield f"    Function: {_function(tag)}"
    if state["name"] != state["__id__"] and not by_id:
        yield f"        Name: {state['name']}"
    yield f"      Result: {state['result']}"
    comment = f"\n{MARGIN}".join(str(state["comment"]).rstrip("\n").split("\n"))
    yield f"     Comment: {comment}"
    yield f"     Started: {state['start_time']}"
    yield f"    Duration: {state['duration']} ms"
    yield "     Changes:   "
    if state["changes"]:
        yield from _value(state["changes"], len(MARGIN))
    for warning in state.get("warnings", ()):
        yield f"    Warnings: {' '.join(warning.split())}"


def _summary(machine: str, states: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    failed = sum(state["result"] is False for state in states)
    numbers = {
        "unchanged": sum(state["result"] is None for state in states),
        "changed": sum(bool(state["changes"]) for state in states),
    }
    warned = sum(bool(state.get("warnings")) for state in states)
    parts = ", ".join(f"{word}={number}" for word, number in numbers.items() if number)
    width = len(str(len(states)))
    line = "-" * (11 + width)
    took = sum(state["duration"] for state in states)
    time = f"{took / 1000:>7.3f} s" if took > 1000 else f"{took:>7.3f} ms"
    yield f"\nSummary for {machine}\n{line}"
    yield f"Succeeded: {len(states) - failed:>{width}}{f' ({parts})' if parts else ''}"
    yield f"Failed:    {failed:>{width}}"
    if warned:
        yield f"Warnings:  {warned:>{width}}"
    yield f"{line}\nTotal states run:     {len(states):>{width}}"
    yield f"Total run time: {' ' * (width - 1)}{time}"
