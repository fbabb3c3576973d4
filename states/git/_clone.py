# SPDX-License-Identifier: Apache-2.0
"""The base of the git states: the target, the revision that is wanted, cloning."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from modules import file, git
from runner.api import Record, StateFailed, split_lines
from states._tools import explained

FETCH_FAILED = (
    "Fetch failed. Set 'force_fetch' to True to force the fetch if the failure was due to not being"
    " able to fast-forward. Output of the fetch command follows:\n\n"
)
_SAY_BRANCH = (
    " If you are unable to fix the remote repository, you can work around this by setting the"
    " 'branch' argument (which will ensure that the named branch is created if it does not already"
    " exist)."
)
NO_DEFAULT = (
    "Remote HEAD refers to a ref that does not exist. This can happen when the default branch on"
    f" the remote repository is renamed or deleted.{_SAY_BRANCH}"
)
NO_BRANCH = (
    "Cannot set/unset upstream tracking branch, local HEAD refers to nonexistent branch. This may"
    " have been caused by cloning a remote repository for which the default branch was renamed or"
    f" deleted.{_SAY_BRANCH}"
)


class Repository(Record):
    """The origin and the place of a clone, and the user of git. aside: variables with which looks
    see what a dry run fetched.
    """

    url: str
    target: str
    remote: str = "origin"
    user: str | None = None
    identity: tuple[str, ...] = ()
    secrets: Mapping[str, str] | None = None
    aside: Mapping[str, str] | None = None

    def refs(self) -> dict[str, str]:
        """The references of the remote."""
        return git.remote_refs(self.url, self.user, self.identity, self.secrets) or {}

    def local_refs(self) -> dict[str, str]:
        """The references of the clone; of an annotated tag its commit, too, as NAME^{}."""
        lines = self.look("for-each-ref", "--format=%(refname) %(objectname) %(*objectname)") or ""
        refs = {}
        for name, sha, *peeled in (line.split(" ") for line in split_lines(lines)):
            refs[name] = sha
            if peeled and peeled[0]:
                refs[f"{name}^{{}}"] = peeled[0]
        return refs

    def run(self, *words: str, inside: bool = True) -> str:
        return git.change(
            list(words), self.target if inside else None, self.user, self.identity, self.secrets
        )

    def look(self, *words: str) -> str | None:
        return git.look(list(words), self.target, self.user, self.aside)

    def fetched_aside(self, *words: str) -> Repository | None:
        """In a dry run: this repository with the commits that `git fetch` with these words would
        bring; None where that cannot be foreseen. Raises StateFailed as the fetch would.
        """
        with explained(FETCH_FAILED):
            aside = git.fetched_aside(words, self.target, self.user, self.identity, self.secrets)
        return None if aside is None else self._replace(aside=aside)

    def known(self, sha: str) -> bool:
        """Return whether the clone has a commit."""
        return self.look("cat-file", "-e", f"{sha}^{{commit}}") is not None

    def refuse_locked(self) -> None:
        """Raise StateFailed where git would not write to the work tree: it would find the lock of
        another one, or of one that was killed.
        """
        lock = self.look("rev-parse", "--git-path", "index.lock")
        if lock and file.lexists(path := os.path.join(self.target, lock)):
            raise StateFailed(
                f"{path} is there: another git works on this repository, or one was killed at it"
                " (then remove the file)",
                missing=("no file", path),
            )

    def tracked_by(self, branch: str) -> str | None:
        """The remote's branch that a local one tracks."""
        name = f"refs/heads/{branch}"
        return self.look("for-each-ref", "--format=%(upstream:short)", name) or None

    def track(self, branch: str, upstream: str | None) -> None:
        """Have a local branch track one of the remote, or none."""
        self.follow(upstream)
        words = ["--unset-upstream"] if upstream is None else ["--set-upstream-to", upstream]
        self.run("branch", *words, branch)

    def follow(self, upstream: str | None) -> None:
        """Have a branch of the remote among those that are fetched: git tracks no others."""
        name = f"refs/heads/{(upstream or '').removeprefix(f'{self.remote}/')}"
        specs = (self.look("config", "--get-all", f"remote.{self.remote}.fetch") or "").split()
        sources = (spec.lstrip("+").partition(":")[0] for spec in specs)
        if upstream and not any(fnmatchcase(name, source) for source in sources):
            self.run("remote", "set-branches", "--add", self.remote, name[len("refs/heads/") :])

    def contains(self, sha: str, ancestor: str) -> bool:
        """Return whether a commit comes after another one, or is it."""
        return self.look("merge-base", "--is-ancestor", ancestor, sha) is not None

    def is_there(self, bare: bool) -> bool:
        """Return whether the target is a repository of its own. bare: one without a work tree will
        do. Raises StateFailed where git will not look.
        """
        if not self.user:
            file.real_path(self.target)  # through no link of somebody else
        if not file.is_dir(self.target):
            return False
        words = ["rev-parse", "--is-bare-repository", "--show-cdup", "--git-dir"]
        done = git.probe(words, self.target, self.user)
        if "dubious ownership" in done.stderr:
            raise StateFailed(
                f"Target '{self.target}' belongs to somebody else, and git works on its owner's"
                " repositories only: set 'user' to its owner, or safe.directory in the"
                " configuration of git"
            )
        lines = done.stdout.split("\n") if done.retcode == 0 else []
        if lines[:1] == ["true"]:
            return bare and lines[-1] == "."
        return len(lines) == 3 and not lines[1]  # not in a folder of a work tree


def repository_of(
    url: str,
    target: str,
    remote: str,
    user: str | None,
    identity: Sequence[str] | None,
    https_user: str | None,
    https_pass: str | None,
) -> Repository:
    """The repository of a state's arguments, which may end its target with a slash."""
    secrets = git.credentials(https_user, https_pass, url)
    keys = git.keys(identity or (), user) or ()
    return Repository(url, target.rstrip("/") or "/", remote, user, keys, secrets)


class WantedRevision(Record):
    """The revision that is wanted. kind: HEAD, branch, tag or sha. label: for comments."""

    rev: str
    kind: str
    sha: str

    @property
    def short(self) -> str:
        return self.sha[:7]

    def label(self, remote: str) -> str:
        if self.kind == "HEAD":
            return f"remote HEAD ({self.short})"
        if self.kind == "branch":
            return f"{remote}/{self.rev} ({self.short})"
        return f"{self.rev} ({self.short})" if self.kind == "tag" else self.short

    def upstream(self, remote: str) -> str | None:
        """The branch that is to be tracked."""
        return f"{remote}/{self.rev}" if self.kind == "branch" else None


def wanted(rev: str, refs: Mapping[str, str]) -> WantedRevision:
    """Resolve the name of a revision on the remote. Raises StateFailed when it means nothing
    there.
    """
    if rev == "HEAD" and "HEAD" in refs:
        return WantedRevision(rev, "HEAD", refs["HEAD"])
    if f"refs/heads/{rev}" in refs:
        return WantedRevision(rev, "branch", refs[f"refs/heads/{rev}"])
    for name in (f"refs/tags/{rev}^{{}}", f"refs/tags/{rev}"):
        if name in refs:
            return WantedRevision(rev, "tag", refs[name])
    if git.SHA.fullmatch(rev):
        known = next(
            (
                sha
                for name, sha in refs.items()
                if sha.startswith(rev) and name != git.DEFAULT_BRANCH
            ),
            rev,
        )
        return WantedRevision(rev, "sha", known)
    raise StateFailed(f"No revision matching '{rev}' exists in the remote repository")


def refuse_full(target: str, force: bool) -> bool:
    """Return whether a folder has to be emptied first; StateFailed where it must not be."""
    if not file.lexists(target):
        return False
    if not file.is_dir(target):
        if force:
            return True
        raise StateFailed(f"Target '{target}' exists and is a regular file, cannot proceed")
    if not file.listdir(target):
        return False
    if force:
        return True
    raise StateFailed(
        f"Target '{target}' exists, is non-empty and is not a git repository. Set the 'force_clone'"
        " option to True to remove this directory's contents and proceed with cloning the remote"
        " repository"
    )


def clone(repository: Repository, options: Sequence[str], empty_first: bool) -> None:
    """Clone; what a failed clone leaves is removed."""
    target = repository.target
    if empty_first:
        file.remove(target)
    existed = file.is_dir(target)
    parent = os.path.dirname(target.rstrip("/"))
    if not file.is_dir(parent):
        file.makedirs(parent, user=repository.user)
    try:
        repository.run(
            "clone",
            "--origin",
            repository.remote,
            *options,
            "--",
            repository.url,
            target,
            inside=False,
        )
    except StateFailed as failure:
        if not existed:
            file.discard(target)
        raise StateFailed(f"Clone failed: {failure.message}", changes={}) from None


def sentence(parts: Sequence[str]) -> str:
    """Join what was done to one comment."""
    return ". ".join(parts) + ("." if len(parts) > 1 else "")
