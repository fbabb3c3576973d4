# SPDX-License-Identifier: Apache-2.0
"""What removes the things that states make: a state module says it in `OPPOSITE`."""

from __future__ import annotations

from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any


class Removal(Record):
    """One thing that a state makes, and what removes it.

    name: the name for both states, the one that makes it and the one that removes it.
    arguments: further arguments of the one that removes it.
    check: further arguments of the one that makes it, for this thing alone; None: all that it has.
    thing: what tells it from other things of the module; by default its name.
    function: the function that removes it, where it is not the Opposite's.
    made: False for a thing that the state does not make, but has so much to do with that it is no
    orphan as long as the state is there.
    """

    name: str
    arguments: Mapping[str, Any] = {}
    check: Mapping[str, Any] | None = None
    thing: str = ""
    function: str = ""
    made: bool = True


class Opposite(Record):
    """The function of the same module that removes what a state function makes.

    by: the arguments that tell what it makes from others of the same name. things: called with the
    arguments as the SLS has them, gives what the state makes, where that is not just its name.

    The removal gets all arguments that both functions have, unless `things` says which.

    >>> def packages(name, pkgs=None, **_):
    ...     yield from (Removal(package, check={}) for package in pkgs or [name])
    >>> OPPOSITE = {"installed": Opposite("removed", things=packages), "held": "unheld"}
    >>> OPPOSITE |= {"linked": Opposite("unlinked", by=("user",))}
    """

    function: str
    by: tuple[str, ...] = ()
    things: Callable[..., Iterable[Removal]] | None = None
