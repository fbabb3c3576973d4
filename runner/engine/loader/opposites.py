# SPDX-License-Identifier: Apache-2.0
"""The things that a state makes or removes, as the `OPPOSITE` of its module says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from runner.api.opposite import Opposite, Removal
from runner.engine.loader.registry import Registry, StateFunction
from runner.language.arguments.bind import known
from runner.language.arguments.schema import MISSING, schema_of
from runner.model.chunk import Chunk
from runner.model.made import Thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def things(registry: Registry, function: StateFunction, chunk: Chunk) -> Iterator[Thing]:
    """The things that a state makes, or removes."""
    opposites: Mapping[str, str | Opposite] = function.hook("OPPOSITE") or {}
    if chunk.fun in opposites:
        yield from _made(registry, function, chunk, _opposite(opposites[chunk.fun]))
        return
    for opposite in map(_opposite, opposites.values()):
        for removal in _removals(function, opposite, chunk):
            if (removal.function or opposite.function) == chunk.fun:
                yield Thing(_name(chunk, removal), existed=True, removed=True)


def names(function: StateFunction, chunk: Chunk) -> Iterator[str]:
    """The names of the things that a state declares."""
    opposites: Mapping[str, str | Opposite] = function.hook("OPPOSITE") or {}
    if chunk.fun in opposites:
        for removal in _removals(function, _opposite(opposites[chunk.fun]), chunk):
            yield _name(chunk, removal)


def told_apart_by(function: StateFunction, chunk: Chunk) -> tuple[str, ...]:
    """The arguments that tell what a state makes from others of the same name."""
    opposites: Mapping[str, str | Opposite] = function.hook("OPPOSITE") or {}
    return _opposite(opposites[chunk.fun]).by if chunk.fun in opposites else ()


def has_parts(function: StateFunction) -> bool:
    """Return whether what a state makes is more, or other, than what its name says."""
    opposites: Mapping[str, str | Opposite] = function.hook("OPPOSITE") or {}
    if "name" in (function.hook("MEANS") or ()):
        return True
    return isinstance(opposites.get(function.name.partition(".")[2]), Opposite)


def meaning(function: StateFunction, argument: str, value: Any) -> Any:
    """What a value of an argument means, however it is written, as the `MEANS` of the function's
    module says it.
    """
    means = (function.hook("MEANS") or {}).get(argument)
    try:
        return means(value) if means else value
    except Exception:  # of a hook: the value is none that it knows
        return value


def told(function: StateFunction, chunk: Chunk, arguments: Iterable[str]) -> list[str]:
    """What arguments say that tell things of one name apart; nothing of those that say what their
    defaults do.
    """
    return list(filter(None, (_ways(function, chunk, argument)[0] for argument in arguments)))


def _ways(function: StateFunction, chunk: Chunk, argument: str) -> tuple[str, ...]:
    """How an argument stands in the name of a thing; then how it may in names of older versions,
    which went by what is written.
    """
    if argument == "name":
        return str(meaning(function, "name", chunk.name)), chunk.name
    parameter = schema_of(function.function).parameters.get(argument)
    default = parameter.default if parameter and parameter.default is not MISSING else None
    given = chunk.args.get(argument)
    meant, usual = (
        _text(meaning(function, argument, value))
        for value in (default if given is None else given, default)
    )
    older = f"{argument} {given}" if given else ""
    if meant != usual:
        return f"{argument} {meant}", older
    return "", older, f"{argument} {usual}" if usual else ""


def _text(value: Any) -> str:
    return "" if value is None or value is False else str(value)


def _made(
    registry: Registry, function: StateFunction, chunk: Chunk, opposite: Opposite
) -> Iterator[Thing]:
    own = {key: chunk.args[key] for key in known(function.function) if key in chunk.args}
    for removal in _removals(function, opposite, chunk):
        if not removal.made:
            continue
        name = f"{chunk.state}.{removal.function or opposite.function}"
        shared = known(registry.state(name).function) if opposite.things is None else frozenset()
        arguments = {key: value for key, value in own.items() if key in shared}
        check = own if removal.check is None else removal.check
        yield Thing(
            _name(chunk, removal),
            name,
            {"name": removal.name, **arguments, **removal.arguments},
            {"name": removal.name, **check},
        )


def _opposite(declared: str | Opposite) -> Opposite:
    return Opposite(declared) if isinstance(declared, str) else declared


def _removals(function: StateFunction, opposite: Opposite, chunk: Chunk) -> Iterator[Removal]:
    if opposite.things is not None:
        yield from opposite.things(**{**chunk.args, "name": chunk.name})
        return
    ways = product(*(_ways(function, chunk, argument) for argument in ("name", *opposite.by)))
    thing, *older = dict.fromkeys(", ".join(filter(None, way)) for way in ways)
    yield Removal(chunk.name, thing=thing)
    for name in older:
        yield Removal(chunk.name, thing=name, made=False)


def _name(chunk: Chunk, removal: Removal) -> str:
    return f"{chunk.state} {removal.thing or removal.name}"
