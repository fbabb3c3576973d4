# SPDX-License-Identifier: Apache-2.0
"""The installed formulas: a folder for each commit, `<cachedir>/formulas/<name>/<commit>`, written
whole or not at all, and never altered. Trees share them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner.model.errors import RunnerError
from runner.sources.formulas.declared import CODE
from runner.sources.formulas.locked import INSTALL, Locked
from runner.support.files.trusted_folder import trusted_folder

if TYPE_CHECKING:
    from runner.sources.git import Mirror

ALTERED = "is not what was locked: its files were altered"
_LOCK = ".lock"
_NEW = ".new"  # what a name ends with while its folder is written


class FormulaStore:
    """Formulas below a cachedir. Raises RunnerError where others can write it."""

    def __init__(self, cachedir: str) -> None:
        self.path = os.path.join(cachedir, "formulas")

    def folder(self, name: str, commit: str) -> str:
        """Where a formula is, or would be."""
        return os.path.join(self.path, name, commit)

    def root(self, locked: Locked) -> str:
        """The root of states of a formula."""
        return os.path.join(self.folder(locked.name, locked.commit), locked.root).rstrip("/")

    def has(self, name: str, commit: str) -> bool:
        """Return whether a formula is installed. Raises Untrusted where others can write it."""
        try:
            trusted_folder(self.path, make=False).below(name, commit, make=False)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise _failed(error) from None
        return True

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock of the store, so that nobody else writes into it."""
        try:
            lock = trusted_folder(self.path).open(_LOCK, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise _failed(error) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def obey(self, mirror: Mirror, item: Locked) -> None:
        """Install what is locked, or look whether it is what was installed. The caller holds the
        lock. Raises RunnerError for other contents, a link that leads out of it, a full disk.
        """
        try:
            if self.has(item.name, item.commit):
                self._compare(item.name, item.commit, item.hash)
                return
            with self._exported(mirror, item.name, item.commit) as (new, found):
                if found != item.hash:
                    raise RunnerError(
                        f"commit {item.commit} of {mirror} is not what was locked: it has {found},"
                        f" and formulas.lock {item.hash}",
                        hint="formulas.lock was altered, or somebody forged the commit: ask whoever"
                        " wrote either",
                        code=CODE,
                    )
                self._move(new, item.name, item.commit)
        except OSError as error:
            raise _failed(error) from None

    def add(self, mirror: Mirror, name: str, commit: str) -> str:
        """Install a commit; its hash. The caller holds the lock. Raises RunnerError as `obey`."""
        try:
            with self._exported(mirror, name, commit) as (new, found):
                if self.has(name, commit):
                    self._compare(name, commit, found)
                else:
                    self._move(new, name, commit)
        except OSError as error:
            raise _failed(error) from None
        return found

    def _compare(self, name: str, commit: str, expected: str) -> None:
        if self.hash(name, commit) != expected:
            folder = self.folder(name, commit)
            hint = f"if you need nothing in it: rm -r {folder} && {INSTALL}"
            raise RunnerError(f"{folder} {ALTERED}", hint=hint, code=CODE)

    @contextmanager
    def _exported(self, mirror: Mirror, name: str, commit: str) -> Iterator[tuple[str, str]]:
        """A new folder with the files of a commit, and its hash; it is removed at the end."""
        folder = trusted_folder(self.path).below(name)
        for left in folder.names():
            if left.endswith(_NEW):  # of a run that was killed
                shutil.rmtree(os.path.join(folder.path, left))
        new = os.path.join(folder.path, f"{commit}{_NEW}")
        try:
            mirror.export(commit, new)
            yield new, hash_of(new)
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def _move(self, new: str, name: str, commit: str) -> None:
        os.sync()  # the name is to stand for the whole of it after a power failure, too
        os.rename(new, self.folder(name, commit))

    def hash(self, name: str, commit: str) -> str:
        """The hash of an installed formula."""
        try:
            return hash_of(self.folder(name, commit))
        except OSError as error:
            raise _failed(error) from None


def hash_of(folder: str) -> str:
    """The hash of a folder: of the kind, the contents and the path of each file in it, sorted.

    Git's own would not do: it is of SHA-1 in most repositories.
    """
    rows = sorted(_rows(os.fsencode(folder)), key=lambda row: row[1])
    whole = hashlib.sha256()
    for head, path in rows:
        whole.update(head.encode() + b" " + path + b"\0")
    return f"sha256:{whole.hexdigest()}"


def _rows(folder: bytes) -> Iterator[tuple[str, bytes]]:
    for at, folders, names in os.walk(folder, onerror=_raise):
        links = [name for name in folders if os.path.islink(os.path.join(at, name))]
        for name in [*names, *links]:
            path = os.path.join(at, name)
            if os.path.islink(path):
                kind, data = "120000", os.readlink(path)
            else:
                with open(path, "rb") as file:
                    data = file.read()
                    executable = os.fstat(file.fileno()).st_mode & 0o100
                kind = "100755" if executable else "100644"
            yield f"{kind} {hashlib.sha256(data).hexdigest()}", os.path.relpath(path, folder)


def _raise(error: OSError) -> None:
    raise error


def _failed(error: OSError) -> RunnerError:
    return RunnerError(f"{error.filename or 'formulas'}: {error.strerror}", code=CODE)
