# SPDX-License-Identifier: Apache-2.0
"""The formulas of a tree that a run can use; what keeps others from being used."""

from __future__ import annotations

import os
from collections.abc import Iterable

from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError
from runner.model.records import Record
from runner.sources.formulas import conflicts as formulas_conflicts
from runner.sources.formulas import declared, locked
from runner.sources.formulas.declared import FILE, DeclaredFormula
from runner.sources.formulas.locked import INSTALL, Locked
from runner.sources.formulas.naming import in_folder, likely_name, name_of
from runner.sources.formulas.store import ALTERED, FormulaStore


class Installed(Record):
    """A formula that can be used. root: a folder to be appended to file_roots. whole: the folder
    with all of its repository. locked: None for a path, which is used as it stands.
    """

    name: str
    root: str
    whole: str
    entry: DeclaredFormula
    locked: Locked | None = None


def has_formulas(folder: str) -> bool:
    """Return whether a formulas.yml lies in a folder, be it a link to nothing."""
    return os.path.lexists(os.path.join(folder, FILE))


def installed(entry: DeclaredFormula, item: Locked, store: FormulaStore) -> Installed:
    """Return what is locked for an entry, as it is installed."""
    whole = store.folder(item.name, item.commit)
    return Installed(item.name, store.root(item), whole, entry, item)


def of_path(entry: DeclaredFormula) -> Installed:
    """The formula of an entry with a path. Raises CompileError where there is no such folder."""
    if not os.path.isdir(entry.folder):
        message = f"there is no directory {entry.folder}"
        raise CompileError([entry.problem(message, "a path is relative to formulas.yml")])
    try:
        name = name_of(entry, in_folder(entry.folder))
    except CompileError:
        name = likely_name(entry.folder)
    return Installed(name, entry.folder, entry.folder, entry)


def same_names(formulas: Iterable[Installed]) -> Iterable[Diagnostic]:
    """Formulas that have one name."""
    first: dict[str, DeclaredFormula] = {}
    for item in formulas:
        other = first.setdefault(item.name, item.entry)
        if other is not item.entry:
            yield declared.twice(item.entry, other, item.name)


class Roots(Record):
    """The roots of the installed formulas, and what keeps some from being used."""

    folders: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


def installed_roots(folder: str, cachedir: str) -> Roots:
    """The roots of the formulas of a tree, in the order of formulas.yml; nothing is installed."""
    try:
        formulas, problems = _available(folder, cachedir)
    except RunnerError as error:
        return Roots(problems=error.diagnostics)
    return Roots(tuple(item.root for item in formulas), tuple(problems))


def problems(folder: str, cachedir: str) -> tuple[Diagnostic, ...]:
    """All that is wrong with the formulas of a tree, for `runner check`: mistakes, what is not
    locked or not installed, installed files that were altered, paths that two provide.
    """
    if not has_formulas(folder):
        return ()
    try:
        formulas, wrong = _available(folder, cachedir)
        wrong += _altered(formulas, FormulaStore(cachedir))
    except RunnerError as error:
        return error.diagnostics
    clashes = formulas_conflicts.conflicts((item.entry, item.name, item.root) for item in formulas)
    return (*wrong, *same_names(formulas), *clashes)


def _available(folder: str, cachedir: str) -> tuple[list[Installed], list[Diagnostic]]:
    """The formulas of a tree that are locked and installed, and what is wrong with the others.
    Raises RunnerError.
    """
    entries = declared.read(folder)
    found = locked.match(entries, locked.read(folder))
    wrong = found.differences(os.path.join(os.path.abspath(folder), FILE))
    store, of = FormulaStore(cachedir), dict(found.pairs)
    formulas = []
    for entry in entries:
        item = of.get(entry)
        if entry.path:
            formulas.append(of_path(entry))
        elif item and store.has(item.name, item.commit):
            formulas.append(installed(entry, item, store))
        elif item:
            wrong.append(entry.problem(f"{item.release} is not installed", INSTALL))
    return formulas, wrong


def _altered(formulas: Iterable[Installed], store: FormulaStore) -> Iterable[Diagnostic]:
    for item in formulas:
        if item.locked and store.hash(item.name, item.locked.commit) != item.locked.hash:
            hint = f"rm -r {item.whole} && {INSTALL}"
            yield item.entry.problem(f"{item.whole} {ALTERED}", hint)
