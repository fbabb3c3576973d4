# SPDX-License-Identifier: Apache-2.0
"""The things that a state makes or removes, as the `OPPOSITE` of its module says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runner.api.opposite import Opposite, Removal
from runner.engine.loader.registry import Registry, StateFunction
from runner.language.arguments.bind import known
from runner.model.chunk import Chunk
from runner.model.made import Thing


def things(registry: Registry, function: StateFunction, chunk: Chunk) -> Iterator[Thing]:
    """The things that a state makes, or removes."""
    opposites: Mapping[str, str | Opposite] = function.hook("OPPOSITE") or {}
    if chunk.fun in opposites:
        yield from _made(registry, function, chunk, _opposite(opposites[chunk.fun]))
        return
    for opposite in map(_opposite, opposites.values()):
        for removal in _removals(opposite, chunk):
            if (removal.function or opposite.function) == chunk.fun:
                yield Thing(_name(chunk, removal), existed=True, removed=True)


def names(function: StateFunction, chunk: Chunk) -> Iterator[str]:
    """The names of the things that a state declares."""
    opposites: Mapping[str, str | Opposite] = function.hook("OPPOSITE") or {}
    if chunk.fun in opposites:
        for removal in _removals(_opposite(opposites[chunk.fun]), chunk):
            yield _name(chunk, removal)


def told_apart_by(function: StateFunction, chunk: Chunk) -> tuple[str, ...]:
    """The arguments that tell what a state makes from others of the same name."""
    opposites: Mapping[str, str | Opposite] = function.hook("OPPOSITE") or {}
    return _opposite(opposites[chunk.fun]).by if chunk.fun in opposites else ()


def has_parts(function: StateFunction) -> bool:
    """Return whether what a state makes is more, or other, than what its name says."""
    opposites: Mapping[str, str | Opposite] = function.hook("OPPOSITE") or {}
    return isinstance(opposites.get(function.name.partition(".")[2]), Opposite)


def _made(
    registry: Registry, function: StateFunction, chunk: Chunk, opposite: Opposite
) -> Iterator[Thing]:
    own = {key: chunk.args[key] for key in known(function.function) if key in chunk.args}
    for removal in _removals(opposite, chunk):
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


def _removals(opposite: Opposite, chunk: Chunk) -> Iterator[Removal]:
    if opposite.things is None:
        told = [f"{key} {chunk.args[key]}" for key in opposite.by if chunk.args.get(key)]
        yield Removal(chunk.name, thing=", ".join([chunk.name, *told]))
    else:
        yield from opposite.things(**{**chunk.args, "name": chunk.name})


def _name(chunk: Chunk, removal: Removal) -> str:
    return f"{chunk.state} {removal.thing or removal.name}"
