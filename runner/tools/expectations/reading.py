# SPDX-License-Identifier: Apache-2.0
"""Expectations are read strictly: every mistake is named with its place, all of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runner.model.diagnostics import Diagnostic, did_you_mean
from runner.model.errors import CompileError, RunnerError, UsageError
from runner.model.places import (
    Place,
    PlacedMap,
    Source,
    Untyped,
    Value,
    item_place,
    key_place,
    value_place,
)
from runner.support.files.text import read_bounded
from runner.support.yaml.load import EventReader, load_with
from runner.tools.expectations.model import Expectation
from runner.tools.expectations.words import KINDS, Check, Each, Kind, Wrong

CODE = "expectation"
EXAMPLE = "write\n    file:\n      /etc/motd:\n        exists: true"


def load(path: str) -> tuple[Expectation, ...]:
    """The expectations of a file. Raises RunnerError for one that cannot be read or has mistakes,
    with all of them.
    """
    try:
        text = read_bounded(path).decode("utf-8")
    except OSError as error:
        raise UsageError(f"the expectations {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the expectations {path} cannot be read: they are not UTF-8") from None
    return of_text(text, path)


def of_text(text: str, file: str) -> tuple[Expectation, ...]:
    """The expectations of a YAML text. Raises RunnerError as `load` does."""
    return of_data(load_with(_Once, text, Untyped(file)), file)


def of_data(data: Value, file: str = "expectations") -> tuple[Expectation, ...]:
    """The expectations that data say. Raises CompileError with all mistakes."""
    problems: list[Diagnostic] = []
    expectations = tuple(_read(data, Place(Untyped(file), 0, 0), problems))
    if not problems and not expectations:
        problems.append(Diagnostic("nothing is expected", Source(file), EXAMPLE, CODE))
    if problems:
        raise CompileError(problems)
    return expectations


class _Once(EventReader):
    """Refuses a key that comes twice: the first one would be lost."""

    def again(self, made: PlacedMap, key: Value, value: Value, at: Any, event: Any) -> Value:
        """Refuse it. Raises RunnerError."""
        place = Source(self._document.file, at.start_mark.line + 1, at.start_mark.column + 1)
        hint = f"the other one is at {made.key_place(key).source}: write both below one"
        raise RunnerError(f"{key!r} comes twice", place, hint, CODE)


def _read(data: Value, place: Place, problems: list[Diagnostic]) -> Iterator[Expectation]:
    if data is not None and not isinstance(data, Mapping):
        message = f"expectations are a mapping of kinds, not {_kind_of(data)}"
        problems.append(_mistake(message, _start(data, place), EXAMPLE))
        return
    for word, things in (data or {}).items():
        kind = KINDS.get(word) if isinstance(word, str) else None
        at = key_place(data, word, place)
        if kind is None:
            near = did_you_mean(str(word), KINDS) or f"there are {', '.join(KINDS)}"
            problems.append(_mistake(f"there are no expectations of a {word!r}", at, near))
        elif not isinstance(things, Mapping):
            message = f"{word} has to be a mapping of names, not {_kind_of(things)}"
            problems.append(_mistake(message, value_place(data, word, at), EXAMPLE))
        else:
            for name in things:
                thing = _NamedThing(word, kind, name, things, key_place(things, name, at))
                yield from thing.expectation(problems)


class _NamedThing:
    """One named thing below a kind, as it is read."""

    def __init__(
        self, word: str, kind: Kind, name: Value, things: Mapping[Any, Value], place: Place
    ) -> None:
        self._word, self._kind, self._name, self._place = word, kind, name, place
        self._body = things[name]
        self._body_place = value_place(things, name, place)

    def expectation(self, problems: list[Diagnostic]) -> Iterator[Expectation]:
        """Yield what is asserted of it; nothing where there is a mistake."""
        before = len(problems)
        asserted: dict[str, Any] = {}
        places = {"": self._place.source}
        name = self._checked(self._kind.name, self._name, self._place, problems, "")
        if self._body is not None and not isinstance(self._body, Mapping):
            message = f"{self._title}: expected a mapping of words, not {_kind_of(self._body)}"
            hint = f"its words are {', '.join(self._kind.words)}"
            problems.append(_mistake(message, self._body_place, hint))
            return
        for key, value in (self._body or {}).items():
            word, at = self._kind.aliases.get(key, key), key_place(self._body, key, self._place)
            check = self._kind.words.get(word) or self._kind.settings.get(word)
            if check is None:
                problems.append(self._unknown(key, at))
            elif word in asserted:
                problems.append(_mistake(f"{self._title}: {word} is said twice", at, None))
            else:
                places[word] = at.source
                where = value_place(self._body, key, at)
                asserted[word] = self._checked(check, value, where, problems, f": {key}")
        if self._kind.implied:
            asserted = {**dict([self._kind.implied]), **asserted}
        problems += self._senseless(asserted, places)
        if len(problems) == before:
            yield Expectation(self._word, name, asserted, places)

    @property
    def _title(self) -> str:
        return f"{self._word} {self._name}"

    def _checked(
        self,
        check: Check | Each,
        value: Value,
        place: Place,
        problems: list[Diagnostic],
        about: str,
    ) -> Any:
        if isinstance(check, Each):
            if isinstance(value, list):
                return [
                    self._checked(check.item, item, item_place(value, at, place), problems, about)
                    for at, item in enumerate(value)
                ]
            check = check.alone
        try:
            return check(value)
        except Wrong as wrong:
            message = f"{self._title if about else self._word}{about}: {wrong.message}"
            problems.append(_mistake(message, place, wrong.hint))
            return None

    def _unknown(self, key: Value, place: Place) -> Diagnostic:
        words = [*self._kind.words, *self._kind.settings]
        near = did_you_mean(str(key).replace("_", "-"), [*words, *self._kind.aliases])
        hint = near or f"its words are {', '.join(words)}"
        return _mistake(f"{self._title}: unknown word {key!r}", place, hint)

    def _senseless(
        self, asserted: Mapping[str, Any], places: Mapping[str, Source]
    ) -> Iterator[Diagnostic]:
        """Yield what nothing can fulfil, or everything does."""
        words = [word for word in asserted if word in self._kind.words]
        if not words:
            hint = f"its words are {', '.join(self._kind.words)}"
            yield _mistake(f"{self._title}: nothing is asserted", self._place, hint)
        first = self._kind.implied[0] if self._kind.implied else ""
        if asserted.get(first) is False:
            for word in words:
                if word != first:
                    message = f"{self._title}: {word} cannot hold where {first} is false"
                    yield Diagnostic(message, places[word], "leave one of them out", CODE)


def _mistake(message: str, place: Place, hint: str | None) -> Diagnostic:
    return Diagnostic(message, place.source, hint, CODE)


def _start(data: Value, default: Place) -> Place:
    return item_place(data, 0, default) if isinstance(data, list) and data else default


def _kind_of(value: Value) -> str:
    return "a list" if isinstance(value, list) else "nothing" if value is None else repr(value)
