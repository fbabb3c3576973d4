# SPDX-License-Identifier: Apache-2.0
"""Secret values never leave a run: they are replaced wherever they would be shown, in all the forms
they may take.

`masking.py` hides them, `forms.py` has the forms and finds them, `names.py` knows what cannot be
hidden, `old_values.py` what stood where a secret stands now, `former_secrets.py` the secrets of
former runs. All that is shown passes `Secrets`.
"""

from __future__ import annotations

import os
from _weakref import ref  # weakref imports more
from collections.abc import Mapping
from functools import cached_property

from runner.model import nested
from runner.model.chunk import Chunk
from runner.model.errors import Diagnostic, RunnerError
from runner.model.events import OF_RESULTS, ChangerCalled, Event, StateStarted
from runner.model.places import Source, Value
from runner.model.requisite_kinds import REQUISITE_KEYS
from runner.model.result import Result
from runner.support.redaction import former_secrets, forms, masking
from runner.support.redaction import names as secret_names
from runner.support.redaction.keys import (
    FORMER,
    KEYS,
    LOGIN,
    holds_key,
    is_beside,
    is_none,
    matcher,
)
from runner.support.redaction.keys import HIDDEN as HIDDEN
from runner.support.redaction.keys import without_logins as without_logins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    Keep = Callable[[str, Callable[[], object]], None]  # (text, writes what was made of it)

SHORTEST = 4  # shorter values would tear ordinary words apart
SHORTEST_NAMED = (
    6  # of values that are secret because of their key: `password: root` is no secret worth hiding
)
LONG_LINE = 12  # characters of a line that is a secret of its own: one of a key


class Secrets:
    """The secrets of one run."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._wanted: list[str] = []  # values that the finder does not know yet
        self._matches = matcher(KEYS)
        self._sources: list[tuple[str, Value]] = []  # where values come from, and the data
        self._given: list[Chunk] = []  # states whose arguments were looked at
        self._former: former_secrets.Former | None = None
        self.is_silent = False  # what is done now is not shown, as with `no_log`
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
        if value == "None" or (named and is_none(value)):  # written for nothing; where a key lies
            return
        if len(value) < (SHORTEST_NAMED if named else SHORTEST) or value in self._values:
            return
        if not named:
            self.names.mark_secret(value)
        self._values.add(value)
        self._forget_names()
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
        self._given += chunks
        self.learn_names(chunks=chunks)
        self._forget_names()
        for chunk in chunks:
            for key, value in chunk.args.items():
                if type(value) in _SIMPLE:
                    if type(value) is str and "://" in value and "@" in value:
                        self._add_logins(value)
                    if matches(key) or holds_key(value):
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
        for text in nested.strings(values):
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
        met = {
            value for *_, value in self._masking.secret_spans(self.names.state_names(), plain=True)
        }
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
        for chunk in self._given:
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
        return self._masking.masked(value, former=former) if self else value

    def name(self, text: str) -> str:
        """The name of a state, without secrets."""
        return self._masking.name(text) if self else text

    # -------------------------------------------------- what is shown

    def result(self, result: Result) -> Result:
        """A result without secrets; with `no_log` nothing but the keys of its changes is left."""
        return self._masking.result(result) if self._hides(result.chunk) else result

    def tag(self, result: Result) -> str:
        """The key of a result, without secrets."""
        return self._masking.tag(result) if self._hides(result.chunk) else result.tag

    def chunk(self, chunk: Chunk) -> Chunk:
        """A chunk whose ID and name show no secrets; its arguments are shown nowhere."""
        return self._masking.chunk(chunk) if self._hides(chunk) else chunk

    def event(self, event: Event) -> Event:
        """An event without secrets."""
        if isinstance(event, OF_RESULTS):
            return event  # results are without
        if isinstance(event, StateStarted) and not self._hides(event.chunk):
            return event
        if isinstance(event, ChangerCalled) and not self.is_silent:
            facts = event.before  # which the history takes as it is
            if event.chunk is None or self._hides(event.chunk):
                facts = event
            if facts is None or (type(facts) is dict and "several" not in facts):
                return event
        return self._masking.event(event)

    def error(self, error: RunnerError) -> RunnerError:
        """An error without secrets."""
        return self._masking.error(error)

    def diagnostic(self, problem: Diagnostic) -> Diagnostic:
        """A diagnostic without secrets."""
        return self._masking.diagnostic(problem)

    def _hides(self, chunk: Chunk) -> bool:
        return bool(self) or bool(chunk.args.get("no_log"))

    @cached_property
    def _masking(self) -> masking.Masking:
        return masking.Masking(
            self, self._values, self._wanted, lambda key: self._matches(key), lambda: self._former
        )

    def _forget_names(self) -> None:
        """Forget how names were shown: there are further secrets."""
        if "_masking" in self.__dict__:
            self._masking.shown.clear()


_alive: list[ref[Secrets]] = []


class WithoutSecrets:
    """Writes what is made of texts and kept between runs, from when all secrets are known: nothing
    of a text that holds one, which may stand nowhere else on the disk.
    """

    def __init__(self, holds_secret: Callable[[str], bool]) -> None:
        """holds_secret: tells whether a text does."""
        self._holds_secret = holds_secret
        self._waiting: list[tuple[str, Callable[[], object]]] = []
        self._are_known = False

    def keep(self, text: str, write: Callable[[], object]) -> None:
        """Keep what was made of a text, now or later, unless that holds a secret."""
        if not self._are_known:
            self._waiting.append((text, write))
        elif not self._holds_secret(text):
            write()

    def secrets_are_known(self) -> None:
        """Write what waits."""
        self._are_known = True
        waiting, self._waiting = self._waiting, []
        for text, write in waiting:
            self.keep(text, write)


def at_once(text: str, write: Callable[[], object]) -> None:
    """Keep what was made of a text in which nothing is secret."""
    write()


def redact_all(text: str) -> str:
    """A text without the secrets of any run of this process: for errors that come up where no run
    is known.
    """
    for secrets in [found for alive in _alive if (found := alive()) is not None]:
        text = str(secrets.mask(text, former=True))
    return without_logins(text)


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
    """The strings and numbers below the keys that match, and private keys. Each run looks at all of
    its data so: a loop of few calls.
    """
    values: set[str] = set()
    todo = [(top, False)]
    while todo:
        value, secret = todo.pop()
        if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101
            for key, item in value.items():
                hidden = matches(key) or (secret and not is_beside(key))
                if hidden or type(item) not in _SIMPLE or holds_key(item):
                    todo.append((item, hidden))
        elif isinstance(value, list | tuple):
            for item in value:
                if secret or type(item) not in _SIMPLE or holds_key(item):
                    todo.append((item, secret))
        elif holds_key(value) or (secret and isinstance(value, str | int | float)):
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
