# SPDX-License-Identifier: Apache-2.0
"""`formulas.yml`: the formulas that a tree uses, as its author declares them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from runner.model.diagnostics import Diagnostic, did_you_mean
from runner.model.errors import CompileError, RunnerError
from runner.model.places import PlacedMap, Source, item_place, key_place, value_place
from runner.model.records import Record
from runner.sources import git
from runner.sources.formulas.versions import EXPLAINED, InvalidRange, bounds, is_range
from runner.support.files.text import read_bounded
from runner.support.yaml import load as yaml_load
from runner.support.yaml.mark import short

FILE = "formulas.yml"
CODE = "formulas"  # of all diagnostics about formulas
KEYS = ("src", "version", "name", "root", "path")
LARGEST = 1024 * 1024  # bytes of formulas.yml and of formulas.lock
NEWEST = "*"  # the version of an entry that names none
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_EXAMPLE = (
    "write\n    formulas:\n      - {src: https://example.org/nginx-formula.git, version: '>=2'}"
)
_LOGIN = re.compile(r"://[^/\s'\"]*@")  # in a URL
_CONFLICT = re.compile(r"^(<{7} |={7}$|>{7} |\|{7} )", re.M)


class _Text(Record):
    """A file for messages. secret: it has a login, so that none of its lines are shown."""

    file: str
    secret: bool

    def position(self, line: int, column: int) -> Source:
        return self.source(line, column)

    def source(self, line: int, column: int) -> Source:
        return Source(self.file, line, column, hidden=self.secret)


class DeclaredFormula(Record):
    """A formula that formulas.yml declares.

    src: the URL of its repository. version: a range of tags, a tag, a branch or a commit. name:
    empty where the formula's FORMULA file says it. root: the folder of the repository that is a
    root of states; empty for all of it. path: a folder that is used as it stands, instead of src.
    """

    source: Source
    src: str = ""
    version: str = NEWEST
    name: str = ""
    root: str = ""
    path: str = ""
    version_source: Source | None = None

    @property
    def title(self) -> str:
        """What messages call it."""
        return self.name or self.path or without_login(self.src)

    @property
    def address(self) -> str:
        """The URL of the repository; a relative path is one from the folder of formulas.yml."""
        return self._beside(self.src) if self.src.startswith(("./", "../")) else self.src

    @property
    def folder(self) -> str:
        """The folder of an entry with a path."""
        return self._beside(self.path)

    def _beside(self, path: str) -> str:
        return os.path.normpath(os.path.join(os.path.dirname(self.source.file), path))

    def problem(self, message: str, hint: str | None = None) -> Diagnostic:
        """A mistake that concerns it."""
        return Diagnostic(f"formula {self.title}: {message}", self.source, hint, CODE)


def without_login(url: str) -> str:
    """A URL without user and password, which may both be secrets where it is http."""
    if "@" not in url:
        return url
    return re.sub(r"^(https?://)[^/]*@", r"\1", git.display_url(url), flags=re.I)


def read(folder: str) -> tuple[DeclaredFormula, ...]:
    """The entries of the formulas.yml in a folder. Raises CompileError with all its mistakes, and
    RunnerError for what is no YAML or cannot be read.
    """
    file = os.path.join(os.path.abspath(folder), FILE)
    value = load(file)
    problems: list[Diagnostic] = []
    entries = tuple(_entries(value, file, problems))
    problems += _doubles(entries)
    if problems:
        raise CompileError(problems)
    return entries


def load(file: str) -> Any:
    """The value of a YAML file with its places. Raises RunnerError for what is no YAML, a merge
    that is not done, and a file that cannot be read.
    """
    text = text_of(file)
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        raise RunnerError(
            f"{file} has the marks of a merge that is not done",
            Source(file, line, hidden=bool(_LOGIN.search(text))),
            _merge(file),
            CODE,
        )
    try:
        return yaml_load.load(text, _Text(file, bool(_LOGIN.search(text))))
    except RunnerError as error:
        raise RunnerError(error.message, error.source, error.hint, CODE) from None


def _merge(file: str) -> str:
    if os.path.basename(file) == FILE:
        return "choose what is right, and remove the marks"
    return "take one side (`git checkout --ours formulas.lock`), then: runner formulas lock"


def text_of(file: str) -> str:
    """The text of a file. Raises RunnerError for one that cannot be read."""
    try:
        return read_bounded(file, LARGEST).decode("utf-8")
    except OSError as error:
        raise RunnerError(f"{file} cannot be read: {error.strerror}", Source(file)) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise RunnerError(
            f"{file} is not UTF-8", Source(file, line), "save it as UTF-8", CODE
        ) from None


def _entries(value: Any, file: str, problems: list[Diagnostic]) -> Iterable[DeclaredFormula]:
    top = Source(file, 1, 1)
    if value is None:
        return
    if not isinstance(value, PlacedMap):
        problems.append(Diagnostic("formulas.yml is not a mapping", top, _EXAMPLE, CODE))
        return
    for key in value:
        if key != "formulas":
            hint = did_you_mean(str(key), ["formulas"]) or "`formulas` is the only one"
            message = f"formulas.yml has no key {key!r}"
            problems.append(Diagnostic(message, value.key_place(key).source, hint, CODE))
    items = value.get("formulas")
    if items is not None and not isinstance(items, list):
        place = value.value_place("formulas").source
        problems.append(Diagnostic("formulas has to be a list", place, _EXAMPLE, CODE))
        return
    for number, item in enumerate(items or ()):
        place = item_place(items, number, value.place).source
        wrong = list(_wrong(item, place))
        problems += wrong
        if not wrong:
            yield _entry(item, place)


def _wrong(item: Any, place: Source) -> Iterable[Diagnostic]:
    """The mistakes of one entry."""
    if not isinstance(item, PlacedMap):
        hint = f"write {{src: {item}}}" if isinstance(item, str) and "/" in item else _EXAMPLE
        yield Diagnostic(f"a formula is a mapping, not {short(repr(item))}", place, hint, CODE)
        return
    for key in item:
        at = key_place(item, key, item.place).source
        if key not in KEYS:
            hint = did_you_mean(str(key), KEYS) or "a formula has " + ", ".join(KEYS)
            yield Diagnostic(f"a formula has no key {key!r}", at, hint, CODE)
            continue
        at = value_place(item, key, item.place).source
        if wrong := _wrong_value(key, item[key]):
            yield Diagnostic(f"{key}: {wrong[0]}", at, wrong[1], CODE)
    if ("src" in item) == ("path" in item):
        both = "src" in item
        message = "a formula has src or path, not both" if both else "a formula without src"
        hint = "src is the URL of a repository, path a folder that is used as it stands"
        yield Diagnostic(message, place, hint, CODE)
    if "path" in item:
        for key in ("version", "root"):
            if key in item and "src" not in item:
                at = key_place(item, key, item.place).source
                hint = f"remove {key}, or name the repository with src"
                yield Diagnostic(f"{key}: a path is used as it stands", at, hint, CODE)


def _wrong_value(key: str, value: Any) -> tuple[str, str | None] | None:
    """(message, hint) of what is wrong with a value."""
    if not isinstance(value, str):
        quoted = key == "version" and isinstance(value, int | float) and type(value) is not bool
        return f"{short(repr(value))} is not a text", "write it in quotes" if quoted else None
    if not value or not value.isprintable():
        return f"{value!r} is not a {key}", None
    return _CHECKS[key](value)


def _wrong_version(value: str) -> tuple[str, str | None] | None:
    if not is_range(value):
        return (f"{value!r} is no version", EXPLAINED) if value[0] in "- " else None
    try:
        bounds(value)
    except InvalidRange as error:
        return str(error), EXPLAINED
    return None


def wrong_name(value: str) -> tuple[str, str | None] | None:
    """Return what is wrong with a name, and a hint."""
    if NAME.fullmatch(value):
        return None
    return f"{value!r} is no name of a formula", "letters, digits, '.', '_' and '-'"


def wrong_root(value: str) -> tuple[str, str | None] | None:
    """Return what is wrong with the folder of a repository, and a hint."""
    if value.startswith("/") or ".." in value.split("/") or ".git" in value.split("/"):
        return f"{value!r} is no folder of the repository", "such as `root: salt`"
    return None


_CHECKS: Mapping[str, Callable[[str], tuple[str, str | None] | None]] = {
    "src": lambda value: None,  # git itself is asked when it is used
    "version": _wrong_version,
    "name": wrong_name,
    "root": wrong_root,
    "path": lambda value: None,
}


def _entry(item: PlacedMap, place: Source) -> DeclaredFormula:
    values: dict[str, str] = dict(item)
    root = os.path.normpath(values.get("root", "")).strip("/")
    values["root"] = "" if root == "." else root
    at = value_place(item, "version", item.place).source
    return DeclaredFormula(place, **values, version_source=at)


def _doubles(entries: Iterable[DeclaredFormula]) -> Iterable[Diagnostic]:
    """Entries that are one formula twice."""
    first: dict[tuple[str, ...], DeclaredFormula] = {}
    for entry in entries:
        same = (
            [("name", entry.name)] if entry.name else [("src", entry.src, entry.root, entry.path)]
        )
        for key in same:
            if key in first:
                other = first[key]
                yield twice(entry, other, entry.title)
            first.setdefault(key, entry)


def twice(entry: DeclaredFormula, other: DeclaredFormula, name: str) -> Diagnostic:
    """The mistake of two entries that have one name."""
    hint = f"the other one is at {other.source}; give one of them another `name:`"
    return Diagnostic(f"two formulas are called {name}", entry.source, hint, CODE)
