# SPDX-License-Identifier: Apache-2.0
"""What the formulas of a tree are, and what a command altered of them."""

from __future__ import annotations

import os
from collections.abc import Iterable

from runner.model.errors import CompileError
from runner.model.records import Record
from runner.sources.formulas import declared, locked
from runner.sources.formulas.available import of_path
from runner.sources.formulas.declared import without_login
from runner.sources.formulas.locked import Locked
from runner.sources.formulas.store import FormulaStore


class Listed(Record):
    """A formula of formulas.yml. version: what was asked for. locked: what that means. state:
    whether it can be used.
    """

    name: str
    version: str
    locked: str
    commit: str
    state: str
    source: str


def listed(folder: str, cachedir: str) -> list[Listed]:
    """The formulas of a tree, in the order of formulas.yml. Raises RunnerError."""
    entries, store = declared.read(folder), FormulaStore(cachedir)
    found = locked.match(entries, locked.read(os.path.abspath(folder)))
    of = dict(found.pairs)
    rows = []
    for entry in entries:
        source = without_login(entry.src) or entry.path
        item = of.get(entry)
        if entry.path:
            try:
                name, state = of_path(entry).name, "a path: used as it stands, its hash not locked"
            except CompileError:
                name, state = entry.title, f"missing: there is no directory {entry.folder}"
            rows.append(Listed(name, "", "", "", state, source))
        elif item is None:
            rows.append(Listed(entry.title, entry.version, "", "", "not locked", source))
        else:
            state = "installed" if store.has(item.name, item.commit) else "not installed"
            facts = (entry.version, item.tag or item.branch, item.commit)
            rows.append(Listed(item.name, *facts, state, source))
    return rows


class FormulaChange(Record):
    """What became of a formula in formulas.lock; `before` or `after` is empty where it was or is
    not there.
    """

    name: str
    before: str
    after: str


def changes(before: Iterable[Locked], after: Iterable[Locked]) -> list[FormulaChange]:
    """Return what is locked otherwise than before, sorted by name."""
    old, new = ({item.name: item for item in items} for items in (before, after))
    rows = []
    for name in sorted({*old, *new}):
        was, now = old.get(name), new.get(name)
        if was != now:
            texts = [item.release if item else "" for item in (was, now)]
            if was and now and was.release == now.release:
                texts = [f"{item.release} ({item.src} {item.version})" for item in (was, now)]
            rows.append(FormulaChange(name, *texts))
    return rows
