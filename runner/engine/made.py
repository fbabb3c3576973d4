# SPDX-License-Identifier: Apache-2.0
"""What a state is about to make: asked right before its change, and only then."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from runner.api import StateFailed, running
from runner.engine.context import Current, Run
from runner.engine.loader import opposites
from runner.engine.step import Call
from runner.language.arguments.bind import bind
from runner.language.compiler.auto_requisites import TAKING
from runner.model.chunk import Chunk
from runner.model.made import Thing
from runner.model.places import Place, Untyped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# what more names of functions end with that take something away, and make nothing
_TAKES = frozenset(
    """
    absent delete deleted remove removed autoremove autoremoved flush unset uninstalled cleaned
    closed stopped down reset
    """.split()
)
_MAKES = frozenset(("unit", "uncomment"))  # what begins with un- and does not


def takes_away(fun: str) -> bool:
    """Return whether a state function only takes something away."""
    if fun in TAKING or fun.rpartition("_")[2] in _TAKES:
        return True
    return fun[:2] == "un" and fun not in _MAKES


def about_to_make(run: Run, call: Call, chunk: Chunk) -> tuple[Thing, ...]:
    """The things that a planned change makes or removes, and whether each is there already: the
    state that would remove it would have something to do.

    A state that makes nothing that could be removed gives one thing without a function.
    """
    try:
        made: tuple[Thing, ...] = ()
        if call.function.hook("OPPOSITE"):
            made = tuple(
                thing if thing.removed else thing._replace(existed=_existed(run, chunk, thing))
                for thing in opposites.things(run.registry, call.function, chunk)
            )
    except Exception:  # of a hook: what it makes is not known, which must not cost its change
        return ()
    if made or call.function.non_idempotent or takes_away(chunk.fun):
        return made
    return (Thing(f"{chunk.state} {chunk.name}"),)


def _existed(run: Run, chunk: Chunk, thing: Thing) -> bool:
    """True also where that cannot be known: what may have been there before is not removed."""
    try:
        return exists(run, thing.function, thing.arguments, chunk)
    except StateFailed:
        return True


def exists(
    run: Run, function: str, arguments: Mapping[str, Any], chunk: Chunk | None = None
) -> bool:
    """Return whether a state that removes something has anything to do. Raises StateFailed where it
    cannot look, and CompileError for its arguments.
    """
    removing = run.registry.state(function).function
    place = chunk.place if chunk else Place(Untyped("orphans"))
    bound = bind(removing, arguments, places={}, default_place=place, where=function)
    with running(Current(run, chunk, dry=False)):  # what it warns of is none of the state's
        try:
            outcome = removing(**bound.arguments)
            if isinstance(outcome, Generator):
                next(outcome)
                outcome.close()
                return True
        except StopIteration:
            pass
        except StateFailed as failure:
            if not failure.missing:  # what it would be in, a user say, is not there either
                raise
    return False
