# SPDX-License-Identifier: Apache-2.0
"""A bare copy of a repository, and what is in it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from runner.model.diagnostics import did_you_mean
from runner.model.stdlib import pattern
from runner.sources.git.checkout import export
from runner.sources.git.program import (
    BareRepository,
    DamagedCopy,
    GitError,
    Remote,
    ask_git,
    checked_url,
    display_url,
    failure,
    not_written,
)
from runner.sources.git.signatures import Signers, signer_of_commit, signer_of_tag
from runner.support.files.text import split_lines
from runner.support.files.trusted_folder import trusted_folder

_ALL = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_COMMIT = re.compile(r"[0-9a-f]{4,40}|[0-9a-f]{64}")
WHOLE_COMMIT = pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")  # an ID of git, by SHA-1 or SHA-256
_FETCHED = "runner-fetched"  # touched after each fetch


def mirror_folder(cachedir: str, remote: Remote) -> str:
    """Where the copy of a repository is: one for each URL and user.

    >>> mirror_folder("/var/cache/runner", Remote("https://example.org/ops/site.git"))
    '/var/cache/runner/git/site-854a992abd8c.git'
    """
    url = display_url(remote.url)
    name = re.sub(r"[^\w.-]", "_", url.rstrip("/").removesuffix(".git").rpartition("/")[2])
    key = hashlib.sha256(f"{url}\n{remote.user}".encode()).hexdigest()[:12]
    return os.path.join(cachedir, "git", f"{name.lstrip('.-')[:40] or 'repository'}-{key}.git")


class Mirror:
    """A bare copy of all branches and tags of a repository, in a folder of runner's own.

    folder: see `mirror_folder`; made by the first fetch. Only one process fetches into it at a
    time. Refs that are asked for are a branch, a tag or a commit, in this order.
    """

    def __init__(self, folder: str, remote: Remote) -> None:
        self.folder, self.remote = folder, remote
        self._repository = BareRepository(folder, display_url(checked_url(remote.url)))

    def __str__(self) -> str:
        return self._repository.name

    # ------------------------------------------------------------ fetching

    def fetch(self) -> None:
        """Fetch all branches and tags; those that are gone there go here. A copy that was damaged
        is made anew. Raises GitError, and Untrusted of the folder.
        """
        with self._alone():
            if not self._is_sound():
                self._begin()
            try:
                self._fetch()
            except DamagedCopy:
                self._replace()
            self._remove_damaged()

    def _fetch(self) -> None:
        words = ["fetch", "--quiet", "--prune", "--no-write-fetch-head", "--force"]
        self._repository.git(
            *words,
            "--no-recurse-submodules",
            "--",
            self.remote.address,
            *_ALL,
            values=self.remote.environment(),
            own_configuration=True,
            timeout=self.remote.timeout,
        )
        try:
            trusted_folder(self.folder, make=False).write(_FETCHED, b"")
        except OSError as error:
            raise not_written(str(self), error) from None

    def _replace(self) -> None:
        """Make a damaged copy anew; where that fails, what is left of it stays. Raises GitError."""
        self._remove_damaged()
        try:
            os.rename(self.folder, self._damaged)
        except OSError as error:
            raise not_written(str(self), error) from None
        try:
            self._begin()
            self._fetch()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.rename(self._damaged, self.folder)
            raise
        self._remove_damaged()

    @property
    def _damaged(self) -> str:
        return f"{self.folder}.damaged"

    def _remove_damaged(self) -> None:
        if os.path.lexists(self._damaged):
            shutil.rmtree(self._damaged, ignore_errors=True)

    def exists(self) -> bool:
        """Return whether it was fetched."""
        return self.fetched_at() is not None

    def fetched_at(self) -> float | None:
        """When it was fetched last, in seconds since 1970; None for never."""
        try:
            return os.stat(os.path.join(self.folder, _FETCHED)).st_mtime
        except OSError:
            return None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock of this copy, and remove what a killed fetch has left. Raises GitError when
        another fetch takes longer than this one may.
        """
        try:
            beside = trusted_folder(os.path.dirname(self.folder))
            lock = beside.open(f"{os.path.basename(self.folder)}.lock", os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise not_written(str(self), error) from None
        try:
            self._take(lock)
            for at, folders, names in os.walk(self.folder):
                folders[:] = [name for name in folders if name != "objects"]
                for name in names:
                    if name.endswith(".lock"):
                        with suppress(OSError):
                            os.unlink(os.path.join(at, name))
            yield
        finally:
            os.close(lock)

    def _take(self, lock: int) -> None:
        end = time.monotonic() + self.remote.timeout
        while True:
            try:
                return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise GitError(f"{self}: another run is fetching it") from None
                time.sleep(0.1)

    def _is_sound(self) -> bool:
        return self._repository.says("for-each-ref", "--count=1") is not None

    def _begin(self) -> None:
        """An empty repository; what was there could not be read."""
        try:
            if os.path.lexists(self.folder):
                shutil.rmtree(self.folder)
            trusted_folder(self.folder)
        except OSError as error:
            raise not_written(str(self), error) from None
        answer = ask_git(["init", "--quiet", "--bare", "--template=", self.folder], str(self))
        if answer.status:
            raise failure(str(self), answer)

    # ------------------------------------------------------------ looking

    def branches(self) -> dict[str, str]:
        """The branches: name -> commit."""
        return self._references("refs/heads/")

    def tags(self) -> dict[str, str]:
        """The tags: name -> commit; without those of anything else."""
        return self._references("refs/tags/")

    def _references(self, prefix: str) -> dict[str, str]:
        pattern = "%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)"
        found = {}
        listed = self._repository.git("for-each-ref", f"--format={pattern}", prefix)
        for line in split_lines(listed):  # names may have other line ends
            name, kind, commit, inner_kind, inner = line.split("\0")
            if inner_kind:
                kind, commit = inner_kind, inner
            if kind == "commit":
                found[name.removeprefix(prefix)] = commit
        return found

    def commit_of(self, ref: str) -> str:
        """The commit of a branch, a tag, or a full or unambiguous short commit. Raises GitError."""
        return self._repository.says(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{self._full(ref)}^{{commit}}"
        ) or self._refuse(ref)

    def _full(self, ref: str) -> str:
        """A ref as git finds it without guessing. A whole commit ID is no name: somebody could push
        a branch that is called like the commit to which others hold on.
        """
        if WHOLE_COMMIT.fullmatch(ref):
            return ref
        for full in (f"refs/heads/{ref}", f"refs/tags/{ref}", ref if ref[:5] == "refs/" else ""):
            if full and self._repository.says("show-ref", "--verify", "--", full):
                return full
        return ref if _COMMIT.fullmatch(ref) else self._refuse(ref)

    def _refuse(self, ref: str) -> str:
        hint = did_you_mean(ref, [*self.branches(), *self.tags()])
        raise GitError(f"{self} has no branch, tag or commit {ref!r}", hint=hint)

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Return whether a commit is another one, or comes before it; False if one is not there."""
        words = ("merge-base", "--is-ancestor", "--end-of-options", older, newer)
        return self._repository.says(*words) is not None

    def verify(self, ref: str, signers: Signers) -> str:
        """Who signed the commit of a ref; of a signed tag, who signed the tag. Raises Untrusted
        where it is not signed by one of the signers, with the kind of signature that they have.
        """
        full = self._full(ref)
        if full.startswith("refs/tags/"):
            tag = self._repository.git("rev-parse", "--verify", "--end-of-options", full).strip()
            if signer := signer_of_tag(self._repository, full, tag, signers):
                return signer
        return signer_of_commit(self._repository, self.commit_of(ref), signers)

    def files(self, commit: str, root: str = "") -> Mapping[str, tuple[str, str]]:
        """The files of a commit below a folder: path -> (mode in octal, object). Raises GitError
        where there is no such folder.
        """
        listed = self._repository.git(
            "ls-tree", "-r", "-z", "--full-tree", self._tree(commit, root)
        )
        entries = (line.partition("\t") for line in listed.split("\0") if line)
        return {path: (head.split()[0], head.split()[2]) for head, _, path in entries}

    def read(self, commit: str, path: str) -> bytes:
        """The contents of a file of a commit. Raises GitError where there is none."""
        return self._repository.read("cat-file", "blob", f"{commit}:{path}")

    def tree_hash(self, commit: str, root: str = "") -> str:
        """Git's own hash of a folder and all in it; empty where there is no such folder."""
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", self._tree(commit, root))
        return self._repository.says(*words) or ""

    def export(self, commit: str, folder: str, root: str = "", paths: Sequence[str] = ()) -> None:
        """Write the files of a commit into a new folder. root: only those below it. paths: only
        these files and folders. No hook and no filter runs. A copy that was damaged is made anew.
        Raises GitError for a link that leads out of the folder, a path that is not there, a disk
        that is full; what is written by then stays.
        """
        try:
            export(self._repository, self._tree(commit, root), folder, paths)
        except DamagedCopy:
            with self._alone():
                self._replace()
            shutil.rmtree(folder, ignore_errors=True)
            export(self._repository, self._tree(commit, root), folder, paths)

    @staticmethod
    def _tree(commit: str, root: str) -> str:
        return f"{commit}:{root.strip('/')}" if root.strip("/") else f"{commit}^{{tree}}"
