# SPDX-License-Identifier: Apache-2.0
"""From formulas.yml to formulas.lock to folders below the cachedir."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence

from runner.model.diagnostics import Diagnostic, did_you_mean
from runner.model.errors import CompileError, RunnerError, UsageError
from runner.model.records import Record
from runner.sources.formulas import declared, locked
from runner.sources.formulas.available import Installed, installed, of_path, same_names
from runner.sources.formulas.conflicts import conflicts
from runner.sources.formulas.declared import FILE, DeclaredFormula, without_login
from runner.sources.formulas.locked import Locked, Match
from runner.sources.formulas.naming import name_of
from runner.sources.formulas.sources import Sources, choose, in_mirror, lost, of_entry, was_moved
from runner.sources.formulas.store import FormulaStore
from runner.sources.git import GitError, Mirror
from runner.support.files.trusted_folder import Untrusted


class InstallOutcome(Record):
    """What `synchronise` did. before, after: what formulas.lock had and has."""

    formulas: tuple[Installed, ...]
    before: tuple[Locked, ...]
    after: tuple[Locked, ...]


def synchronise(
    folder: str,
    cachedir: str,
    obey: bool = False,
    renew: Collection[str] | None = (),
    confined: bool = False,
) -> InstallOutcome:
    """Lock what is not locked, and install all. Raises RunnerError: formulas.lock stays as it is.

    obey: refuse to change formulas.lock. renew: names of formulas to be resolved anew; None: all.
    confined: a path may not lead out of the tree.
    """
    folder = os.path.abspath(folder)
    entries, before = declared.read(folder), locked.read(folder)
    if confined and (wrong := list(_outside(entries, folder))):
        raise CompileError(wrong)
    found = locked.match(entries, before)
    if obey and (different := found.differences(os.path.join(folder, FILE))):
        raise CompileError(different)
    _refuse_unknown(renew or (), found, entries)
    store, sources = FormulaStore(cachedir), Sources(cachedir)
    with store.alone():
        formulas = _all(entries, found, store, sources, before, renew)
        after = before if obey else tuple(item.locked for item in formulas if item.locked)
        if not obey:
            locked.write(folder, after)
    return InstallOutcome(formulas, before, after)


def _outside(entries: Iterable[DeclaredFormula], folder: str) -> Iterable[Diagnostic]:
    """The entries whose path leads out of a folder."""
    inside = f"{os.path.realpath(folder)}/"
    for entry in entries:
        if entry.path and not os.path.realpath(entry.folder).startswith(inside):
            message = f"its path leads out of the tree, to {entry.folder}"
            yield entry.problem(message, "what a pulled tree needs lies in it, or has a src")


def _refuse_unknown(names: Iterable[str], found: Match, entries: Iterable[DeclaredFormula]) -> None:
    """Raise UsageError for a name that no formula has."""
    known = {item.name for _, item in found.pairs if item} | {entry.name for entry in entries}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known - {""}) or "`runner formulas list` shows them"
            raise UsageError(f"there is no formula {name}", hint=hint)


def _all(
    entries: Sequence[DeclaredFormula],
    found: Match,
    store: FormulaStore,
    sources: Sources,
    before: Sequence[Locked],
    renew: Collection[str] | None,
) -> tuple[Installed, ...]:
    """All formulas, installed. Raises CompileError with all that is wrong."""
    of = dict(found.pairs)
    formulas: list[Installed] = []
    problems: list[Diagnostic] = []
    for entry in entries:
        try:
            if entry.path:
                formulas.append(of_path(entry))
                continue
            old = of[entry]
            if old and renew is not None and not {old.name, entry.name} & set(renew):
                new = _obeyed(entry, old, store, sources)
            else:
                new = _resolved(entry, store, sources, before)
            formulas.append(_with_root(entry, new, store))
        except Untrusted:
            raise
        except CompileError as error:
            problems += error.diagnostics
        except RunnerError as error:
            problems += of_entry(entry, error).diagnostics
    problems += same_names(formulas)
    if not problems:
        problems += conflicts((item.entry, item.name, item.root) for item in formulas)
    if problems:
        raise CompileError(problems)
    return tuple(formulas)


def _obeyed(entry: DeclaredFormula, old: Locked, store: FormulaStore, sources: Sources) -> Locked:
    """Return what is locked, installed. Its version is what the entry says by now."""
    mirror = sources.mirror(entry)
    if not store.has(old.name, old.commit):
        if not _has(mirror, old.commit) or was_moved(old, mirror):
            mirror = sources.fetched(entry, [old])
        if not _has(mirror, old.commit):
            raise CompileError([lost(entry, old)])
    store.obey(mirror, old)
    return old._replace(version=entry.version)


def _has(mirror: Mirror, commit: str) -> bool:
    try:
        return mirror.exists() and mirror.commit_of(commit) == commit
    except GitError:
        return False


def _resolved(
    entry: DeclaredFormula, store: FormulaStore, sources: Sources, before: Sequence[Locked]
) -> Locked:
    """Return what an entry means now, installed."""
    mirror = sources.fetched(entry, before)
    choice = choose(entry, mirror)
    name = name_of(entry, in_mirror(mirror, choice.commit))
    found = store.add(mirror, name, choice.commit)
    return Locked(
        name,
        without_login(entry.src),
        entry.version,
        choice.commit,
        found,
        entry.root,
        choice.tag,
        choice.branch,
    )


def _with_root(entry: DeclaredFormula, item: Locked, store: FormulaStore) -> Installed:
    if not os.path.isdir(store.root(item)):
        message = f"there is no folder {item.root} in {item.src} at {item.release}"
        raise CompileError([entry.problem(message, "`root` is a folder of the repository")])
    return installed(entry, item, store)
