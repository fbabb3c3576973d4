"""Secret values never leave a run: they are replaced wherever they would be shown, in all the forms they may take."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Iterable, Mapping

from runner.errors import CompileError, Diagnostic, RunnerError
from runner.model import (
    REQUISITE_KEYS,
    ChangerCalled,
    Chunk,
    CustomEvent,
    Event,
    Result,
    RunFinished,
    RunStarted,
    StateFinished,
    StatePlanned,
    StateStarted,
    Value,
)

HIDDEN = "**********"
SHORTEST = 4  # shorter values would tear ordinary words apart
SHORTEST_NAMED = 6  # of values that are secret because of their key: `password: root` is no secret worth hiding
# under such keys of the pillar, at any depth, strings are secrets (`secret_keys` of the configuration)
KEYS = (
    *("*password", "*passwd", "*passphrase", "*secret", "*secret_key", "*token", "*api_key", "*apikey"),
    *("*private_key", "*privkey", "*credentials"),
)
# what stands beside a secret below such a key (`credentials: {user: x, host: y, ...}`) and is none
PLAIN = r"(.*_)?(user|user_?name|login|name|host|host_?name|port|e?mail)$"

PATH = r"(salt:/)?(/[\w.@-]{1,32}){2,}"


class Secrets:
    """The secrets of one run."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._pattern: re.Pattern[str] | None = None  # of all values in all their forms; None: to be made anew
        self._silent: dict[tuple[str, str], list[str]] = {}  # the names of states with no_log, by ID and function

    def add(self, value: str, named: bool = False) -> None:
        """Never show this value. named: it is secret because of its key in the pillar, not because someone said so."""
        if named and re.fullmatch(PATH, value):  # where a key lies is no secret
            return
        if len(value) >= (SHORTEST_NAMED if named else SHORTEST) and value not in self._values:
            self._values.add(value)
            self._pattern = None

    def collect(self, pillar: Value, keys: Iterable[str] = KEYS) -> None:
        """Take the strings and numbers under such keys (globs, any case) for secrets."""
        if not pillar:
            return
        found = _below(pillar, _matcher(tuple(keys)))
        for value in found - _names(pillar) if found else ():  # a value that is a name as well would hide too much
            self.add(value, named=True)

    def arguments(self, chunks: Iterable[Chunk], keys: Iterable[str] = KEYS) -> None:
        """Take what states are given under such keys for secrets: arguments, and what lists and mappings hold."""
        matches = _matcher(tuple(keys))
        for chunk in chunks:
            for key, value in chunk.args.items():
                if type(value) in _SIMPLE:
                    if matches(key):
                        self.add(str(value), named=True)
                elif key not in REQUISITE_KEYS:
                    self.collect({key: value}, keys)

    def __bool__(self) -> bool:
        return bool(self._values)

    def mask(self, value: Value) -> Value:
        """A value with each secret in its strings replaced."""
        if not self._values:
            return value
        if self._pattern is None:
            forms = {form for value in self._values for form in _forms(value) if form}
            self._pattern = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))))
        return _masked(value, self._pattern)

    # -------------------------------------------------- what is shown

    def result(self, result: Result) -> Result:
        """A result without secrets; with `no_log` nothing but the keys of its changes is left."""
        if result.chunk.args.get("no_log"):
            extra = {key: value for key, value in result.extra.items() if isinstance(value, bool)}
            changes, key = dict.fromkeys(result.changes, HIDDEN), self.tag(result) if result.key else ""
            chunk = self.chunk(result.chunk)
            return result._replace(
                chunk=chunk, key=key, comment=HIDDEN, changes=changes, warnings=(), extra=extra, reaction=""
            )
        if not self._values:
            return result
        result = result._replace(chunk=self.chunk(result.chunk), key=self.mask(result.key))
        warnings = tuple(self.mask(warning) for warning in result.warnings)
        return result._replace(
            comment=self.mask(result.comment),
            reaction=self.mask(result.reaction),
            changes=self.mask(result.changes),
            warnings=warnings,
            extra=self.mask(result.extra),
        )

    def tag(self, result: Result) -> str:
        """What a result is known by, without secrets."""
        name = self.chunk(result.chunk).name
        shown: str = self.mask(result.tag)
        return shown if name == result.chunk.name else shown.replace(f"_|-{result.chunk.name}_|-", f"_|-{name}_|-")

    def chunk(self, chunk: Chunk) -> Chunk:
        """A chunk whose ID and name show no secrets; its arguments are shown nowhere."""
        id_, name = self.mask(chunk.id), self.mask(chunk.name)
        if chunk.args.get("no_log") and chunk.name != chunk.id:
            names = self._silent.setdefault((chunk.id, chunk.function), [])
            if chunk.name not in names:
                names.append(chunk.name)
            name = f"{HIDDEN} {names.index(chunk.name) or ''}".rstrip()
        return chunk if (id_, name) == (chunk.id, chunk.name) else chunk._replace(id=id_, name=name)

    def event(self, event: Event) -> Event:
        """An event without secrets."""
        if not self._values and not isinstance(event, ChangerCalled | StatePlanned | StateStarted):
            return event
        chunk = None if isinstance(event, RunStarted | RunFinished | StateFinished | CustomEvent) else event.chunk
        silent = bool(chunk and chunk.args.get("no_log"))
        if chunk is not None and isinstance(event, StateStarted | StatePlanned | ChangerCalled):
            event = event._replace(chunk=self.chunk(chunk))
        if isinstance(event, ChangerCalled) and not event.function.startswith("file."):
            return event._replace(target=HIDDEN if silent else self.mask(event.target))
        if isinstance(event, StatePlanned):
            changes = dict.fromkeys(event.changes, HIDDEN) if silent else self.mask(event.changes)
            return event._replace(changes=changes, comment=HIDDEN if silent else self.mask(event.comment))
        return event

    def error(self, error: RunnerError) -> RunnerError:
        """An error without secrets."""
        if not self._values:
            return error
        found = CompileError([self.diagnostic(problem) for problem in error.diagnostics])
        if isinstance(error, CompileError):
            return found
        return RunnerError(found.message, found.source, found.hint, error.code)

    def diagnostic(self, problem: Diagnostic) -> Diagnostic:
        """A diagnostic without secrets."""
        source = problem.source
        if source is not None and (source.rendered or source.values):
            values = tuple((name, self.mask(value)) for name, value in source.values)
            source = source._replace(rendered=self.mask(source.rendered), values=values)
        return problem._replace(message=self.mask(problem.message), hint=self.mask(problem.hint), source=source)


def hushed(problems: list[Diagnostic], chunks: Iterable[Chunk]) -> list[Diagnostic]:
    """Problems without what states with `no_log` are given, and without the lines where that was typed."""
    if not problems:
        return problems
    silent: dict[tuple[str, int], Secrets] = {}
    for chunk in chunks:
        if chunk.args.get("no_log"):
            hidden = Secrets()
            for value in _below({"": chunk.args}, lambda key: key != "no_log"):
                hidden.add(value)
            for place in (chunk.place, *chunk.arg_places.values()):
                silent[place.source.file, place.source.line] = hidden
    return [_hushed(problem, silent) for problem in problems] if silent else problems


def _hushed(problem: Diagnostic, silent: Mapping[tuple[str, int], Secrets]) -> Diagnostic:
    source = problem.source
    hidden = silent.get((source.file, source.line)) if source else None
    if hidden is None or source is None:
        return problem
    return hidden.diagnostic(problem._replace(source=source._replace(rendered=None, values=(), hidden=True)))


@functools.cache
def _matcher(keys: tuple[str, ...]) -> Callable[[object], bool]:
    """Whether one of the globs means a name; `*word` needs no regular expression, which takes long to make."""
    globs = [key.lower() for key in keys]
    ends = tuple(glob[1:] for glob in globs if glob[:1] == "*" and not set("*?[") & set(glob[1:]))
    others = [fnmatch.translate(glob) for glob in globs if glob[:1] != "*" or glob[1:] not in ends]
    match = re.compile("|".join(others) or r"(?!)").match
    return functools.cache(lambda key: _plain(key).endswith(ends) or bool(match(_plain(key))))


def _plain(key: object) -> str:
    return str(key).lower().replace("-", "_")


def _below(top: Value, matches: Callable[[object], bool]) -> set[str]:
    """The strings and numbers below the keys that match. Each run looks at all of its data so: a loop of few calls."""
    found: set[str] = set()
    todo = [(top, False)]
    while todo:
        value, secret = todo.pop()
        if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101 - the first is the faster one
            for key, item in value.items():
                hidden = matches(key) or (secret and not re.match(PLAIN, _plain(key)))
                if hidden or type(item) not in _SIMPLE:
                    todo.append((item, hidden))
        elif isinstance(value, list | tuple):
            todo += [(item, secret) for item in value if secret or type(item) not in _SIMPLE]
        elif secret and isinstance(value, str | int | float):
            found.add(str(value))
    return found


_SIMPLE = frozenset([str, int, float, bool, type(None)])


def _names(value: Value) -> set[str]:
    """The keys at any depth."""
    if isinstance(value, Mapping):
        return {str(key) for key in value}.union(*map(_names, value.values()))
    return set().union(*map(_names, value)) if isinstance(value, list | tuple) else set()


def _forms(value: str) -> Iterable[str]:
    """A secret as it may appear: plain, its longer lines, base64, URL-encoded, as JSON and the shell write it."""
    import base64
    import json
    import shlex
    from urllib.parse import quote, quote_plus

    data = value.encode("utf-8", "surrogateescape")
    yield value
    yield from (line.strip() for line in value.splitlines() if len(line.strip()) >= 12)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for shape in (data, data + b"\n"):
            yield encode(shape).decode().rstrip("=")
        for ahead in (0, 1, 2):  # inside of something longer, such as `user:password`
            coded = encode(b"\0" * ahead + data).decode()
            partly = (0, 3, 2)[(ahead + len(data)) % 3]  # the last characters, which say something of what follows, too
            core = coded[ahead + bool(ahead) : len(coded) - partly]
            yield from [core] if len(core) >= SHORTEST_NAMED else []
    for quoted in (quote(data, safe=""), quote(data), quote_plus(data)):
        yield from (quoted, re.sub("%..", lambda found: found[0].lower(), quoted))
    yield repr(value)[1:-1]
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    if not set("'\"") & set(value):
        return
    yield shlex.quote(value)[1:-1]
    yield value.replace("'", "''")


def _masked(value: Value, pattern: re.Pattern[str]) -> Value:
    if isinstance(value, str):
        return pattern.sub(HIDDEN, value)
    if isinstance(value, Mapping):
        names = {
            key: key if f"*{key}" in KEYS else _masked(key, pattern) for key in value
        }  # a key tells what is secret
        return {names[key]: _masked(item, pattern) for key, item in value.items()}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return HIDDEN if pattern.fullmatch(str(value)) else value
    return [_masked(item, pattern) for item in value] if isinstance(value, list | tuple) else value
