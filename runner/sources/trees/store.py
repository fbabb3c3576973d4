# SPDX-License-Identifier: Apache-2.0
"""The folder of checked-out trees: `trees` below `state_dir`.

    trees/NAME/          the files of a tree; NAME is the commit, with -2, -3 ... when made anew
    trees/NAME.json      which commit, ref and remote it is, and who signed it
    trees/NAME.files     the files as they were checked out
    trees/current        a link to the tree that is used
    trees/last.json      what was applied last, and when it was fetched

A tree is made under another name and renamed when it is whole; the link is replaced by a rename.
So a killed pull leaves either the old tree or the new one in use. Who uses a tree holds a shared
lock on its folder until the process ends, so that no pull removes it meanwhile.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.sources.trees import manifest
from runner.support.files.removal import remove
from runner.support.files.trusted_folder import TrustedFolder, trusted_folder

if TYPE_CHECKING:
    from runner.sources.config.options import Options
    from runner.sources.trees.manifest import Manifest

TREES, CURRENT, LAST = "trees", "current", "last.json"
_NAME = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?(?:-\d+)?")
_INSIDE = re.compile(rf"(?P<trees>.*/{TREES})/(?P<name>{_NAME.pattern})(?P<rest>/.*)?", re.S)
_used: dict[str, int] = {}  # folders that this process uses -> descriptors with a shared lock


class Tree(Record):
    """A checked-out tree. folder: where its files are. remote: without its password. signer: who
    signed it, empty where nobody had to. The times are in seconds since 1970. made_at: when it was
    checked out; applied_at: when it came into use, 0 for never; fetched_at: when the remote was
    last known to have it as its newest.
    """

    name: str
    commit: str
    ref: str
    remote: str
    signer: str
    sparse: tuple[str, ...]
    folder: str
    made_at: float
    applied_at: float = 0.0
    fetched_at: float = 0.0

    def __str__(self) -> str:
        return f"{self.commit[:12]} ({self.ref} of {self.remote})"

    def alterations(self) -> tuple[str, ...]:
        """Return what somebody has altered in it since it was checked out, in words."""
        try:
            return tuple(manifest.alterations(self.folder, self.files()))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is damaged"
            return (f"the list of its files cannot be read: {reason}",)

    def files(self) -> Manifest:
        """Its files as they were checked out. Raises OSError and ValueError."""
        with open(f"{self.folder}.files", encoding="utf-8") as file:
            return manifest.parsed(file.read())


def current_tree(options: Options) -> Tree | None:
    """The tree that runs use; None where the configuration has no `tree`, and before the first
    `runner pull` that succeeds.
    """
    return TreeStore(options.state_dir).current() if options.tree_source else None


def revision_at(path: str) -> tuple[str, bool] | None:
    """(commit, whether somebody has altered it) of the checked-out tree that a path lies in; None
    for a path elsewhere.
    """
    match = _INSIDE.fullmatch(path)
    if match is None:
        return None
    tree = TreeStore(os.path.dirname(match["trees"])).named(match["name"])
    return (tree.commit, bool(tree.alterations())) if tree else None


def without_name(path: str) -> str:
    """A path in a checked-out tree as it is in whichever tree is used; others as they are."""
    match = _INSIDE.fullmatch(path)
    return f"{match['trees']}/{CURRENT}{match['rest'] or ''}" if match else path


class TreeStore:
    """The checked-out trees of one `state_dir`. Only the holder of its lock may change them."""

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self.path = os.path.join(state_dir, TREES)

    def _folder(self, make: bool = False) -> TrustedFolder:
        """Raises OSError, and Untrusted where others can write it."""
        return trusted_folder(self._state_dir, make).below(TREES, make=make)

    # ------------------------------------------------------------ looking

    def current(self) -> Tree | None:
        """The tree that is used, which nobody removes as long as this process lives."""
        for _ in range(10):  # a pull may take its place meanwhile, and remove it
            tree = self.named(self._current_name())
            if tree is None or _in_use(tree.folder):
                return tree
        return None

    def _current_name(self) -> str:
        """The name that the link has; empty where there is none."""
        try:
            folder = self._folder()
            return os.readlink(CURRENT, dir_fd=folder.descriptor)
        except OSError:
            return ""

    def named(self, name: str) -> Tree | None:
        """The tree of a name; None where there is none, or not all of it."""
        if not _NAME.fullmatch(name):
            return None
        try:
            folder = self._folder()
            about = json.loads(folder.read(f"{name}.json"))
            if not os.path.isdir(os.path.join(folder.path, name)):
                return None
            is_current = self._current_name() == name
            last = self.last()
            made = float(about["made_at"])
            is_last = last.get("commit") == about["commit"]
            return Tree(
                name=name,
                commit=str(about["commit"]),
                ref=str(about["ref"]),
                remote=str(about["remote"]),
                signer=str(about["signer"]),
                sparse=tuple(about["sparse"]),
                folder=os.path.join(folder.path, name),
                made_at=made,
                applied_at=os.lstat(f"{self.path}/{CURRENT}").st_mtime if is_current else 0.0,
                fetched_at=float(last.get("fetched_at") or made) if is_last else made,
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def last(self) -> Mapping[str, Any]:
        """Return what was applied last: its `commit`, `ref`, `remote` and `fetched_at`; nothing
        before the first.
        """
        try:
            last = json.loads(self._folder().read(LAST))
        except (OSError, ValueError):
            return {}
        return last if isinstance(last, dict) else {}

    def last_commit(self) -> str:
        """The commit that was applied last, even if its tree is gone; empty for none."""
        tree = self.current()
        return tree.commit if tree else str(self.last().get("commit") or "")

    def find(self, commit: str, sparse: tuple[str, ...]) -> Tree | None:
        """An unaltered tree of a commit."""
        for tree in self._all():
            if (tree.commit, tree.sparse) == (commit, sparse) and not tree.alterations():
                return tree if _in_use(tree.folder) else None
        return None

    def _all(self) -> list[Tree]:
        """All trees, the newest first."""
        try:
            names = self._folder().names()
        except OSError:
            return []
        trees = [tree for name in names if (tree := self.named(name))]
        return sorted(trees, key=lambda tree: tree.made_at, reverse=True)

    # ------------------------------------------------------------ changing

    def add(self, about: Tree, write: Callable[[str], None]) -> Tree:
        """Make a tree. about: what it is; its name and folder are chosen here. write: writes its
        files into the new folder that it is given. Raises RunnerError; then nothing is left of it.
        """
        try:
            folder = self._folder(make=True)
            name = self._free_name(folder, about.commit)
            beside = os.path.join(folder.path, f".{name}.new")
            remove(beside)
            try:
                write(beside)
                files = _with_former_times(beside, manifest.taken(beside), self._former())
                _sync_all(folder.descriptor)
                facts = about._replace(made_at=time.time())._asdict()
                facts = {key: facts[key] for key in _FACTS}
                folder.write(f"{name}.files", manifest.text_of(files).encode())
                folder.write(f"{name}.json", json.dumps(facts).encode())
                folder.rename(f".{name}.new", name)
                folder.sync()
            except BaseException:
                remove(beside)
                self._forget(folder, name)
                raise
        except OSError as error:
            raise _not_kept(self.path, error) from None
        tree = self.named(name)
        if tree is None or not _in_use(tree.folder):
            raise RunnerError(f"{self.path}/{name} was removed by somebody else", code="tree")
        return tree

    @staticmethod
    def _free_name(folder: TrustedFolder, commit: str) -> str:
        taken = {name.removesuffix(".json").removesuffix(".files") for name in folder.names()}
        number = 2
        name = commit
        while name in taken:
            name, number = f"{commit}-{number}", number + 1
        return name

    def _former(self) -> Manifest:
        """The files of the tree that is used, as far as they are known."""
        tree = self.current()
        try:
            return tree.files() if tree else {}
        except (OSError, ValueError):
            return {}

    def switch(self, tree: Tree) -> None:
        """Have a tree used from now on. Raises RunnerError; then the former one still is."""
        try:
            folder = self._folder(make=True)
            beside = f".{CURRENT}.new"
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=folder.descriptor)
            os.symlink(tree.name, beside, dir_fd=folder.descriptor)
            if os.path.isdir(f"{folder.path}/{CURRENT}") and not os.path.islink(
                f"{folder.path}/{CURRENT}"
            ):
                remove(f"{folder.path}/{CURRENT}")  # somebody has put a folder there
            folder.rename(beside, CURRENT)
        except OSError as error:
            raise _not_kept(self.path, error) from None
        with suppress(OSError):  # it is used by now; without power the former tree may be again
            folder.sync()

    def note_fetched(self, tree: Tree) -> None:
        """Write down that the remote has a tree as its newest now; on a full disk the tree only
        looks older than it is.
        """
        facts = {"commit": tree.commit, "ref": tree.ref, "remote": tree.remote}
        with suppress(OSError):
            folder = self._folder(make=True)
            folder.write(LAST, json.dumps({**facts, "fetched_at": time.time()}).encode())
            folder.sync()

    def sweep(self, keep: int) -> None:
        """Remove all but the newest trees, and what killed pulls have left. A tree that is used
        stays.
        """
        now = self._current_name()
        try:
            folder = self._folder()
        except OSError:
            return
        others = [tree.name for tree in self._all() if tree.name != now]
        stay = {now, *others[: keep - 1]}
        for name in folder.names():
            bare = name.removesuffix(".json").removesuffix(".files")
            if _NAME.fullmatch(name) and name not in stay:
                self._discard(folder, name)
            elif _NAME.fullmatch(bare) and not folder.exists(bare):
                self._forget(folder, bare)
            elif name.startswith(".") and name.endswith((".new", ".old")):
                remove(os.path.join(folder.path, name))

    def _discard(self, folder: TrustedFolder, name: str) -> None:
        with suppress(OSError):
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder.descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                folder.rename(name, f".{name}.old")
            finally:
                os.close(descriptor)
            self._forget(folder, name)
            remove(os.path.join(folder.path, f".{name}.old"))

    @staticmethod
    def _forget(folder: TrustedFolder, name: str) -> None:
        with suppress(OSError):
            folder.remove(f"{name}.json")
            folder.remove(f"{name}.files")


_FACTS = ("commit", "ref", "remote", "signer", "sparse", "made_at")


def _in_use(folder: str) -> bool:
    """Mark a tree as used by this process until it ends; False where it is being removed."""
    if folder in _used and _is_at(_used[folder], folder):
        return True
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    except OSError:  # a file system that does not lock
        pass
    if not _is_at(descriptor, folder):
        os.close(descriptor)
        return False
    _used[folder] = descriptor
    return True


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except OSError:
        return False


def _with_former_times(folder: str, files: Manifest, former: Manifest) -> Manifest:
    """The files of a new tree, where those that are as they were in the former one have its times:
    by them the history knows that the files of a state are the same.
    """
    taken = dict(files)
    for path, entry in files.items():
        before = former.get(path)
        if before is None or (before.kind, before.digest) != (entry.kind, entry.digest):
            continue
        at = os.path.join(folder, path)
        os.utime(at, ns=(before.modified, before.modified), follow_symlinks=False)
        status = os.lstat(at)
        taken[path] = entry._replace(modified=status.st_mtime_ns, changed=status.st_ctime_ns)
    return taken


def _sync_all(descriptor: int) -> None:
    """Have everything on the disk that was written to the file system of a descriptor."""
    try:
        done = ctypes.CDLL(None, use_errno=True).syncfs(descriptor)
    except (OSError, AttributeError):
        done = -1
    if done:
        os.sync()


def _not_kept(path: str, error: OSError) -> RunnerError:
    where = error.filename if isinstance(error.filename, str) else path
    where = where if where.startswith("/") else os.path.join(path, where)
    hint = "make room below it, or choose another `state_dir`"
    message = f"the tree cannot be kept: {where}: {error.strerror}"
    return RunnerError(message, hint=hint, code="tree")
