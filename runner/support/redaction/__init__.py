# SPDX-License-Identifier: Apache-2.0
"""Secret values never leave a run: they are replaced wherever they would be shown, in all the forms
they may take.

`forms.py` has the forms and finds them, `names.py` knows what cannot be hidden, `old_values.py`
what stood where a secret stands now, `former_secrets.py` the secrets of former runs. All that is
shown passes `Secrets`.
"""

from __future__ import annotations

import os
from _weakref import ref  # weakref imports more

from runner.model import former_state, made
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError
from runner.model.events import (
    ChangerCalled,
    CustomEvent,
    CycleFound,
    Event,
    RunFinished,
    RunStarted,
    StateFinished,
    StatePlanned,
    Warned,
)
from runner.model.nested import mapped, strings
from runner.model.places import Source, Value
from runner.model.requisite_kinds import REQUISITE_KEYS
from runner.model.result import Result
from runner.model.stdlib import Lock, Mapping, cached_property, pattern
from runner.support.redaction import former_secrets, forms, old_values
from runner.support.redaction import names as secret_names
from runner.support.redaction.keys import FORMER, KEYS, WORDS, is_beside, is_none, matcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from runner.model.made import Thing

HIDDEN = "**********"
SHORTEST = 4  # shorter values would tear ordinary words apart
SHORTEST_NAMED = (
    6  # of values that are secret because of their key: `password: root` is no secret worth hiding
)
LONG_LINE = 12  # characters of a line that is a secret of its own: one of a key
LOGIN = pattern(r"://[^\s:/@'\"]*:([^\s/@'\"]{4,})@")  # the password in a URL
VERSION = pattern(r"\d[\w+~:-]*[.:-][\w.+~:-]*")  # of a package
_OF_RESULTS = (StateFinished, RunStarted, RunFinished)
PAIRS = (("old", "new"), ("before", "after"))  # what changes call the two sides


class Secrets:
    """The secrets of one run."""

    def __init__(self) -> None:
        self.is_silent = False  # what is done now is not shown, as with `no_log`
        self._values: set[str] = set()
        self._wanted: list[str] = []  # values that the finder does not know yet
        self._finder: forms.Finder | None = None  # of those it knows, once there are any
        self._adding = Lock()
        self._matches = matcher(KEYS)
        self._sources: list[tuple[str, Value]] = []  # where values come from, and the data
        self._former: former_secrets.Former | None = None
        self._shown: dict[str, str] = {}  # names, and how they are shown
        self._silent: dict[
            tuple[str, str], dict[str, int]
        ] = {}  # the names of states with no_log and their numbers, by ID and function
        self._learned: list[dict[str, Any]] = []  # what the names are made of, once asked for
        _alive.append(ref(self, _alive.remove))

    @cached_property
    def names(self) -> secret_names.Names:
        """The names of the run, which nobody asks for where there are no secrets."""
        made = secret_names.Names(lambda key: self._matches(key))
        for facts in self._learned:
            made.learn(**facts)
        return made

    def learn_names(self, **facts: Any) -> None:
        """Take what has names into account, as `Names.learn` does."""
        if "names" in self.__dict__:
            self.names.learn(**facts)
        else:
            self._learned.append(facts)

    def add(self, value: str, named: bool = False) -> None:
        """Never show this value. named: it is secret because of its key in the pillar, not because
        someone said so.
        """
        value = value.strip()
        if named and is_none(value):  # where a key lies is no secret
            return
        if len(value) < (SHORTEST_NAMED if named else SHORTEST) or value in self._values:
            return
        if not named:
            self.names.mark_secret(value)
        self._values.add(value)
        self._shown.clear()
        self._wanted.append(value)
        if "\n" in value:
            for line in map(str.strip, value.splitlines()):
                if len(line) >= LONG_LINE and not line.startswith("-----"):
                    self.add(line)

    def collect(
        self, pillar: Value, keys: Iterable[str] = KEYS, source: str = "the pillar"
    ) -> None:
        """Take the strings and numbers under such keys (globs, any case) for secrets."""
        if not pillar:
            return
        self._matches = matcher(tuple(keys))
        self._sources.append((source, pillar))
        self.learn_names(pillar=pillar)
        for value in _values_under(pillar, self._matches):
            self.add(value, named=True)

    def collect_arguments(self, chunks: Iterable[Chunk], keys: Iterable[str] = KEYS) -> None:
        """Take what states are given under such keys for secrets: arguments, and what lists and
        mappings hold.

        A password in a URL is one under every key.
        """
        chunks = tuple(chunks)
        self._matches = matches = matcher(tuple(keys))
        self.learn_names(chunks=chunks)
        self._shown.clear()
        for chunk in chunks:
            for key, value in chunk.args.items():
                if type(value) in _SIMPLE:
                    if type(value) is str and "://" in value and "@" in value:
                        self._add_logins(value)
                    if matches(key):
                        self.add(str(value), named=True)
                elif key not in REQUISITE_KEYS:
                    self.collect_call({key: value}, keys)
            if "value" in chunk.args and matches(chunk.args.get("key", chunk.name)):
                self.collect_call({"secret": chunk.args["value"]}, ("secret",))
            if "://" in chunk.name and "@" in chunk.name:
                self._add_logins(chunk.name)

    def collect_call(self, values: Value, keys: Iterable[str] = KEYS) -> None:
        """Take what a function is given under such keys, and passwords in URLs, for secrets."""
        for secret in _values_under(values, matcher(tuple(keys))):
            self.add(secret, named=True)
        for text in strings(values):
            self._add_logins(text)

    def collect_named(self, values: Mapping[str, Value]) -> None:
        """Take values under the keys of this run that mean secrets for such."""
        for secret in _values_under(values, self._matches):
            self.add(secret, named=True)

    def _add_logins(self, text: str) -> None:
        if "://" in text and "@" in text:
            for password in LOGIN.findall(text):
                self.add(password)

    def unhidable(self) -> list[Diagnostic]:
        """Warnings about secrets that stand in names of states, which must stay readable."""
        if not self._values:
            return []
        met = {value for *_, value in self._secret_spans(self.names.state_names(), plain=True)}
        origins = sorted(
            (self._origin(value) for value in met if self.names.has(value)),
            key=lambda pair: pair[0],
        )
        return [
            Diagnostic(
                f"the secret {origin} appears in names of this tree: it is short, a plain word, or"
                " typed there, and cannot be hidden in them, nor where nothing says that it is a"
                " secret",
                place,
                "choose a longer, random value",
                "secret-in-names",
                "warning",
            )
            for origin, place in origins
        ]

    def _origin(self, value: str) -> tuple[str, Source | None]:
        """What a secret is called, and where it was typed if a state is given it."""
        for source, data in self._sources:
            for path, item in _paths(data):
                if item == value:
                    return f"{path} of {source}", None
        for chunk in self.names.chunks:
            for path, item in _paths(chunk.args):
                keys = path.split(":")
                if item == value and any(map(self._matches, keys)):
                    return f"{path} of a state", chunk.arg_places.get(keys[0], chunk.place).source
        return "that a state is given", None

    def recall(self, state_dir: str, remember: bool = False) -> None:
        """Hide the secrets of former runs, too. remember: keep those of this one for later."""
        remembers = remember and bool(self._values)
        if not (remembers or os.path.lexists(os.path.join(state_dir, FORMER))):
            self._former = None
            return
        former = former_secrets.Former(state_dir)
        self._former = former if former else None
        if remembers:
            values = [value for value in self._values if not self.names.has(value)]
            former.remember(form for value in values for form in _standing_alone(value))

    @property
    def values(self) -> list[str]:
        """The secrets that are known so far."""
        return sorted(self._values)

    def __bool__(self) -> bool:
        """Return whether there is anything to hide."""
        return bool(self._values) or self._former is not None

    # -------------------------------------------------- hiding

    def mask(self, value: Value, former: bool = False) -> Value:
        """A value with each secret in its strings replaced. former: those of former runs, too, if
        they are recalled.
        """
        return self._masked(value, former=former) if self else value

    def _masked(self, value: Value, secret: bool = False, former: bool = False) -> Value:
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
            return [self._masked(item, secret, former) for item in value]
        if isinstance(value, set | frozenset):
            shown = [self._masked(item, secret, former) for item in value]
            return value if value.issuperset(shown) else sorted(shown, key=str)
        if value is None or isinstance(value, bool):
            return value
        return self._object(value)

    def _mapping(self, value: Mapping[Value, Value], secret: bool, former: bool) -> Value:
        for old, new in PAIRS:
            if value.keys() == {old, new}:
                after = self._masked(value[new], secret, former)
                before = self._mask_old(value[old], value[new], secret, former)
                return {key: before if key == old else after for key in value}
        return {
            name: self._masked(item, under, former)
            for _, name, item, under in self._entries(value, secret, former)
        }

    def _entries(
        self, value: Mapping[Value, Value], secret: bool, former: bool
    ) -> Iterator[tuple[Value, Value, Value, bool]]:
        """The keys of a mapping, how they are shown, their values, whether these are secret."""
        for key, item in value.items():
            # a key tells what is secret
            name = key if key in WORDS else self._masked(key, former=former)
            yield key, name, item, self._matches(key) or (secret and not is_beside(key))

    def _mask_old(self, old: Value, new: Value, secret: bool, former: bool) -> Value:
        """The old value without the places where the new one has secrets."""
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return {
                name: self._mask_old(item, new.get(key), under, former)
                for key, name, item, under in self._entries(old, secret, former)
            }
        if isinstance(old, list | tuple) and isinstance(new, list | tuple):
            hides = any(self._masked(item, secret) != item for item in new)
            return [
                _blank(item) if hides and item not in new else self._masked(item, secret, former)
                for item in old
            ]
        if secret and not (isinstance(old, str) and VERSION.fullmatch(old)):
            return _blank(old)
        if isinstance(old, str) and isinstance(new, str):
            spans = self._spans(new)
            return self._text(old, [*old_values.between(old, new, spans)] if spans else (), former)
        return (
            self._masked(old, secret, former) if self._masked(new, secret) == new else _blank(old)
        )

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
        if former and self._former is not None:
            more = [*more, *self._former.spans(text, self.names.has)]
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
        if not self:
            return text
        if text not in self._shown:
            self._shown[text] = self._text(text)
        return self._shown[text]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """The spans to hide in a text, in order."""
        spans = self._secret_spans(text)
        return _united(
            (start, end) for start, end, value in spans if self._is_hidden(text, start, end, value)
        )

    def _secret_spans(self, text: str, plain: bool = False) -> list[tuple[int, int, str]]:
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
        if not self.names.has(value) or text[start:end] != value:
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
        if not self:
            return result
        result = result._replace(chunk=self.chunk(result.chunk), key=self.name(result.key))
        # what is in order says nothing of former secrets
        former = bool(result.changes) or result.result is not True
        return result._replace(
            comment=self._masked(result.comment, former=former),
            reaction=self._masked(result.reaction, former=former),
            changes=self._masked(result.changes, former=former),
            before=self._masked(result.before, former=former),
            warnings=tuple(self._masked(warning, former=former) for warning in result.warnings),
            extra=self._masked(result.extra, former=former),
            things=tuple(map(self._thing, result.things)),
        )

    def _thing(self, thing: Thing) -> Thing:
        return thing._replace(
            name=self.name(thing.name),
            arguments=self.mask(thing.arguments),
            check=self.mask(thing.check),
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
        if not self and not silent:
            return chunk
        id_, name = self.name(chunk.id), self.name(chunk.name)
        if silent and chunk.name != chunk.id:
            numbers = self._silent.setdefault((chunk.id, chunk.function), {})
            number = numbers.setdefault(chunk.name, len(numbers))
            name = f"{HIDDEN} {number or ''}".rstrip()
        return chunk if (id_, name) == (chunk.id, chunk.name) else chunk._replace(id=id_, name=name)

    def event(self, event: Event) -> Event:
        """An event without secrets."""
        if isinstance(event, _OF_RESULTS):
            return event  # results are without
        if isinstance(event, CustomEvent):
            return (
                event._replace(tag=self.name(event.tag), data=self.mask(event.data))
                if self
                else event
            )
        if isinstance(event, Warned):
            return event._replace(problems=tuple(map(self.diagnostic, event.problems)))
        if isinstance(event, CycleFound):
            return event._replace(picture=self.mask(event.picture))
        chunk = event.chunk
        silent = self.is_silent or bool(chunk and chunk.args.get("no_log"))
        if chunk is not None and (silent or self):
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
                changes=changes, comment=HIDDEN if silent else self.mask(event.comment)
            )
        return event

    def _changer(self, event: ChangerCalled, silent: bool) -> ChangerCalled:
        target, facts = event.target, event.before
        if silent:
            shown: Value = HIDDEN
        else:
            shown = _without_private(facts)
            shown = self._masked(shown, former=True) if self else shown
            if isinstance(facts, Mapping) and "target" in facts and self:  # where a link pointed to
                shown["target"] = self._mask_old(facts["target"], target, secret=False, former=True)
        return event._replace(
            target=HIDDEN if silent else self.name(target), before=shown, for_undo=facts
        )

    def _shown_changes(self, changes: Mapping[str, Value]) -> Mapping[str, Value]:
        shown: Mapping[str, Value] = self._masked(changes, former=True) if self else changes
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

        return mapped(self.mask(value), shown)


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


_alive: list[ref[Secrets]] = []


def redact_all(text: str) -> str:
    """A text without the secrets of any run of this process: for errors that come up where no run
    is known.
    """
    for secrets in [found for alive in _alive if (found := alive()) is not None]:
        text = str(secrets.mask(text, former=True))
    return without_logins(text)


def without_logins(text: str) -> str:
    """A text without the passwords that stand in URLs."""
    if "://" not in text:
        return text
    return LOGIN.sub(lambda login: login[0].replace(login[1], HIDDEN), text)


Typed = list[
    tuple[int, Secrets | None]
]  # the lines of a file where states are, what is hidden there


def redact_no_log(problems: list[Diagnostic], chunks: Iterable[Chunk]) -> list[Diagnostic]:
    """Problems without what states with `no_log` are given, and without the lines where that was
    typed.
    """
    if not problems:
        return problems
    chunks = tuple(chunks)
    if not any(chunk.args.get("no_log") for chunk in chunks):
        return problems
    typed: dict[str, Typed] = {}
    for chunk in chunks:
        hidden = None
        if chunk.args.get("no_log"):
            hidden = Secrets()
            for value in _values_under({"": chunk.args}, lambda key: key != "no_log"):
                hidden.add(value)
        for place in (chunk.place, *chunk.arg_places.values()):
            typed.setdefault(place.source.file, []).append((place.source.line, hidden))
    for lines in typed.values():
        lines.sort(key=lambda row: row[0])
    return [_redact(problem, typed) for problem in problems]


def _redact(
    problem: Diagnostic, typed: Mapping[str, list[tuple[int, Secrets | None]]]
) -> Diagnostic:
    """A problem without what was typed at its place. The line before it is shown, too: it is a part
    of what begins above.
    """
    source = problem.source
    lines = typed.get(source.file, []) if source else []
    if source is None or not lines:
        return problem
    shown = [_hidden_at(lines, source.line), _hidden_at(lines, source.line - 1)]
    for hidden in filter(None, shown):
        problem = hidden.diagnostic(
            problem._replace(source=source._replace(rendered=None, values=(), hidden=True))
        )
    return problem


def _hidden_at(lines: Typed, at: int) -> Secrets | None:
    """What is hidden of a line: that of a state that is typed there, or the last one above it."""
    above = [line for line, _ in lines if line <= at][-1:]
    return next((hidden for line, hidden in lines if hidden and line in above), None)


def _values_under(top: Value, matches: Callable[[object], bool]) -> set[str]:
    """The strings and numbers below the keys that match. Each run looks at all of its data so: a
    loop of few calls.
    """
    values: set[str] = set()
    todo = [(top, False)]
    while todo:
        value, secret = todo.pop()
        if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101
            for key, item in value.items():
                hidden = matches(key) or (secret and not is_beside(key))
                if hidden or type(item) not in _SIMPLE:
                    todo.append((item, hidden))
        elif isinstance(value, list | tuple):
            todo += [(item, secret) for item in value if secret or type(item) not in _SIMPLE]
        elif secret and isinstance(value, str | int | float):
            values.add(str(value))
    return values


_SIMPLE = frozenset([str, int, float, bool, type(None)])


def _paths(top: Value) -> Iterator[tuple[str, str]]:
    """The strings and numbers in data, with the keys that lead there, as pillar.get writes them."""
    todo: list[tuple[str, Value]] = [("", top)]
    while todo:
        path, value = todo.pop()
        if isinstance(value, Mapping):
            todo += [(f"{path}:{key}" if path else str(key), item) for key, item in value.items()]
        elif isinstance(value, list | tuple):
            todo += [(f"{path}:{number}", item) for number, item in enumerate(value)]
        else:
            yield path, str(value).strip()


def _standing_alone(value: str) -> Iterator[str]:
    """A secret as it may stand in a file of its own right."""
    data = value.encode("utf-8", "surrogateescape")
    yield from {value, forms.spelled(value, "URL")}
    for form in ("base64",):
        yield from forms.ENCODINGS[form](data)


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


def command_line(words: Sequence[str], keys: Iterable[str] | None = None) -> list[str]:
    """The words of a command line as others may see them: without the pillar that stands there, and
    passwords in URLs.

    keys: a pillar without a value under such keys (globs) stays.
    """
    shown, is_pillar = [], False
    for word in words:
        name, equals, value = word.partition("=")
        if is_pillar:
            shown.append(_pillar_word(word, keys))
        elif equals and name in ("--pillar", "pillar"):
            shown.append(f"{name}={_pillar_word(value, keys)}")
        elif equals and matcher(tuple(keys or KEYS))(name) and not is_none(value):
            shown.append(f"{name}={HIDDEN}")
        else:
            shown.append(without_logins(word))
        is_pillar = word == "--pillar"
    return shown


def _pillar_word(text: str, keys: Iterable[str] | None) -> str:
    if text == "-" or text.startswith("@"):
        return text
    if keys is None:
        return HIDDEN
    import yaml

    try:
        data = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except Exception:
        return HIDDEN
    return HIDDEN if _values_under(data, matcher(tuple(keys))) else without_logins(text)
