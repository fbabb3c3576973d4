# SPDX-License-Identifier: Apache-2.0
"""`formulas.lock`: what the entries of formulas.yml were resolved to. The same formulas give the
same text: sorted by name, a line for each fact, without dates.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError
from runner.model.places import PlacedMap, Source, key_place
from runner.model.records import Record
from runner.sources.formulas.declared import (
    CODE,
    DeclaredFormula,
    load,
    text_of,
    without_login,
    wrong_name,
    wrong_root,
)
from runner.sources.formulas.versions import is_range, satisfies
from runner.sources.git import WHOLE_COMMIT
from runner.support.files.links import refuse_special

LOCK = "formulas.lock"
HEADER = """\
# Written by `runner formulas lock`, obeyed by `runner formulas install`. Keep it under version
# control, and do not edit it: what a formula may be is said in formulas.yml.
"""
INSTALL = "runner formulas install"
_KEYS = ("src", "root", "version", "tag", "branch", "commit", "hash")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_PLAIN = re.compile(r"[A-Za-z0-9/][A-Za-z0-9_./@:+-]*[A-Za-z0-9_/]", re.ASCII)
_ENTRY = re.compile(r"  \"?([A-Za-z0-9][\w.-]*)\"?:\s*", re.ASCII)
DAMAGED = "restore it from version control, or remove it and run: runner formulas lock"


class Locked(Record):
    """A formula as it is locked.

    src, root, version: as in formulas.yml at that time. tag, branch: what the version was resolved
    to; both empty for a commit. hash: of the contents of the whole repository at that commit.
    """

    name: str
    src: str
    version: str
    commit: str
    hash: str
    root: str = ""
    tag: str = ""
    branch: str = ""

    @property
    def release(self) -> str:
        """What people call what is locked."""
        return self.tag or (
            f"{self.branch} {self.commit[:10]}" if self.branch else self.commit[:10]
        )

    def suits(self, entry: DeclaredFormula) -> bool:
        """Return whether this is what an entry asks for."""
        if (without_login(entry.src), entry.root) != (self.src, self.root):
            return False
        if entry.version == self.version:
            return True
        return bool(self.tag and is_range(entry.version) and satisfies(entry.version, self.tag))


def read(folder: str) -> tuple[Locked, ...]:
    """Return what the formulas.lock in a folder has; nothing without one. Raises RunnerError for
    one that is damaged.
    """
    file = os.path.join(os.path.abspath(folder), LOCK)
    if not os.path.lexists(file):
        return ()
    value = load(file)
    formulas = value.get("formulas") if isinstance(value, PlacedMap) else None
    if not isinstance(formulas, PlacedMap):
        raise _damaged(Source(file, 1), "it has no formulas")
    return tuple(_locked(name, facts, formulas) for name, facts in formulas.items())


def _locked(name: Any, facts: Any, formulas: PlacedMap) -> Locked:
    place = key_place(formulas, name, formulas.place).source
    texts = isinstance(facts, Mapping) and all(
        key in _KEYS and isinstance(value, str) and value.isprintable()
        for key, value in facts.items()
    )
    if not isinstance(name, str) or wrong_name(name) or not texts:
        raise _damaged(place, f"{name!r} is not as runner writes it")
    facts = dict(facts)
    for key, pattern in (("commit", WHOLE_COMMIT), ("hash", _HASH)):
        if not pattern.fullmatch(facts.get(key, "")):
            raise _damaged(place, f"{name} has no {key}")
    if "src" not in facts or "version" not in facts or wrong_root(facts.get("root", "")):
        raise _damaged(place, f"{name} is not as runner writes it")
    return Locked(name, **facts)


def _damaged(place: Source, why: str) -> RunnerError:
    return RunnerError(f"formulas.lock is damaged: {why}", place, DAMAGED, CODE)


# ---------------------------------------------------------------- which is whose


class Match(Record):
    """Each entry that has a repository with what is locked for it, and what differs.

    pairs: entry and what is locked; None where nothing is that suits. others: locked, but not as
    an entry asks for it.
    """

    pairs: tuple[tuple[DeclaredFormula, Locked | None], ...]
    others: tuple[Locked, ...]

    def former(self, entry: DeclaredFormula) -> Locked | None:
        """Return what is locked of the formula of an entry, though it does not suit."""
        named = (item for item in self.others if item.name == entry.name)
        source = without_login(entry.src)
        return next(named, None) or next((o for o in self.others if o.src == source), None)

    def differences(self, file: str) -> list[Diagnostic]:
        """Return what would have to be locked anew. file: formulas.yml."""
        problems: list[Diagnostic] = []
        known: set[Locked] = set()
        for entry, locked in self.pairs:
            if locked is not None:
                continue
            former = self.former(entry)
            if former is None:
                message = "it is not in formulas.lock"
            else:
                known.add(former)
                message = f"formulas.lock has {_words(former)}, and this asks for {_asked(entry)}"
            problems.append(entry.problem(message, INSTALL))
        for item in self.others:
            if item not in known:
                message = f"formulas.lock has {item.name}, and formulas.yml does not ask for it"
                problems.append(Diagnostic(message, Source(file), INSTALL, CODE))
        return problems


def _words(item: Locked) -> str:
    root = f", root {item.root}" if item.root else ""
    return f"{item.release} of {item.src} (version {item.version}{root})"


def _asked(entry: DeclaredFormula) -> str:
    root = f", root {entry.root}" if entry.root else ""
    return f"version {entry.version}{root} of {without_login(entry.src)}"


def match(entries: Iterable[DeclaredFormula], locked: Sequence[Locked]) -> Match:
    """Find what is locked for each entry: by its name, or by its repository where it has none."""
    left = {item.name: item for item in locked}
    declared = [entry for entry in entries if entry.src]
    chosen: dict[DeclaredFormula, Locked | None] = {}
    for entry in sorted(declared, key=lambda entry: not entry.name):  # names first
        names = [entry.name] if entry.name else list(left)
        fits = [left[name] for name in names if name in left and left[name].suits(entry)]
        chosen[entry] = left.pop(fits[0].name) if fits else None
    return Match(tuple((entry, chosen[entry]) for entry in declared), tuple(left.values()))


# ---------------------------------------------------------------- writing


def text(formulas: Sequence[Locked], before: str = "") -> str:
    """The text of a formulas.lock. before: the one that it replaces, whose comments above a formula
    are kept.
    """
    facts = {item.name: {key: getattr(item, key) for key in _KEYS} for item in formulas}
    return HEADER + as_yaml(facts, _comments(before))


def as_yaml(
    formulas: Mapping[str, Mapping[str, str]], comments: Mapping[str, list[str]] = {}
) -> str:
    """Facts of formulas as YAML, sorted by name; without those that are empty. comments: lines to
    stand above a formula.
    """
    lines = ["formulas:" if formulas else "formulas: {}"]
    for name, facts in sorted(formulas.items()):
        lines += [*comments.get(name, ()), f"  {scalar(name)}:"]
        lines += [f"    {fact}: {scalar(value)}" for fact, value in facts.items() if value]
    return "\n".join(lines) + "\n"


def scalar(value: str) -> str:
    """A text as YAML: in quotes unless it is plainly a text.

    >>> scalar("v2.9.1"), scalar("2.9"), scalar(">=2,<3")
    ('v2.9.1', '"2.9"', '">=2,<3"')
    """
    plain = _PLAIN.fullmatch(value) and not re.fullmatch(r"[\d.:_+-]*(e[\d+-]*)?", value, re.I)
    words = ("true", "false", "yes", "no", "on", "off", "null", "nan", "inf")
    return value if plain and value.lower() not in words else json.dumps(value, ensure_ascii=False)


def _comments(before: str) -> dict[str, list[str]]:
    """The comment lines right above each formula of a lock."""
    found: dict[str, list[str]] = {}
    block: list[str] = []
    for line in before.splitlines():
        if line.startswith("  #"):
            block.append(line)
            continue
        if block and (entry := _ENTRY.fullmatch(line)):
            found[entry[1]] = block
        block = []
    return found


def write(folder: str, formulas: Sequence[Locked]) -> bool:
    """Write formulas.lock whole; whether it was another one. Raises RunnerError."""
    file = os.path.join(folder, LOCK)
    before = ""
    if os.path.lexists(file):
        before = text_of(file)
    new = text(formulas, before)
    if new == before or (not formulas and not before):
        return False
    write_whole(file, new)
    return True


def write_whole(file: str, new: str) -> None:
    """Write a text file so that nobody sees a half of it. Raises RunnerError."""
    beside = f"{file}.{os.urandom(4).hex()}.new"
    try:
        refuse_special(file)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        try:
            with open(descriptor, "w", encoding="utf-8") as opened:
                opened.write(new)
                opened.flush()
                os.fsync(opened.fileno())
            os.rename(beside, file)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        raise RunnerError(f"{file} cannot be written: {error.strerror}", code=CODE) from None
