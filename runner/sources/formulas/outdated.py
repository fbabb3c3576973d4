# SPDX-License-Identifier: Apache-2.0
"""Formulas of which there is something newer than what is locked."""

from __future__ import annotations

from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError
from runner.model.records import Record
from runner.sources.formulas import declared, locked
from runner.sources.formulas.sources import Choice, Sources, choose
from runner.sources.formulas.store import FormulaStore
from runner.sources.formulas.versions import newest


class Newer(Record):
    """What there is beyond what is locked. allowed: what the version of formulas.yml means now.
    newest: the newest release, whether the version allows it or not; empty without one.
    """

    name: str
    locked: str
    allowed: str
    newest: str


def outdated(folder: str, cachedir: str) -> tuple[Newer, ...]:
    """The formulas that `runner formulas update` would change, or a wider version. Raises
    CompileError for those that cannot be asked, and for tags that were moved.
    """
    found = locked.match(declared.read(folder), locked.read(folder))
    sources = Sources(cachedir)
    problems: list[Diagnostic] = []
    rows: list[Newer] = []
    with FormulaStore(cachedir).alone():
        for entry, item in found.pairs:
            item = item or found.former(entry)
            try:
                mirror = sources.fetched(entry, [item] if item else [])
                choice = choose(entry, mirror)
            except CompileError as error:
                problems += error.diagnostics
                continue
            tags = mirror.tags()
            last = (newest(declared.NEWEST, tags) or [""])[-1]
            newer = bool(last) and tags[last] not in (choice.commit, item.commit if item else "")
            if item is None or choice.commit != item.commit or (choice.tag and newer):
                name = item.name if item else entry.title
                rows.append(Newer(name, item.release if item else "", _release(choice), last))
    if problems:
        raise CompileError(problems)
    return tuple(rows)


def _release(choice: Choice) -> str:
    return choice.tag or f"{choice.branch} {choice.commit[:10]}".strip()
