# SPDX-License-Identifier: Apache-2.0
"""The git revision of a state tree, for the history.

No code of others is run for it. Which commit it is is read from the repository's files. Whether
files differ from it is asked of git, which runs programs that a repository's configuration names:
only where nobody but root and the caller can write the work tree, the repository and every folder
on the way, and never against git's own `safe.directory`.
"""

from __future__ import annotations

import os
import stat

from runner.model.errors import RunnerError
from runner.sources import trees
from runner.sources.git import program
from runner.support.files.permissions import flaw
from runner.support.files.trusted_folder import trusted_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_WHOLE_COMMIT, _HEXADECIMAL = (40, 64), frozenset("0123456789abcdef")  # by SHA-1 or SHA-256
_OF_NAMES = dict.fromkeys(map(ord, "_./@+-"))  # beside letters and digits
SMALL = 4096  # bytes; of a file with one line
LARGE = 32 * 1024 * 1024  # of the list of packed references


def revision_of(folder: str) -> tuple[str | None, bool | None]:
    """(commit, whether files differ from it) of the work tree, or the pulled tree, that holds a
    folder; (None, None) without one.
    """
    folder = os.path.realpath(folder)
    if "/trees/" in folder:
        if pulled := trees.revision_at(folder):
            return pulled
    at = _work_tree(folder)
    if at is None:
        return None, None
    repository, common = _repository(at)
    commit = _commit(repository, common)
    if not (
        _are_trusted((folder, at))
        and _are_trusted((repository, common), "config", "config.worktree")
    ):
        return commit, None
    commit = commit or _git(at, "rev-parse", "--verify", "HEAD")
    status = commit and _git(at, "status", "--porcelain", "--ignore-submodules=dirty", "--", folder)
    return commit, None if status is None else bool(status)


def _work_tree(folder: str) -> str | None:
    """The folder that has the .git of a tree. Nobody but root, the caller and the owner of the tree
    may have put it there: it is looked for no further than to a folder that others can write,
    even one such as /tmp.
    """
    try:
        owner = os.stat(folder).st_uid
        at = folder
        while flaw(at, os.stat(at), at, owners=(owner,)) is None:
            with_git = os.path.join(at, ".git")
            if os.path.lexists(with_git):
                return (
                    at
                    if flaw(with_git, os.lstat(with_git), with_git, owners=(owner,)) is None
                    else None
                )
            if at == "/":
                return None
            at = os.path.dirname(at)
    except OSError:
        pass
    return None


# ---------------------------------------------------------------- the files of a repository


def _repository(at: str) -> tuple[str, str]:
    """The folders of a work tree's repository: its own, and the one that several work trees may
    share.
    """
    path = os.path.join(at, ".git")
    line = _line(path)  # a file where there are several work trees, and in submodules
    own = os.path.join(at, line.removeprefix("gitdir: ")) if line.startswith("gitdir: ") else path
    shared = _line(os.path.join(own, "commondir"))
    return os.path.realpath(own), os.path.realpath(os.path.join(own, shared))


def _commit(repository: str, common: str) -> str | None:
    """The commit that is checked out, as far as it stands in files that are to be understood
    without git.
    """
    line = _line(os.path.join(repository, "HEAD"))
    for _ in range(5):  # references to references
        if len(line) in _WHOLE_COMMIT and _HEXADECIMAL.issuperset(line):
            return line
        word, _, reference = line.partition(" ")
        is_plain = reference.translate(_OF_NAMES).isalnum()
        if word != "ref:" or not reference.startswith("refs/") or not is_plain or ".." in reference:
            return None
        line = _line(os.path.join(common, reference)) or _packed(common, reference)
    return None


def _packed(common: str, reference: str) -> str:
    text = _text(os.path.join(common, "packed-refs"), LARGE)
    lines = (line.partition(" ") for line in text.split("\n"))
    return next((commit for commit, _, name in lines if name == reference), "")


def _line(path: str) -> str:
    return _text(path, SMALL).strip()


def _text(path: str, most: int) -> str:
    """The text of a regular file; empty where there is none."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return ""
        return os.read(file, most).decode("utf-8", "replace")
    finally:
        os.close(file)


# ---------------------------------------------------------------- what git is asked


def _are_trusted(folders: Iterable[str], *files: str) -> bool:
    """Return whether nobody else can write these folders, those above them, and files of these
    names in them.
    """
    try:
        for path in folders:
            folder = trusted_folder(path, make=False)
            for name in filter(folder.exists, files):
                os.close(folder.open(name, os.O_RDONLY))
    except (OSError, RunnerError):
        return False
    return True


def _git(folder: str, *words: str) -> str | None:
    try:
        answer = program.ask_git(["-C", folder, *words], folder, own_configuration=True, timeout=10)
    except program.GitError:
        return None
    return None if answer.status else answer.output.decode("utf-8", "replace").strip()
