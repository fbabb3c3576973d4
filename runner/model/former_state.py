# SPDX-License-Identifier: Apache-2.0
"""The state of a part of the machine that is no path: a user, a service, the installed packages."""

from __future__ import annotations

from collections.abc import Mapping

from runner.model.records import Record
from runner.model.stdlib import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class FormerState(Record):
    """The state of a part of the machine before a change, as a changer's `before` records it for
    undo.

    kind: a row of `KINDS` in modules/undo. name: which one of its kind; empty: all of them, and
    `state` maps their names to their states. state: what it takes to restore it, as JSON can write
    it; empty when it was not there. private: only undo ever sees the state.
    """

    kind: str
    name: str
    state: Mapping[str, Any]
    private: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()

    def shown(self) -> dict[str, Any]:
        """This state for the history; of all of a kind only that."""
        named = {"kind": self.kind, "name": self.name}
        return named if self.private or not self.name else {**named, "state": self.state}


_recorded: ContextVar[bool] = ContextVar("recorded", default=False)


class recorded:  # in lower case: used as a function; a generator costs more
    """Gives whether undo can restore what is changed inside: its former state was recorded, by
    itself or by the changer that calls it. was: what it recorded; None: nothing.
    """

    __slots__ = ("_is_recorded", "_outer")

    def __init__(self, was: object) -> None:
        self._is_recorded = was is not None

    def __enter__(self) -> bool:
        is_recorded = self._is_recorded or _recorded.get()
        self._outer = _recorded.set(is_recorded)
        return is_recorded

    def __exit__(self, *problem: object) -> None:
        _recorded.reset(self._outer)


def target_of(
    function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> str:
    """The name of what a call changes: its first argument, however that is given."""
    if args:
        return args[0] if type(args[0]) is str else _name_of(args[0])
    code = getattr(function, "__code__", None)
    first = code.co_varnames[0] if code and code.co_argcount else ""
    return _name_of(kwargs.get(first, ""))


def _name_of(target: object) -> str:
    """A target without contents, which the history is no place for."""
    if isinstance(target, Record):
        names = (getattr(target, field, None) for field in ("name", "path", "host"))
        return next((name for name in names if isinstance(name, str)), type(target).__name__)
    if isinstance(target, Mapping):
        return ", ".join(map(str, target))
    if isinstance(target, list | tuple) and any(isinstance(each, Record) for each in target):
        return ", ".join(map(_name_of, target))
    return str(target)
