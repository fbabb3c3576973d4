# SPDX-License-Identifier: Apache-2.0
"""The folders of the external pillar `git`, each with its environment."""

from __future__ import annotations

from collections.abc import Sequence

from runner.model.diagnostics import Diagnostic, did_you_mean
from runner.model.errors import CompileError, RunnerError
from runner.model.records import Record
from runner.sources.gitfs.checkouts import checkout_of, fetched, make_available
from runner.sources.gitfs.environments import ServedFiles
from runner.sources.gitfs.settings import BASE, PillarRemote

BY_ENVIRONMENT = "__env__"  # the branch of the pillar's environment


class PillarFolder(Record):
    """The pillar of a branch. origin: what it is called in messages."""

    folder: str
    env: str
    origin: str


def pillar_folders(
    cachedir: str, remotes: Sequence[PillarRemote], wanted: str | None, saltenv: str | None
) -> tuple[tuple[PillarFolder, ...], tuple[Diagnostic, ...]]:
    """The folders in the order of the repositories, and warnings. Raises CompileError with all
    repositories and branches that cannot be had.

    wanted: pillarenv, which leaves out other environments.
    """
    problems: list[Diagnostic] = []
    warnings: dict[Diagnostic, None] = {}
    folders: list[PillarFolder] = []
    unreachable: dict[str, str] = {}
    for remote in remotes:
        branch, env = _branch_and_environment(remote, wanted or saltenv or BASE)
        if wanted and env != wanted:
            continue
        try:
            source = fetched(
                cachedir,
                remote.remote,
                remote.interval,
                remote.place,
                fetch=True,
                unreachable=unreachable,
            )
            warnings |= dict.fromkeys(source.warnings)
            commits = {**source.refs.tags, **source.refs.branches}
            ref = branch if branch in commits else remote.fallback
            if ref not in commits:
                problem = _missing(remote, branch, str(source.mirror), list(commits))
                if remote.branch != BY_ENVIRONMENT:
                    problems.append(problem)
                else:
                    warnings[problem._replace(severity="warning")] = None
                continue
            target = ServedFiles(ref, commits[ref], remote.root, remote.mountpoint)
            checkout = checkout_of(cachedir, remote.name, source.mirror, target, remote.place)
            make_available(checkout)
            folders.append(PillarFolder(checkout.folder, env, f"{source.mirror} ({ref})"))
        except RunnerError as error:
            problems += error.diagnostics
    if problems:
        raise CompileError(problems)
    return tuple(folders), tuple(warnings)


def _branch_and_environment(remote: PillarRemote, current: str) -> tuple[str, str]:
    """The branch or tag of a repository, and the environment that its pillar is for."""
    branch = remote.branch
    if branch == BY_ENVIRONMENT:
        branch = remote.all_saltenvs or (remote.base if current == BASE else current)
        return branch, remote.env or current
    return branch, remote.env or (BASE if branch == remote.base else branch)


def _missing(remote: PillarRemote, branch: str, name: str, refs: list[str]) -> Diagnostic:
    message = f"{name} has no branch or tag {branch!r}"
    hint = did_you_mean(branch, refs) or f"it has {', '.join(sorted(refs)[:10]) or 'none'}"
    return Diagnostic(message, remote.place, hint, "ext_pillar")
