# SPDX-License-Identifier: Apache-2.0
"""The external pillar `git`: the pillar of each branch is compiled by itself, as with Salt, and
merged in the order of the repositories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from runner.language.targeting.top import Top, TopLine
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError
from runner.model.events import Warned
from runner.pipeline.session import Session
from runner.sources.config.file import setting_place
from runner.sources.gitfs import PillarFolder, pillar_folders, pillar_remotes
from runner.sources.gitfs.settings import BASE

Compile = Callable[[Session, Callable[[Top], Top]], dict[str, Any]]
Merge = Callable[[Session, Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]


def gathered(session: Session, items: Any, compiled: Compile, merged: Merge) -> dict[str, Any]:
    """Return what the repositories of one `- git: [...]` say together. Raises RunnerError.

    compiled: the pillar of a session's SLS files. merged: the later one over the earlier.
    """
    options = session.options
    pillar: dict[str, Any] = {}
    folders = _folders(session, items)
    alone = options.pillarenv
    if not alone and folders and options.raw.get("pillarenv_from_saltenv"):
        alone = folders[0][0].env  # as with Salt, where no environment is named
    for folder, roots in folders:
        if alone and folder.env != alone:
            continue
        branch = session.with_pillar_roots(
            {BASE: (), folder.env: roots}, options._replace(pillarenv=alone)
        )
        try:
            data = compiled(branch, partial(_without_other_environments, session, folder))
        except CompileError as error:
            raise CompileError(
                _of_branch(problem, folder) for problem in error.diagnostics
            ) from None
        pillar = merged(session, pillar, data)
    return pillar


def _folders(session: Session, items: Any) -> Sequence[tuple[PillarFolder, tuple[str, ...]]]:
    """The pillar of each branch with the folders that its SLS files are looked for in; fetched once
    in a session.
    """
    options = session.options
    key = f"git pillar {items!r}"
    if key not in session.asked_once:
        place_of = partial(setting_place, options.raw)
        folders = options.git_pillars.get(repr(items))
        if folders is None:
            remotes, odd = pillar_remotes(options.raw, items, place_of)
            folders, warnings = pillar_folders(
                options.cachedir, remotes, options.pillarenv, options.saltenv
            )
            session.warn_of_repositories((*odd, *warnings))
        shared = options.raw.get("git_pillar_includes", True) is not False
        session.asked_once[key] = [
            (folder, (folder.folder, *(_others(folder, folders) if shared else ())))
            for folder in folders
        ]
    answer: Sequence[tuple[PillarFolder, tuple[str, ...]]] = session.asked_once[key]
    return answer


def _others(folder: PillarFolder, folders: Sequence[PillarFolder]) -> list[str]:
    """The folders of other repositories for the same environment, which SLS files may include."""
    return [
        other.folder
        for other in folders
        if other.env == folder.env and other.folder != folder.folder
    ]


def _without_other_environments(session: Session, folder: PillarFolder, top: Top) -> Top:
    """The top file of a branch without what it says of the environment base, where the branch is
    another's: Salt reads that over.
    """

    def is_of_branch(line: TopLine) -> bool:
        return line.env == folder.env

    left = [line for line in top.lines if not is_of_branch(line)]
    if left and session.asked_once.setdefault(f"told {folder}", left) is left:
        message = (
            f"{folder.origin} is the pillar of the environment {folder.env!r}; what its top file"
            f" says of {left[0].env!r} is not used"
        )
        hint = f"write `- env: {left[0].env}` below the repository, or `git_pillar_base: BRANCH`"
        problem = Diagnostic(message, left[0].place.source, hint, "ext_pillar", "warning")
        session.emit(Warned((problem,), of_tree=True))
    return top._replace(lines=tuple(filter(is_of_branch, top.lines)))


def _of_branch(problem: Diagnostic, folder: PillarFolder) -> Diagnostic:
    if "pillar_roots of the configuration has" not in (problem.hint or ""):
        return problem
    hint = f"{folder.origin} is the pillar of {folder.env}; `- env: NAME` gives it another"
    return problem._replace(hint=hint)
