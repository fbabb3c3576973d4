# SPDX-License-Identifier: Apache-2.0
"""What is shown without secrets: values, results, events, errors. `Secrets` asks for it where there
is something to hide.
"""

from __future__ import annotations

from collections.abc import Mapping

from runner.model import former_state, made
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError
from runner.model.events import (
    OF_RESULTS,
    ChangerCalled,
    CustomEvent,
    CycleFound,
    Event,
    StatePlanned,
    Warned,
)
from runner.model.nested import mapped
from runner.model.places import Value
from runner.model.result import Result
from runner.model.stdlib import Lock, pattern
from runner.support.redaction import forms, old_values
from runner.support.redaction import names as secret_names
from runner.support.redaction.keys import HIDDEN, WORDS, is_beside, without_logins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from runner.model.made import Thing
    from runner.support.redaction import Secrets
    from runner.support.redaction.former_secrets import Former

VERSION = pattern(r"\d[\w+~:-]*[.:-][\w.+~:-]*")  # of a package
PAIRS = (("old", "new"), ("before", "after"))  # what changes call the two sides


class Masking:
    """Hides the secrets of a run. shown: how names are shown."""

    def __init__(
        self,
        secrets: Secrets,
        values: set[str],
        wanted: list[str],
        matches: Callable[[object], bool],
        former: Callable[[], Former | None],
    ) -> None:
        """values: all secrets; wanted: those that are to be found from now on. matches: whether a
        key means a secret. former: the secrets of former runs, if they are recalled.
        """
        self.shown: dict[str, str] = {}
        self._secrets, self._values, self._wanted = secrets, values, wanted
        self._matches, self._former = matches, former
        self._finder: forms.Finder | None = None  # of those it knows, once there are any
        self._adding = Lock()
        # the names of states with no_log and their numbers, by ID and function
        self._silent: dict[tuple[str, str], dict[str, int]] = {}

    def masked(self, value: Value, secret: bool = False, former: bool = False) -> Value:
        """secret: it stands under a key that means one. former: secrets of former runs are hidden,
        too.
        """
        if isinstance(value, str):
            if secret and value.strip() in self._values:
                return HIDDEN
            return self._text(value, former=former)
        if isinstance(value, Mapping):
            return self._mapping(value, secret, former)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return HIDDEN if str(value) in self._values else value
        if isinstance(value, list | tuple):
            return [self.masked(item, secret, former) for item in value]
        if isinstance(value, set | frozenset):
            shown = [self.masked(item, secret, former) for item in value]
            return value if value.issuperset(shown) else sorted(shown, key=str)
        if value is None or isinstance(value, bool):
            return value
        return self._object(value)

    def _mapping(self, value: Mapping[Value, Value], secret: bool, former: bool) -> Value:
        for old, new in PAIRS:
            if value.keys() == {old, new}:
                after = self.masked(value[new], secret, former)
                before = self._mask_old(value[old], value[new], secret, former)
                return {key: before if key == old else after for key in value}
        return {
            name: self.masked(item, under, former)
            for _, name, item, under in self._entries(value, secret, former)
        }

    def _entries(
        self, value: Mapping[Value, Value], secret: bool, former: bool
    ) -> Iterator[tuple[Value, Value, Value, bool]]:
        """The keys of a mapping, how they are shown, their values, whether these are secret."""
        for key, item in value.items():
            # a key tells what is secret
            name = key if key in WORDS else self.masked(key, former=former)
            yield key, name, item, self._matches(key) or (secret and not is_beside(key))

    def _mask_old(self, old: Value, new: Value, secret: bool, former: bool) -> Value:
        """The old value without the places where the new one has secrets."""
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return {
                name: self._mask_old(item, new.get(key), under, former)
                for key, name, item, under in self._entries(old, secret, former)
            }
        if isinstance(old, list | tuple) and isinstance(new, list | tuple):
            hides = any(self.masked(item, secret) != item for item in new)
            return [
                _blank(item) if hides and item not in new else self.masked(item, secret, former)
                for item in old
            ]
        if secret and not (isinstance(old, str) and VERSION.fullmatch(old)):
            return _blank(old)
        if isinstance(old, str) and isinstance(new, str):
            spans = self._spans(new)
            return self._text(old, [*old_values.between(old, new, spans)] if spans else (), former)
        return self.masked(old, secret, former) if self.masked(new, secret) == new else _blank(old)

    def _object(self, value: Value) -> Value:
        """Bytes, and what has a text of its own: as they are when they hide nothing."""
        try:
            text = (
                value.decode("utf-8", "surrogateescape")
                if isinstance(value, bytes | bytearray)
                else str(value)
            )
        except Exception:
            return value
        shown = self._text(text)
        return value if shown == text else shown

    def _text(self, text: str, more: Sequence[tuple[int, int]] = (), former: bool = False) -> str:
        """A text without secrets. more: what else is hidden in it."""
        spans = self._spans(text)
        if former and (known := self._former()) is not None:
            more = [*more, *known.spans(text, self._secrets.names.has)]
        if spans and "\n" in text and "-" in text and "+" in text:
            more = [*more, *old_values.in_diff(text, spans)]
        spans = _united([*spans, *more]) if more else spans
        if not spans:
            return text
        parts, at = [], 0
        for start, end in spans:
            parts += [text[at:start], HIDDEN]
            at = end
        return "".join([*parts, text[at:]])

    def name(self, text: str) -> str:
        """The name of a state, without secrets."""
        if not self._secrets:
            return text
        if text not in self.shown:
            self.shown[text] = self._text(text)
        return self.shown[text]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """The spans to hide in a text, in order."""
        spans = self.secret_spans(text)
        return _united(
            (start, end) for start, end, value in spans if self._is_hidden(text, start, end, value)
        )

    def secret_spans(self, text: str, plain: bool = False) -> list[tuple[int, int, str]]:
        if self._wanted:
            with self._adding:  # they are wanted until they can be found: others wait for that
                if wanted := self._wanted[:]:
                    self._finder = self._finder or forms.Finder()
                    self._finder.add(wanted)
                    del self._wanted[: len(wanted)]
        return self._finder.spans(text, plain) if self._finder else []

    def _is_hidden(self, text: str, start: int, end: int, value: str) -> bool:
        """Return whether a secret is hidden at a place: one that is a name as well only where a key
        says what it is.
        """
        if not self._secrets.names.has(value) or text[start:end] != value:
            return True
        return secret_names.is_assigned(text, start, end, self._matches)

    # -------------------------------------------------- what is shown

    def result(self, result: Result) -> Result:
        """A result without secrets; with `no_log` nothing but the keys of its changes is left."""
        if result.chunk.args.get("no_log"):
            extra = {key: value for key, value in result.extra.items() if isinstance(value, bool)}
            changes, key = (
                dict.fromkeys(result.changes, HIDDEN),
                self.tag(result) if result.key else "",
            )
            chunk = self.chunk(result.chunk)
            return result._replace(
                chunk=chunk,
                key=key,
                comment=HIDDEN,
                changes=changes,
                warnings=(),
                extra=extra,
                reaction="",
                before={},
                things=tuple(_silenced(thing, chunk) for thing in result.things),
            )
        result = result._replace(chunk=self.chunk(result.chunk), key=self.name(result.key))
        # what is in order says nothing of former secrets
        former = bool(result.changes) or result.result is not True
        return result._replace(
            comment=self.masked(result.comment, former=former),
            reaction=self.masked(result.reaction, former=former),
            changes=self.masked(result.changes, former=former),
            before=self.masked(result.before, former=former),
            warnings=tuple(self.masked(warning, former=former) for warning in result.warnings),
            extra=self.masked(result.extra, former=former),
            things=tuple(map(self._thing, result.things)),
        )

    def _thing(self, thing: Thing) -> Thing:
        return thing._replace(
            name=self.name(thing.name),
            arguments=self._secrets.mask(thing.arguments),
            check=self._secrets.mask(thing.check),
        )

    def tag(self, result: Result) -> str:
        """The key of a result, without secrets."""
        name = self.chunk(result.chunk).name
        shown = self.name(result.tag)
        return (
            shown
            if name == result.chunk.name
            else shown.replace(f"_|-{result.chunk.name}_|-", f"_|-{name}_|-")
        )

    def chunk(self, chunk: Chunk) -> Chunk:
        """A chunk whose ID and name show no secrets; its arguments are shown nowhere."""
        silent = bool(chunk.args.get("no_log"))
        if not self._secrets and not silent:
            return chunk
        id_, name = self.name(chunk.id), self.name(chunk.name)
        if silent and chunk.name != chunk.id:
            numbers = self._silent.setdefault((chunk.id, chunk.function), {})
            number = numbers.setdefault(chunk.name, len(numbers))
            name = f"{HIDDEN} {number or ''}".rstrip()
        return chunk if (id_, name) == (chunk.id, chunk.name) else chunk._replace(id=id_, name=name)

    def event(self, event: Event) -> Event:
        """An event without secrets."""
        if isinstance(event, OF_RESULTS):
            return event  # results are without
        if isinstance(event, CustomEvent):
            return (
                event._replace(tag=self.name(event.tag), data=self._secrets.mask(event.data))
                if self._secrets
                else event
            )
        if isinstance(event, Warned):
            return event._replace(problems=tuple(map(self.diagnostic, event.problems)))
        if isinstance(event, CycleFound):
            return event._replace(picture=self._secrets.mask(event.picture))
        chunk = event.chunk
        silent = self._secrets.is_silent or bool(chunk and chunk.args.get("no_log"))
        if chunk is not None and (silent or self._secrets):
            event = event._replace(chunk=self.chunk(chunk))
        if isinstance(event, ChangerCalled):
            return self._changer(event, silent)
        if isinstance(event, StatePlanned):
            changes = (
                dict.fromkeys(event.changes, HIDDEN)
                if silent
                else self._shown_changes(event.changes)
            )
            return event._replace(
                changes=changes, comment=HIDDEN if silent else self._secrets.mask(event.comment)
            )
        return event

    def _changer(self, event: ChangerCalled, silent: bool) -> ChangerCalled:
        target, facts = event.target, event.before
        if silent:
            shown: Value = HIDDEN
        else:
            shown = _without_private(facts)
            shown = self.masked(shown, former=True) if self._secrets else shown
            if (
                isinstance(facts, Mapping) and "target" in facts and self._secrets
            ):  # where a link pointed to
                shown["target"] = self._mask_old(facts["target"], target, secret=False, former=True)
        return event._replace(
            target=HIDDEN if silent else self.name(target), before=shown, for_undo=facts
        )

    def _shown_changes(self, changes: Mapping[str, Value]) -> Mapping[str, Value]:
        shown: Mapping[str, Value] = self.masked(changes, former=True) if self._secrets else changes
        return shown

    def error(self, error: RunnerError) -> RunnerError:
        """An error without secrets."""
        shown = [self.diagnostic(problem) for problem in error.diagnostics]
        if shown == [*error.diagnostics]:
            return error
        redacted = CompileError(shown)
        if isinstance(error, CompileError):
            return redacted
        return RunnerError(redacted.message, redacted.source, redacted.hint, error.code)

    def diagnostic(self, problem: Diagnostic) -> Diagnostic:
        """A diagnostic without secrets."""
        source = problem.source
        if source is not None and (source.rendered or source.values):
            values = tuple((name, self._told(value)) for name, value in source.values)
            source = source._replace(rendered=self._told(source.rendered), values=values)
        return problem._replace(
            message=self._told(problem.message), hint=self._told(problem.hint), source=source
        )

    def _told(self, value: Value) -> Value:
        """A value without secrets and without the passwords in URLs, which nobody may know yet."""

        def shown(item: Value) -> Value:
            return without_logins(item) if isinstance(item, str) else item

        return mapped(self._secrets.mask(value), shown)


def _without_private(facts: object) -> Value:
    """The former state of what a changer alters, as it may be shown."""
    if isinstance(facts, former_state.FormerState):
        return facts.shown()
    if isinstance(facts, Mapping) and "several" in facts:
        return {**facts, "several": [_without_private(part) for part in facts["several"]]}
    return facts


def _silenced(thing: Thing, chunk: Chunk) -> Thing:
    """A thing of a state with `no_log`: its name alone, if that tells nothing but the ID."""
    if chunk.name == chunk.id and thing.arguments.keys() <= {"name"}:
        return thing._replace(check={})
    return made.Thing(f"{chunk.state} {chunk.name}")


def _blank(value: Value) -> Value:
    """A value that shows only its shape."""

    def hidden(item: Value) -> Value:
        return item if item is None or isinstance(item, bool) or item == "" else HIDDEN

    blank: Value = mapped(value, hidden)
    return blank


def _united(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that overlap as one."""
    united: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if united and start < united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        elif start < end:
            united.append((start, end))
    return united
