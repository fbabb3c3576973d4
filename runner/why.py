"""Why a state is in the run, where each of its arguments comes from, and why it stands where it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runner.errors import RunnerError
from runner.model import Chunk, Relations


def explained(
    wanted: str,
    chunks: Sequence[Chunk],
    relations: Relations,
    order: Sequence[int],
    brought: Mapping[tuple[str, str], tuple[str, ...]],
    top: Mapping[tuple[str, str], str],
) -> list[dict[str, Any]]:
    """What is known of each state with an ID or name (or `state: name`).

    brought: (environment, SLS) -> the SLS files that include it, nearest first. top: (environment, SLS) -> the line of
    the top file. Raises RunnerError when there is none.
    """
    state, colon, rest = wanted.partition(":")
    name = rest.strip() if colon and state.isidentifier() else wanted
    kind = state if colon and state.isidentifier() else None
    found = [n for n, chunk in enumerate(chunks) if name in (chunk.id, chunk.name) and kind in (None, chunk.state)]
    if not found:
        import difflib

        near = difflib.get_close_matches(name, {each for chunk in chunks for each in (chunk.id, chunk.name)}, 1)
        raise RunnerError(
            f"no state of this run has the ID or name {name}", hint=f"did you mean {near[0]}?" if near else None
        )
    place = {number: position for position, number in enumerate(order, 1)}
    return [_one(number, chunks, relations, place, brought, top) for number in found]


def _one(
    number: int,
    chunks: Sequence[Chunk],
    relations: Relations,
    place: Mapping[int, int],
    brought: Mapping[tuple[str, str], tuple[str, ...]],
    top: Mapping[tuple[str, str], str],
) -> dict[str, Any]:
    chunk = chunks[number]
    chain = brought.get((chunk.env, chunk.sls), ())
    first = chain[-1] if chain else chunk.sls
    arguments = {
        key: {"value": value, "place": str(chunk.arg_places[key].source) if key in chunk.arg_places else None}
        for key, value in chunk.args.items()
    }
    needs = [
        {"kind": str(edge.kind), "state": _label(chunks[edge.target]), "place": str(edge.place.source)}
        for edge in relations.of(number)
    ]
    needed = [
        {"kind": str(edge.kind), "state": _label(chunks[edge.holder]), "place": str(edge.place.source)}
        for edge in relations.edges
        if edge.target == number
    ]
    automatic = [
        {"kind": kind, "after": _label(chunks[before]), "before": _label(chunks[after])}
        for before, after, kind in relations.automatic
        if number in (before, after)
    ]
    return {
        "state": _label(chunk),
        "name": chunk.name,
        "function": chunk.function,
        "declared": str(chunk.place.source),
        "sls": chunk.sls,
        "included_by": list(chain),
        "top": top.get((chunk.env, first)),
        "position": place[number],
        "of": len(place),
        "order": chunk.order,
        "arguments": arguments,
        "waits_for": needs,
        "waited_for_by": needed,
        "automatic": automatic,
    }


def _label(chunk: Chunk) -> str:
    return f"{chunk.state}: {chunk.id}"


def as_text(found: Sequence[Mapping[str, Any]]) -> str:
    """The same for people."""
    return "\n".join(_text(each) for each in found)


def _text(each: Mapping[str, Any]) -> str:
    lines = [f"{each['function']}  {each['state'].partition(': ')[2]}", f"  declared at {each['declared']}"]
    lines += [f"  SLS {each['sls']}" + "".join(f", included by {sls}" for sls in each["included_by"])]
    if each["top"]:
        lines.append(f"  in this run because of {each['top']}")
    lines.append(f"  runs as number {each['position']} of {each['of']} (order {each['order']:g})")
    for key, said in each["arguments"].items():
        lines.append(f"  {key}: {said['value']!r}" + (f"   at {said['place']}" if said["place"] else ""))
    for title, key in (("waits for", "waits_for"), ("waited for by", "waited_for_by")):
        lines += [f"  {title} {item['state']} ({item['kind']}, {item['place']})" for item in each[key]]
    lines += [f"  {item['before']} comes after {item['after']} ({item['kind']})" for item in each["automatic"]]
    last = each.get("last_run")
    if last:
        word = (
            "did not run"
            if not last["ran"]
            else {True: "succeeded", False: "failed", None: "was undecided"}[last["result"]]
        )
        lines.append(f"  in run {last['run']['id']} ({last['run']['started']}) it {word}: {last['comment']}")
        if last["cause"]:
            lines.append(f"  because of {last['cause'].replace('_|-', ' ')}")
    return "\n".join(lines) + "\n"
