# SPDX-License-Identifier: Apache-2.0
"""The revision of the trees that a plan was made from: a hash of their files, and the commit."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence

from runner.history.revision import revision_of
from runner.history.saved_plan.machine_key import MachineKey
from runner.model.places import of_host
from runner.model.records import Record
from runner.sources.trees import without_name

LEFT_OUT = frozenset([".git", ".hg", ".svn", "__pycache__"])
LARGEST = 64 * 1024 * 1024  # bytes; of a larger file its size and time count
PIECE = 1024 * 1024


class TreeRoot(Record):
    """A folder of a tree as it is. digest: keyed, of all its files; commit: where it is of git."""

    path: str
    digest: str
    commit: str | None = None
    dirty: bool | None = None

    def __str__(self) -> str:
        if self.commit is None:
            return self.path
        changed = ", with changes that are not committed" if self.dirty else ""
        return f"{self.path} (commit {self.commit[:12]}{changed})"


def tree_roots(
    roots: Iterable[Mapping[str, Sequence[str]]], key: MachineKey
) -> tuple[TreeRoot, ...]:
    """The present revision of all folders of some trees (environment -> folders)."""
    paths = dict.fromkeys(
        os.path.realpath(path) for tree in roots for paths in tree.values() for path in paths
    )
    return tuple(
        TreeRoot(of_host(without_name(path)), key.digest(_digest(path)), *revision_of(path))
        for path in paths
        if os.path.isdir(path)
    )


def changed_roots(before: Sequence[TreeRoot], now: Sequence[TreeRoot]) -> list[str]:
    """Return what is another revision now, in words, a line for each folder."""
    there = {root.path: root for root in now}
    earlier = {root.path: root for root in before}
    lines = [
        f"{path} is not there, or is no folder of the trees now" for path in earlier.keys() - there
    ]
    lines += [f"{path} was not among the folders of the trees" for path in there.keys() - earlier]
    for path in earlier.keys() & there.keys():
        if earlier[path].digest != there[path].digest:
            lines.append(_difference(earlier[path], there[path]))
    return sorted(lines)


def _difference(before: TreeRoot, now: TreeRoot) -> str:
    if before.commit and now.commit and before.commit != now.commit:
        return f"{now.path} was at commit {before.commit[:12]} and is at {now.commit[:12]}"
    if now.dirty and not before.dirty:
        return f"{now} has changed since: `git -C {now.path} status` shows where"
    return f"the files of {now.path} have changed since"


def _digest(root: str) -> str:
    """The hash of what a folder holds. Links are followed as the file server does, each folder
    once.
    """
    digest = hashlib.sha256()
    for name, content in sorted(_entries(root, "", {os.path.realpath(root)})):
        digest.update(f"{name}\0{content}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _entries(folder: str, below: str, entered: set[str]) -> Iterator[tuple[str, str]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield below, f"unreadable {error.errno}"
        return
    for entry in entries:
        if entry.name in LEFT_OUT:
            continue
        name = f"{below}/{entry.name}"
        if entry.is_symlink():
            yield name, f"link {os.readlink(entry.path)}"
        if entry.is_dir():
            real = os.path.realpath(entry.path)
            if real not in entered:
                entered.add(real)
                yield from _entries(entry.path, name, entered)
        else:
            yield f"{name} ", _content(entry.path)


def _content(path: str) -> str:
    """A hash of a regular file and whether it is executable; the kind of anything else."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"unreadable {error.errno}"
    with open(file, "rb") as opened:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return f"kind {stat.S_IFMT(status.st_mode)}"
        mode = status.st_mode & 0o111
        if status.st_size > LARGEST:
            return f"{mode} {status.st_size} {status.st_mtime_ns}"
        return f"{mode} {hashlib.file_digest(opened, 'sha256').hexdigest()}"
