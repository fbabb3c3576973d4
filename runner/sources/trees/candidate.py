# SPDX-License-Identifier: Apache-2.0
"""The newest tree of a remote: fetched, verified and checked out, but not used as yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.sources import git
from runner.sources.trees.source import TreeSource
from runner.sources.trees.store import Tree, TreeStore
from runner.support.files.permissions import flaw

if TYPE_CHECKING:
    from runner.sources.git import Mirror

_SUBMODULE = "160000"  # its mode in a tree of git
_POINTER, _LONGEST_POINTER = b"version https://git-lfs.github.com/spec/", 1024
ALWAYS = ("runner.yaml", "runner.d", "formulas.yml", "formulas.lock")  # whatever `sparse` names


class Unreachable(RunnerError):
    """The remote could not be fetched."""

    code = "unreachable"


class Candidate(Record):
    """The tree that a run would use. altered: what somebody has changed in the tree that was used,
    which was made anew. lacks: what a tree that was checked out now has not got, in words.
    """

    tree: Tree
    altered: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


def newest(
    source: TreeSource, store: TreeStore, cachedir: str, *, allow_rollback: bool = False
) -> Candidate:
    """The tree that the remote has now. Raises Unreachable where it cannot be fetched, and
    RunnerError where it may not be used.
    """
    mirror = _fetched(source, cachedir)
    commit = mirror.commit_of(source.ref)
    signers = source.signers()
    signer = ""
    if signers is not None:
        _check_private(signers.file, "the file of the signers", secret=False)
        signer = mirror.verify(source.ref, signers)
        if mirror.commit_of(source.ref) != commit:  # another run has fetched meanwhile
            raise RunnerError(f"{mirror}: {source.ref} moved while it was verified", code="tree")
    if not (allow_rollback or source.rollback):
        _check_descent(source, mirror, store.last_commit(), commit)
    return checked_out(source, store, mirror, commit, signer)


def last_good(source: TreeSource, store: TreeStore, cachedir: str) -> Candidate | None:
    """The tree that was applied last; None without one. What somebody has altered in it, or
    removed, is made anew where the copy of the remote still has it.
    """
    tree = store.current()
    altered = tree.alterations() if tree else ("all of it is gone",)
    if tree and not altered:
        return Candidate(tree)
    source = source._replace(ref=tree.ref, sparse=tree.sparse) if tree else source
    try:
        mirror = _mirror(source, cachedir)
        commit = mirror.commit_of(store.last_commit())
        fresh = checked_out(source, store, mirror, commit, tree.signer if tree else "")
        return fresh._replace(altered=altered)
    except RunnerError:
        return Candidate(tree, altered) if tree else None


def _mirror(source: TreeSource, cachedir: str) -> Mirror:
    remote = source.reached()
    return git.Mirror(git.mirror_folder(cachedir, remote), remote)


def _fetched(source: TreeSource, cachedir: str) -> Mirror:
    if source.deploy_key:
        _check_private(source.deploy_key, "the deploy key", secret=True)
    mirror = _mirror(source, cachedir)
    try:
        mirror.fetch()
    except git.FullDisk:  # no weather that passes: somebody has to know
        raise
    except git.GitError as error:
        raise Unreachable(error.message, error.source, error.hint) from None
    return mirror


def _check_private(path: str, what: str, *, secret: bool) -> None:
    """Raises RunnerError for a file that others can write, or read where it is a secret."""
    try:
        status = os.stat(path)
    except OSError as error:
        hint = "`tree` of the configuration names it"
        raise RunnerError(f"{what} {path}: {error.strerror}", hint=hint, code="tree") from None
    if problem := flaw(path, status, path):
        raise RunnerError(
            f"{what} {path} is not used: {problem.message}", hint=problem.remedy, code="tree"
        )
    if secret and status.st_mode & 0o077:
        raise RunnerError(
            f"{what} {path} is not used: others can read it", hint=f"chmod 600 {path}", code="tree"
        )


def _check_descent(source: TreeSource, mirror: Mirror, last: str, commit: str) -> None:
    """Raises RunnerError for a commit that does not descend from the one applied last."""
    if not last or last == commit or mirror.is_ancestor(last, commit):
        return
    if mirror.is_ancestor(commit, last):
        what = f"was taken back to {commit[:12]}, from before {last[:12]}, which was applied last"
    else:
        what = f"is at {commit[:12]}, which does not descend from {last[:12]}, applied last"
    raise RunnerError(
        f"{mirror}: {source.ref} {what}",
        hint="if that is meant: `runner pull --allow-rollback` takes it once, `rollback: allow`"
        " below `tree` always",
        code="rollback",
    )


def checked_out(
    source: TreeSource, store: TreeStore, mirror: Mirror, commit: str, signer: str
) -> Candidate:
    """A commit in a folder of its own. Raises RunnerError."""
    now = store.current()
    altered = now.alterations() if now and now.commit == commit else ()
    tree = store.find(commit, source.sparse)
    if tree:
        return Candidate(tree, altered)
    about = Tree("", commit, source.ref, str(mirror), signer, source.sparse, "", 0.0)
    tree = store.add(about, _writer(source, mirror, commit))
    return Candidate(tree, altered, tuple(_lacking(mirror, tree)))


def _lacking(mirror: Mirror, tree: Tree) -> Iterator[str]:
    """Yield what git would bring beside the files of a commit."""
    for path, (mode, _) in mirror.files(tree.commit).items():
        if mode == _SUBMODULE and os.path.isdir(os.path.join(tree.folder, path)):
            yield f"{path} is a submodule, whose files are not fetched"
    with suppress(OSError, ValueError):
        for path, entry in tree.files().items():
            if entry.kind != "link" and entry.size < _LONGEST_POINTER:
                with open(os.path.join(tree.folder, path), "rb") as file:
                    if file.read(len(_POINTER)) == _POINTER:
                        yield f"{path} is a pointer of git LFS, not the file itself"


def _writer(source: TreeSource, mirror: Mirror, commit: str) -> Callable[[str], None]:
    def write(folder: str) -> None:
        paths: tuple[str, ...] = ()
        if source.sparse:
            top = {path.partition("/")[0] for path in mirror.files(commit)}
            paths = (*source.sparse, *(name for name in ALWAYS if name in top))
        mirror.export(commit, folder, paths=paths)

    return write
