# SPDX-License-Identifier: Apache-2.0
"""Kinds of things on the machine: what results say of each, from which its states follow; and
properties, which are compared with what is wanted and corrected, one after another.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from runner.api import Done, Open, Plan, Planned, StateFailed
from runner.model.paths import folders_above
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, Final, Literal


def shown(value: Any) -> str:
    """A value as people read it."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


class Property(Record):
    """One property of a thing on the machine.

    name: the key of its change.
    wanted: the value from the SLS; None: it is not managed.
    get: returns the current value; None (the default): what was read of the thing has it by name.
    set: changes it to the value that it receives; for a kind that does not `alter` them together.
    matching: for a list, "any" (the default): one of its values will do, and else the first is set;
    "all": the whole list is the value.
    is_to_s, should_to_s: the text of the current and of the wanted value; by default as they are.
    change_to_s: the whole text of a change, from both values; None by default.
    current: the current value, of what `alter` of a kind gets.
    """

    name: str
    wanted: Any
    get: Callable[[], Any] | None = None
    set: Callable[[Any], object] = bool
    matching: Literal["any", "all"] = "any"
    is_to_s: Callable[[Any], Any] = shown
    should_to_s: Callable[[Any], Any] = shown
    change_to_s: Callable[[Any, Any], str] | None = None
    current: Any = None

    @property
    def target(self) -> Any:
        """The value to set."""
        return self.wanted[0] if self._chooses else self.wanted

    @property
    def _chooses(self) -> bool:
        return self.matching == "any" and isinstance(self.wanted, list) and bool(self.wanted)

    @property
    def fits(self) -> bool:
        """Return whether the current value will do."""
        return self.current in self.wanted if self._chooses else bool(self.current == self.wanted)

    @property
    def text(self) -> str:
        """The change as people read it."""
        if self.change_to_s is not None:
            return self.change_to_s(self.current, self.target)
        old, new = self.is_to_s(self.current), self.should_to_s(self.target)
        return f"{self.name} changed from {old} to {new}"


def set_each(properties: Iterable[Property]) -> None:
    """Give properties their values, one after the other."""
    for each in properties:
        each.set(each.target)


# in the changes of a wording: the properties that differ, as they are, and as wanted
CURRENT: Final = object()
WANTED: Final = object()


class Wording(Record):
    """What results say of one step of a kind: texts in which {title} stands for the thing, {Title}
    for it at the beginning of a sentence, {name} and others for what `present` or `absent` got.

    already: there is nothing to do. pending: of a dry run. done: after the step.
    failed: before the reason. Empty (the default): the reason alone.
    changes: of the result, with such texts, too; None (the default): the properties that differ,
    old and new; CURRENT and WANTED in them: only the values that are there, that are wanted.
    provides: the facts of the Plan, their names such texts, or several; OPEN for anything.
    """

    already: str
    pending: str
    done: str
    failed: str = ""
    changes: Mapping[str, Any] | None = None
    provides: Mapping[str, str | tuple[str, ...]] | Open = {}


class Kind(Record):
    """A kind of thing on the machine, as results speak of it; from it follow the states that make
    sure that there is one, with its properties, or that there is none.

    title: what one is called; by default {name}.
    created, changed, removed: what results say of these steps.
    reason: the reason of a failure, after what failed.

    >>> ENTRY = Kind("entry {name}")
    >>> def present(name: str, owner: str | None = None) -> Planned:
    ...     owned = Property("owner", owner, set=lambda new: chown(name, new))
    ...     return ENTRY.present(found(name), lambda: make(name, owner), [owned], name=name)
    >>> def absent(name: str) -> Planned:
    ...     return ENTRY.absent(found(name), lambda: remove(name), name=name)
    """

    title: str = "{name}"
    created: Wording = Wording(
        "{title} is in the correct state",
        "{title} is set to be created",
        "{title} was created",
        changes={"{name}": {"old": "absent", "new": "present"}},
    )
    changed: Wording = Wording("", "{differences}", "{differences}")
    removed: Wording = Wording(
        "{title} is absent already",
        "{title} is set to be removed",
        "{title} was removed",
        changes={"{name}": {"old": "present", "new": "absent"}},
    )
    reason: str = ": {reason}"

    def present(
        self,
        now: Any,
        create: Callable[[], object],
        properties: Iterable[Property] = (),
        alter: Callable[[Sequence[Property]], object] = set_each,
        /,
        **fields: object,
    ) -> Planned:
        """The state that makes sure of a thing with its properties.

        now: the thing as it is, or what reads it; None or False where there is none.
        create: makes it, with all its properties: where it is missing, none is looked at.
        properties: compared in their order; none by default.
        alter: gives the properties that differ their values; by default each its own, in order.
        fields: what texts may name.

        A Done that `create` or `alter` returns is the outcome; its comment may be empty: the
        wording's.
        """
        now = self._tried(self.created, now, fields) if callable(now) else now
        if now is None or now is False:
            return (yield from self._take(self.created, create, fields))
        managed = [each for each in properties if each.wanted is not None]
        found = [each.get() if each.get else now[each.name] for each in managed]
        pairs = zip(managed, found, strict=True)
        measured = [each._replace(current=current) for each, current in pairs]
        differences = [each for each in measured if not each.fits]
        if not differences:
            return self._text(self.created.already, fields)
        step = partial(alter, differences)
        return (yield from self._take(self.changed, step, fields, differences))

    def absent(self, now: Any, destroy: Callable[[], object], /, **fields: object) -> Planned:
        """The state that makes sure that there is no such thing. now, fields: as of `present`.

        destroy: removes it; a Done that it returns is the outcome, as of `present`.
        """
        now = self._tried(self.removed, now, fields) if callable(now) else now
        if now is None or now is False:
            return self._text(self.removed.already, fields)
        return (yield from self._take(self.removed, destroy, fields))

    def _take(
        self,
        wording: Wording,
        step: Callable[[], object],
        fields: Mapping[str, object],
        differences: Sequence[Property] = (),
    ) -> Planned:
        """Plan a step, take it, and report it."""
        fields = {**fields, "differences": "; ".join(each.text for each in differences)}
        there = {each.name: each.current for each in differences}
        wanted = {each.name: each.target for each in differences}
        parts = {CURRENT: there, WANTED: wanted}
        changes, facts = wording.changes, wording.provides
        if changes is None:
            changes = {
                each.name: {"old": each.is_to_s(each.current), "new": each.should_to_s(each.target)}
                for each in differences
            }
        else:
            changes = self._filled(changes, fields, parts)
        provides = [
            (fact, self._text(name, fields))
            for fact, names in (facts.items() if isinstance(facts, Mapping) else ())
            for name in ([names] if isinstance(names, str) else names)
        ]
        pending = self._text(wording.pending, fields)
        yield Plan(changes, pending, provides=provides if isinstance(facts, Mapping) else facts)
        outcome = self._tried(wording, step, fields)
        comment = self._text(wording.done, fields)
        if isinstance(outcome, Done):
            return outcome if outcome.comment else outcome._replace(comment=comment)
        return comment

    def _tried(
        self, wording: Wording, step: Callable[[], object], fields: Mapping[str, object]
    ) -> object:
        """What a step answers. Raises StateFailed with what failed before the reason."""
        try:
            return step()
        except StateFailed as failure:
            if not wording.failed:
                raise
            fields = {**fields, "reason": failure.message}
            message = self._text(wording.failed + self.reason, fields)
            raise StateFailed(message, failure.changes, failure.missing) from None

    def _text(self, template: str, fields: Mapping[str, object]) -> str:
        title = self.title.format_map(fields)
        return template.format_map(
            {"title": title, "Title": title[:1].upper() + title[1:], **fields}
        )

    def _filled(self, part: Any, fields: Mapping[str, object], parts: Mapping[Any, Any]) -> Any:
        """A part of the changes of a wording, of this thing."""
        if isinstance(part, Mapping):
            pairs = part.items()
            return {
                self._text(key, fields): self._filled(value, fields, parts) for key, value in pairs
            }
        return self._text(part, fields) if isinstance(part, str) else parts.get(part, part)


def comes_after(
    description: str, *always: tuple[str, str], above: str = "", **named: str
) -> Callable[..., Iterator[tuple[str, str]]]:
    """The `autorequire` of a module whose states come after some states, and after what their
    arguments name.

    description: for the manual. always: pairs (state module, ID or name). above: the argument that
    is a path, after whose folders they come. named: the state module of what an argument names.

    >>> autorequire = comes_after("It comes after its owner.", ("pkg", "sql"), owner="sql_user")
    """

    def autorequire(**arguments: Any) -> Iterator[tuple[str, str]]:
        yield from always
        yield from (("file", folder) for folder in folders_above(arguments.get(above) or ""))
        for argument, state in named.items():
            names = arguments.get(argument) or ()
            for name in names if isinstance(names, list | tuple) else [names]:
                yield state, name

    autorequire.__doc__ = description
    return autorequire
