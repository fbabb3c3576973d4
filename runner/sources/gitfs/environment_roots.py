# SPDX-License-Identifier: Apache-2.0
"""The folders of each environment, where some of them come from git repositories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError
from runner.sources.git import GitError
from runner.sources.gitfs.checkouts import (
    Checkout,
    Fetched,
    checkout_of,
    fetched,
    make_available,
    read_note,
    remove_unused,
    write_note,
)
from runner.sources.gitfs.environments import environments, target_in
from runner.sources.gitfs.settings import BASE, GIT, ROOTS, FileserverRemote, backends
from runner.support.files.text import text_to_show

Folders = tuple[str, ...]
_TOPS = "top-files.json"


class EnvironmentRoots(Mapping[str, Folders]):
    """Environment -> folders, those of `file_roots` and those of `gitfs_remotes` in the order of
    `fileserver_backend`.

    Repositories are fetched when this is first asked for anything. The files of a branch are
    exported when its environment is: `roots[env]`; `values()` and `items()` only name the folders.
    """

    def __init__(
        self,
        local: Mapping[str, Folders],
        raw: Mapping[str, Any],
        cachedir: str,
        remotes: Sequence[FileserverRemote],
        fetch: bool,
        saltenv: str | None = None,
    ) -> None:
        """local: those of `file_roots`. fetch: False for a command that has no time for it.
        saltenv: the environment that is asked for, which may be served by a `fallback` alone.
        """
        named = backends(raw)
        self.local = local if any(name in ROOTS for name in named) else {}
        self._git_first = next(name for name in named if name in (*GIT, *ROOTS)) in GIT
        self._tops = {str(raw.get(key)) for key in ("state_top", "topfn") if raw.get(key)}
        self._cachedir, self._remotes, self._fetch = cachedir, remotes, fetch
        self._saltenv = saltenv
        self._folders: dict[str, Folders] | None = None
        self.checkouts: dict[str, Checkout] = {}  # folder -> its commit
        self.warnings: tuple[Diagnostic, ...] = ()
        self._with_top: dict[str, bool] = {}  # path in a commit -> whether it is there
        self._known_tops: Mapping[str, Any] = {}  # the same, as earlier runs found it

    def fetch(self) -> tuple[Diagnostic, ...]:
        """Fetch what is due, once; the warnings,
        the first time. Raises RunnerError where a repository cannot be had."""
        self._all()
        warnings, self.warnings = self.warnings, ()
        return warnings

    def export(self, saltenv: str | None) -> None:
        """Export what a run needs, and know no other environment from now on: git may not be there
        any more. Raises RunnerError where a repository cannot be had.

        saltenv: the environment whose states are run; None for those that have a top file, and
        those which one names.
        """
        every = self._all()
        tops = [str(top) for top in self._tops]
        with_top = [env for env in every if not all(self.lacks(env, top) for top in tops)]
        wanted = dict.fromkeys([*self.local, BASE, *([saltenv] if saltenv else with_top)])
        kept = {env: self[env] for env in wanted if env in every}
        if not saltenv:
            folders = [folder for env in with_top for folder in every[env]]
            texts = [text_to_show(f"{folder}/{top}") for folder in folders for top in tops]
            kept |= {env: self[env] for env in every if any(env in text for text in texts)}
        self._folders = kept

    def move(self, seen: Callable[[str], str]) -> None:
        """Find the folders where a function says that they are."""
        self._folders = {env: tuple(map(seen, each)) for env, each in self._all().items()}
        self.local = {env: tuple(map(seen, each)) for env, each in self.local.items()}
        self.checkouts = {
            seen(folder): each._replace(folder=seen(folder), export=seen(each.export))
            for folder, each in self.checkouts.items()
        }

    # ------------------------------------------------------------ a mapping

    def __getitem__(self, env: str) -> Folders:
        folders = self._all()[env]
        for folder in folders:
            if folder in self.checkouts:
                make_available(self.checkouts[folder])
        return folders

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, env: object) -> bool:
        return env in self._all()

    def values(self) -> Any:
        """The folders of all environments, whether they were exported or not."""
        return self._all().values()

    def items(self) -> Any:
        """The environments with their folders, whether they were exported or not."""
        return self._all().items()

    def at_hand(self, saltenv: str | None) -> dict[str, Folders]:
        """The environments that a run looks at as a whole: those of `file_roots` and its own, not
        each branch of each repository.
        """
        own = saltenv or BASE
        return {**self.local, own: self[own]} if own in self else dict(self.local)

    def lacks(self, env: str, path: str) -> bool:
        """Return whether this is a top file that an environment does not have; no commit is
        exported to know that.
        """
        if path not in self._tops or env not in self:
            return False
        return not any(self._may_have(folder, path) for folder in self._all()[env])

    def _may_have(self, folder: str, path: str) -> bool:
        if os.path.isdir(folder) or folder not in self.checkouts:
            return os.path.isfile(os.path.join(folder, path))
        target, mirror = self.checkouts[folder].target, self.checkouts[folder].mirror
        if target.mountpoint:
            return True
        inner = f"{target.root}/{path}" if target.root else path
        key = f"{mirror.folder} {target.commit}:{inner}"
        if key not in self._with_top:
            known = self._known_tops.get(key)
            self._with_top[key] = bool(
                mirror.tree_hash(target.commit, inner) if known is None else known
            )
        return self._with_top[key]

    # ------------------------------------------------------------ fetching

    def _all(self) -> dict[str, Folders]:
        if self._folders is None:
            self._folders = self._resolved()
        return self._folders

    def _resolved(self) -> dict[str, Folders]:
        """Fetch what is due. Raises CompileError for all repositories that cannot be had."""
        sources = self._sources()
        own = [
            environments(remote, source.refs, partial(_commit, source))
            for remote, source in sources
        ]
        named = {env for envs in own for env in envs}
        has_fallback = any(remote.fallback for remote, _ in sources)
        if has_fallback and self._saltenv:
            named.add(self._saltenv)
        folders: dict[str, Folders] = {}
        for env in [*self.local, *sorted(named - self.local.keys())]:
            if env == "__env__":
                folders[env] = self.local[env]
                continue
            of_git = [
                self._checkout(remote, source, target)
                for (remote, source), envs in zip(sources, own, strict=True)
                if env in named or has_fallback
                if (target := target_in(remote, source.refs, envs, env))
            ]
            of_roots = self.local.get(env) or tuple(
                folder.replace("__env__", env) for folder in self.local.get("__env__", ())
            )
            folders[env] = (*of_git, *of_roots) if self._git_first else (*of_roots, *of_git)
        if self._saltenv and not folders.get(self._saltenv):
            folders.pop(self._saltenv, None)
        self._look_for_tops()
        self.warnings += tuple(
            warning
            for (remote, source), envs in zip(sources, own, strict=True)
            for warning in _without_base(remote, source, envs)
        )
        if self._fetch:
            remove_unused(self._cachedir, self.checkouts.values())
        return folders

    def _sources(self) -> list[tuple[FileserverRemote, Fetched]]:
        problems: list[Diagnostic] = []
        unreachable: dict[str, str] = {}
        sources: dict[int, Fetched] = {}
        for number, remote in enumerate(self._remotes):
            try:
                source = sources[number] = fetched(
                    self._cachedir,
                    remote.remote,
                    remote.interval,
                    remote.place,
                    fetch=self._fetch,
                    unreachable=unreachable,
                )
                self.warnings += tuple(w for w in source.warnings if w not in self.warnings)
            except RunnerError as error:
                problems += error.diagnostics
        if problems and self._fetch:
            raise CompileError(problems)
        return [(self._remotes[number], source) for number, source in sources.items()]

    def _look_for_tops(self) -> None:
        """Learn which commits have a top file; git is asked once for each commit."""
        known = self._known_tops = read_note(self._cachedir, _TOPS)
        for folder in self.checkouts:
            for top in self._tops:
                self._may_have(folder, top)
        if not self._with_top.keys() <= known.keys():
            write_note(self._cachedir, _TOPS, self._with_top)

    def _checkout(self, remote: FileserverRemote, source: Fetched, target: Any) -> str:
        checkout = checkout_of(self._cachedir, remote.name, source.mirror, target, remote.place)
        self.checkouts[checkout.folder] = checkout
        return checkout.folder


def _commit(source: Fetched, ref: str) -> str | None:
    try:
        return source.mirror.commit_of(ref)
    except GitError:
        return None


def _without_base(
    remote: FileserverRemote, source: Fetched, envs: Mapping[str, Any]
) -> Iterator[Diagnostic]:
    """Warn of a repository that has no branch for the environment base: it may be called main."""
    refs = source.refs
    settings = (remote.all_saltenvs, remote.fallback, remote.environments)
    chosen = any((*settings, remote.whitelist, remote.blacklist, remote.base in refs.tags))
    if BASE in envs or chosen or remote.base in refs.branches:
        return
    if "branch" in remote.ref_types and refs.branches:
        near = next((name for name in ("main", "master") if name in refs.branches), None)
        message = (
            f"{source.mirror} has no branch {remote.base!r}, so that nothing of it is in the"
            f" environment base"
        )
        hint = f"say which one is: `base: {near or 'BRANCH'}` of the remote, or gitfs_base"
        yield Diagnostic(message, remote.place, hint, "git", "warning")
