# SPDX-License-Identifier: Apache-2.0
"""Why a state is in the run, where each of its arguments comes from, and why it stands where it
does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from runner.model.chunk import Chunk, Edge, EdgeGroup, Relations
from runner.model.diagnostics import did_you_mean
from runner.model.errors import RunnerError
from runner.model.highdata import HighData
from runner.model.places import Place, item_place
from runner.model.records import Record
from runner.model.requisite_kinds import REQUISITE_KEYS


class ExplainedRun(Record):
    """The values that an explanation is taken from. top: the targets of the top file by the places
    of their SLS names.
    """

    chunks: Sequence[Chunk]
    relations: Relations
    order: Sequence[int]
    high: HighData
    top: Mapping[str, str]

    @property
    def position(self) -> dict[int, int]:
        return {number: position for position, number in enumerate(self.order, 1)}


def explained(wanted: str, run: ExplainedRun) -> list[dict[str, Any]]:
    """Explain each state with an ID or name (or `state: name`). Raises RunnerError when
    there is none.
    """
    state, colon, rest = wanted.partition(":")
    kind = state.partition(".")[0] if colon and state.replace(".", "").isidentifier() else None
    chunks = run.chunks
    positions = [number for number, chunk in enumerate(chunks) if wanted in (chunk.id, chunk.name)]
    if not positions and kind:
        name = rest.strip()
        positions = [
            n
            for n, chunk in enumerate(chunks)
            if name in (chunk.id, chunk.name) and kind == chunk.state
        ]
    if not positions:
        raise _unknown(wanted, chunks)
    return [_one(number, run) for number in positions]


def _unknown(wanted: str, chunks: Sequence[Chunk]) -> RunnerError:
    names = {
        name for chunk in chunks for name in (chunk.id, chunk.name, f"{chunk.state}: {chunk.id}")
    }
    hint = did_you_mean(wanted, names) or (
        "`runner why ID NAME` asks of an SLS file that the top file does not assign"
    )
    return RunnerError(f"no state of this run has the ID or name {wanted}", hint=hint)


def _one(number: int, run: ExplainedRun) -> dict[str, Any]:
    chunk = run.chunks[number]
    position = run.position
    # a watch that stands where its holder does was not typed: it is told as automatic
    touching = [*_touching(number, run.relations)]
    typed = [edge for group, edge in touching if group.place != run.chunks[group.holder].place]
    return {
        "state": label(chunk),
        "id": chunk.id,
        "name": chunk.name,
        "function": chunk.function,
        "tag": chunk.tag,
        "declared": str(chunk.place),
        "sls": chunk.sls,
        **_brought(chunk, run),
        "position": position[number],
        "of": len(position),
        "order": chunk.order,
        "order_place": None if _by_definition(chunk) else _place(chunk, "order"),
        "moved": _moved(number, run, position, [edge for _, edge in touching]),
        "arguments": dict(_arguments(chunk)),
        "waits_for": _sorted(
            _waits(edge, run, position) for edge in typed if edge.holder == number
        ),
        "waited_for_by": _sorted(
            _waiting(edge, run, position) for edge in typed if edge.target == number
        ),
        "automatic": [
            {"kind": kind, "after": label(run.chunks[then]), "before": label(run.chunks[first])}
            for first, then, kind in run.relations.automatic
            if number in (first, then)
        ],
    }


def _touching(number: int, relations: Relations) -> Iterator[tuple[EdgeGroup, Edge]]:
    """The requisites that a state is an end of."""
    is_among: dict[int, bool] = {}  # by targets
    for group in relations.edges.groups:
        if group.holder == number:
            yield from ((group, edge) for edge in group.edges())
            continue
        if id(group.targets) not in is_among:
            is_among[id(group.targets)] = number in group.targets
        if is_among[id(group.targets)]:
            yield group, group.on(number)


def label(chunk: Chunk) -> str:
    return f"{chunk.state}: {chunk.id}"


# ---------------------------------------------------------------- what brought it


def _brought(chunk: Chunk, run: ExplainedRun) -> dict[str, Any]:
    """The includes from a state's SLS up to the requested one, and the line of the top file."""
    chain = run.high.scopes.get((chunk.env, chunk.sls), ())
    steps = []
    for sls, by in zip((chunk.sls, *chain), chain, strict=False):
        steps.append(
            {"sls": sls, "by": by, "place": _told(run.high.brought_at.get((chunk.env, sls)))}
        )
    first = chain[-1] if chain else chunk.sls
    place = run.high.brought_at.get((chunk.env, first))
    at = str(place) if place else ""  # without a line where master_tops names it
    top = f"{run.top[at]} at {at}" if at in run.top else None
    return {"included_by": list(chain), "includes": steps, "top": top, "first": first}


def _told(place: Place | None) -> str | None:
    return str(place) if place and place.line else None


# ---------------------------------------------------------------- arguments


def _arguments(chunk: Chunk) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each argument with its place and, where the state does not say it itself, what gave it."""
    typed = (
        chunk.name != chunk.id or chunk.arg_places.get("name", chunk.place).line > chunk.place.line
    )
    yield (
        "name",
        {
            "value": chunk.name,
            "place": _place(chunk, "name"),
            "from": _from(chunk, "name") if typed else "the ID",
        },
    )
    for key, value in chunk.args.items():
        yield key, {"value": value, "place": _place(chunk, key), "from": _from(chunk, key)}


def _place(chunk: Chunk, key: str) -> str | None:
    return _told(chunk.arg_places.get(key))


def _from(chunk: Chunk, key: str) -> str | None:
    return chunk.origins.get(key)


# ---------------------------------------------------------------- its position


def _by_definition(chunk: Chunk) -> bool:
    return chunk.origins.get("order") == "definition" or "order" not in chunk.arg_places


def _moved(
    number: int, run: ExplainedRun, position: Mapping[int, int], touching: Iterable[Edge]
) -> list[dict[str, str]]:
    """Return what moved it away from where its order number puts it: what it waits for later, what
    waits for it earlier.

    The numbers of the chunks are their places by order number.
    """
    explicit = ((*edge.sequence, str(edge.kind)) for edge in touching if edge.sequence)
    moves = []
    for first, then, kind in chain(explicit, run.relations.automatic):
        if then == number and first > number:
            moves.append({"direction": "later", "state": label(run.chunks[first]), "kind": kind})
        if first == number and then < number and position[first] < position[then]:
            moves.append({"direction": "earlier", "state": label(run.chunks[then]), "kind": kind})
    return moves


def _waits(edge: Edge, run: ExplainedRun, position: Mapping[int, int]) -> dict[str, Any]:
    return _edge(edge, run) | {
        "state": label(run.chunks[edge.target]),
        "position": position[edge.target],
    }


def _waiting(edge: Edge, run: ExplainedRun, position: Mapping[int, int]) -> dict[str, Any]:
    return _edge(edge, run) | {
        "state": label(run.chunks[edge.holder]),
        "position": position[edge.holder],
    }


def _edge(edge: Edge, run: ExplainedRun) -> dict[str, Any]:
    return {"kind": str(edge.kind), "place": str(edge.place), "written": _written(edge, run)}


def _written(edge: Edge, run: ExplainedRun) -> str | None:
    """The form of a requisite that is not written at its holder: `require_in of file: x`."""
    target = run.chunks[edge.target]
    for key in (name for name in target.low if name in REQUISITE_KEYS and name.endswith("_in")):
        listed = target.low[key]
        at = target.arg_places.get(key, target.place)
        if isinstance(listed, list) and any(
            item_place(listed, n, at) == edge.place for n in range(len(listed))
        ):
            return f"{key} of {label(target)}"
    if any(chain.place == edge.place for chain in run.high.chains):
        return "a chain"
    return None


def _sorted(explanations: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(explanations, key=lambda explanation: explanation["position"])
