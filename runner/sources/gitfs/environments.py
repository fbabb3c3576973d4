# SPDX-License-Identifier: Apache-2.0
"""Branches and tags -> environments: which a repository has, and which files each of them has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from runner.model.records import Record
from runner.sources.gitfs.settings import BASE, Environment, FileserverRemote

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


class Refs(Record):
    """The branches and tags of a repository, with their commits."""

    branches: Mapping[str, str]
    tags: Mapping[str, str]


class ServedFiles(Record):
    """The files of an environment: those of a commit below `root`, served below `mountpoint`."""

    ref: str
    commit: str
    root: str
    mountpoint: str


def environments(
    remote: FileserverRemote, refs: Refs, commit_of: Callable[[str], str | None]
) -> dict[str, ServedFiles | None]:
    """The environments of a repository by themselves; None for one whose branch is not there.

    commit_of: the commit that a hash in the settings means.
    """
    commits = _allowed(remote, refs)
    claimed: dict[str, list[str]] = {}
    for env, settings in remote.environments.items():
        if settings.ref:
            claimed.setdefault(settings.ref, []).append(env)
    named: dict[str, str] = {}
    for ref in commits:
        envs = claimed.get(ref) or ([BASE] if ref == remote.base else [ref])
        if ref not in claimed and ref != remote.base and remote.unmapped:
            envs = []
        # base is always the branch that `base` names, even where another one is called so
        named |= {env: ref for env in envs if env != BASE or ref == remote.base}
    if "sha" in remote.ref_types:
        for ref, envs in {**claimed, remote.base: claimed.get(remote.base, [BASE])}.items():
            if ref not in commits and _COMMIT.fullmatch(ref) and (commit := commit_of(ref)):
                commits[ref] = commit
                named |= dict.fromkeys(envs, ref)
    every = [*named, *(env for env in remote.environments if env not in named and env != BASE)]
    return {
        env: _target(remote, env, named[env], commits) if env in named else None
        for env in every
        if _is_served(remote, env)
    }


def target_in(
    remote: FileserverRemote, refs: Refs, own: Mapping[str, ServedFiles | None], env: str
) -> ServedFiles | None:
    """Return what a repository has for an environment that may be one of another repository only:
    its branch of that name serves it even where that is `base`.
    """
    if not _is_served(remote, env):
        return None
    ref = remote.all_saltenvs
    if not ref:
        if target := own.get(env):
            return target
        ref = remote.environments.get(env, Environment()).ref
        if not ref and remote.unmapped and env != BASE:
            return None
    commits = _allowed(remote, refs)
    ref = ref or (remote.base if env == BASE else env)
    return _target(remote, env, ref, commits) or _target(remote, env, remote.fallback, commits)


def _target(
    remote: FileserverRemote, env: str, ref: str, commits: Mapping[str, str]
) -> ServedFiles | None:
    if ref not in commits:
        return None
    own = remote.environments.get(env, Environment())
    root = remote.root if own.root is None else own.root
    mountpoint = remote.mountpoint if own.mountpoint is None else own.mountpoint
    return ServedFiles(ref, commits[ref], root, mountpoint)


def _allowed(remote: FileserverRemote, refs: Refs) -> dict[str, str]:
    """The branches and tags that may become environments; a branch wins over a tag of its name."""
    commits: dict[str, str] = {}
    if "tag" in remote.ref_types:
        commits |= _mapped(refs.tags, "refs/tags/", remote.refspecs)
    if "branch" in remote.ref_types:
        commits |= _mapped(refs.branches, "refs/heads/", remote.refspecs)
    return commits


def _mapped(refs: Mapping[str, str], prefix: str, refspecs: tuple[str, ...]) -> dict[str, str]:
    """Refs under the names that refspecs give them; all where there are no refspecs."""
    if not refspecs:
        return dict(refs)
    mapped: dict[str, str] = {}
    for spec in refspecs:
        source, _, destination = spec.removeprefix("+").partition(":")
        pattern = re.escape(source).replace(r"\*", "(.*)")
        for name, commit in refs.items():
            if match := re.fullmatch(pattern, prefix + name):
                whole = destination.replace("*", match[1]) if match.groups() else destination
                mapped[re.sub(r"^refs/(heads|tags|remotes/[^/]+)/", "", whole)] = commit
    return mapped


def _is_served(remote: FileserverRemote, env: str) -> bool:
    allowed = not remote.whitelist or _is_listed(env, remote.whitelist)
    return allowed and not _is_listed(env, remote.blacklist)


def _is_listed(env: str, patterns: tuple[str, ...]) -> bool:
    """Return whether an environment is meant by a list of names, globs and regular expressions."""
    for pattern in patterns:
        if fnmatchcase(env, pattern):
            return True
        try:
            if re.fullmatch(pattern, env):
                return True
        except re.error:  # a glob such as `*`
            continue
    return False
