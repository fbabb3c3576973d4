# SPDX-License-Identifier: Apache-2.0
"""The explanation of states for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.model.requisite_kinds import KINDS
from runner.model.result import named
from runner.output.text import safe

ORIGINS = {
    "reaction": "it reacted to a change of another state",
    "intent": ("the tree changed since the run before, or that run did not get to this state"),
    "drift": "the tree is the same as in the run before: the machine was changed since",
    "repeats": "it changes something in every run",
}
MOVES = {"later": "moved after what it depends on", "earlier": "moved before what depends on it"}
LONG = 160
# text that reads as no text
AMBIGUOUS = re.compile(r"[-+.\d:eE_]*|true|false|yes|no|on|off|null|~|[\[{\"'].*", re.I | re.S)


def text(states: Sequence[Mapping[str, Any]]) -> str:
    """All of them."""
    return "\n".join("".join(f"{safe(line)}\n" for line in _lines(state)) for state in states)


def _lines(state: Mapping[str, Any]) -> Iterator[str]:
    yield f"{state['function']}  {state['id']}"
    yield f"  declared at {state['declared']}"
    yield f"  SLS {state['sls']}"
    for step in state["includes"]:
        yield f"    {step['sls']} is included by {step['by']}" + (
            f" at {step['place']}" if step["place"] else ""
        )
    yield (
        f"  in this run because of {state['top']}"
        if state["top"]
        else f"  in this run because {state['first']} was named"
    )
    yield from _position(state)
    yield "  arguments"
    for key, argument in state["arguments"].items():
        where = ", ".join(
            part
            for part in (argument["from"], argument["place"] and f"at {argument['place']}")
            if part
        )
        yield f"    {key}: {_short(argument['value'])}" + (f"   ({where})" if where else "")
    yield from _requisites(state)
    if "last_run" in state:
        yield from _last_run(state["last_run"])


def _short(value: object) -> str:
    plain = isinstance(value, str) and value == value.strip() and not AMBIGUOUS.fullmatch(value)
    shown = str(value) if plain else json.dumps(value, default=str, ensure_ascii=False)
    lines = shown.split("\n")
    more = (
        f" ... ({len(lines)} lines)" if len(lines) > 1 else " ..." if len(lines[0]) > LONG else ""
    )
    return lines[0][:LONG] + more


def _position(state: Mapping[str, Any]) -> Iterator[str]:
    asked = f"order {state['order']:g}"
    why = f"typed at {state['order_place']}" if state["order_place"] else "by its place in the tree"
    yield f"  runs as number {state['position']} of {state['of']} ({asked}, {why})"
    for direction, words in MOVES.items():
        states = dict.fromkeys(
            f"{move['state']} ({move['kind']})"
            for move in state["moved"]
            if move["direction"] == direction
        )
        if states:
            yield f"    {words}: {', '.join(states)}"


def _requisites(state: Mapping[str, Any]) -> Iterator[str]:
    for item in state["waits_for"]:
        yield f"  {KINDS[item['kind']].words.format(item['state'])} {_how(item)}"
    for item in state["waited_for_by"]:
        yield f"  {KINDS[item['kind']].words_back.format(item['state'])} {_how(item)}"
    own = state["state"]
    for item in state["automatic"]:
        if item["after"] == own:
            yield f"  comes after {item['before']} ({item['kind']})"
        else:
            yield f"  comes before {item['after']} ({item['kind']})"


def _how(item: Mapping[str, Any]) -> str:
    written = f", written as {item['written']}" if item["written"] else ""
    return f"({item['kind']}, {item['place']}{written}), number {item['position']}"


# ---------------------------------------------------------------- the last run


def _last_run(last: Mapping[str, Any] | None) -> Iterator[str]:
    if last is None:
        yield "  it was in no run that the history knows"
        return
    run = last["run"]
    yield f"  in run {run['id']} ({run['started']}, {run['command']}) it {_became(last)}"
    for line in last["comment"].split("\n"):
        yield f"    {line}"
    if last["cause"]:
        cause = named(last["cause"])
        yield f"    because of {cause} (`runner why '{cause}' --run` says more)"
    if last["changes"] and last["origin"] in ORIGINS:
        yield f"    why it changed something: {ORIGINS[last['origin']]}"


def _became(last: Mapping[str, Any]) -> str:
    if not last["ran"]:
        return "was skipped" if last["result"] else "could not run"
    if last["result"] is None:
        return "was only planned"
    if not last["result"]:
        return "ran and failed"
    changed = ", ".join(last["changes"])
    return f"ran and changed {changed}" if changed else "had nothing to do"
