# SPDX-License-Identifier: Apache-2.0
"""Fetched repositories and exported commits in the cache.

    <cachedir>/git/NAME-HASH.git                          the copy of a repository (`runner.git`)
    <cachedir>/gitfs/NAME-HASH.json                       its branches and tags as of the last fetch
    <cachedir>/gitfs/NAME-HASH/BRANCH@COMMIT/...          the files of a commit

An exported commit never changes, so that a run needs no git while nothing is to be fetched.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from runner.model.errors import FULL_DISK, Diagnostic, RunnerError
from runner.model.places import Source
from runner.model.records import Record
from runner.sources.git import FullDisk, GitError, Mirror, Remote, display_url, mirror_folder
from runner.sources.gitfs.environments import Refs, ServedFiles
from runner.support.files.group_commit import make_contents_durable
from runner.support.files.trusted_folder import trusted_folder

UNUSED = 7 * 86400  # seconds after which an exported commit is removed
_MARKED = 86400  # a use is written down once in this time
_BEGUN = ".new-"


class Fetched(Record):
    """A repository as of its last fetch."""

    mirror: Mirror
    refs: Refs
    warnings: tuple[Diagnostic, ...] = ()


class Checkout(Record):
    """The files of a commit. folder: what `salt://` begins at. export: the folder of the cache that
    holds them all.
    """

    folder: str
    export: str
    target: ServedFiles
    mirror: Mirror
    place: Source

    @property
    def identity(self) -> str:
        """What stays the same when the branch goes on."""
        target = self.target
        return f"{self.mirror}#{target.ref}:{target.root}>{target.mountpoint}"


def checkout_of(
    cachedir: str, name: str, mirror: Mirror, target: ServedFiles, place: Source
) -> Checkout:
    """Where the files of a commit are to be, or are. name: of the repository."""
    ref = re.sub(r"[^\w.+-]", "_", target.ref)
    key = f"{mirror.folder}\n{target.root}\n{target.mountpoint}"
    readable = re.sub(r"[^\w.+-]", "_", name).lstrip(".-")[:60] or "repository"
    export = os.path.join(
        _home(cachedir),
        f"{readable}-{hashlib.sha256(key.encode()).hexdigest()[:8]}",
        f"{ref[:80]}@{target.commit[:16]}",
    )
    return Checkout(export, export, target, mirror, place)


def _home(cachedir: str) -> str:
    return os.path.join(os.path.abspath(cachedir), "gitfs")


# ---------------------------------------------------------------- fetching


def fetched(
    cachedir: str,
    remote: Remote,
    interval: float,
    place: Source,
    *,
    fetch: bool,
    unreachable: dict[str, str],
) -> Fetched:
    """A repository as it is now; fetched where the last attempt is older than the interval. Without
    an answer it is as of the last fetch, with a warning. Raises RunnerError where there was none.

    unreachable: servers that gave no answer in time to this run, which are not asked again.
    """
    mirror = Mirror(mirror_folder(cachedir, remote), remote)
    note = f"{os.path.basename(mirror.folder).removesuffix('.git')}.json"
    known = read_note(cachedir, note)
    tried, error = float(known.get("tried") or 0), str(known.get("error") or "")
    hint, code = str(known.get("hint") or ""), str(known.get("code") or "git")
    due = fetch and not 0 <= time.time() - tried < interval
    if due:
        error, hint, code = _fetch(mirror, unreachable)
        tried = time.time()
    at = mirror.fetched_at()
    if at is None:
        raise _never_fetched(remote, error, hint, place)
    refs = Refs(known.get("branches") or {}, known.get("tags") or {})
    if due or known.get("fetched") != at:
        refs = Refs(mirror.branches(), mirror.tags())
        went = {"tried": tried, "error": error, "hint": hint, "code": code}
        write_note(cachedir, note, {"fetched": at, **went, **refs._asdict()})
    outdated = _outdated(remote, at, error, hint, place)._replace(code=code)
    return Fetched(mirror, refs, (outdated,) if error else ())


def _fetch(mirror: Mirror, unreachable: dict[str, str]) -> tuple[str, str, str]:
    """Fetch; what went wrong, what helps, and the kind of it."""
    server = _server(mirror.remote.url)
    if server in unreachable:
        return f"{mirror}: not asked: {unreachable[server]} got no answer from {server}", "", "git"
    began = time.monotonic()
    try:
        mirror.fetch()
    except GitError as problem:
        if server and time.monotonic() - began >= mirror.remote.timeout:
            unreachable[server] = str(mirror)
        code = FULL_DISK if isinstance(problem, FullDisk) else "git"
        return problem.message, problem.hint or "", code
    return "", "", "git"


def _server(url: str) -> str:
    match = re.match(r"(?:\w[\w+.-]*://)?(?:[^/@]*@)?([^/:]+)", display_url(url))
    return match[1] if match and not url.startswith(("/", "file:")) else ""


def _never_fetched(remote: Remote, error: str, hint: str, place: Source) -> RunnerError:
    name = display_url(remote.url)
    if not error:
        return RunnerError(f"{name} was not fetched yet", place, "start a run first", "git")
    message = f"{_about(name, error)}; there is no earlier copy of it"
    return RunnerError(message, place, hint or None, "git")


def _outdated(remote: Remote, at: float, error: str, hint: str, place: Source) -> Diagnostic:
    name = display_url(remote.url)
    message = f"{_about(name, error)}; what was fetched {_ago(at)} ago is used"
    return Diagnostic(message, place, hint or None, "git", "warning")


def _about(name: str, error: str) -> str:
    """Return what went wrong with a repository; most that git says begins with its name."""
    return error if error.startswith(name) else f"{name}: {error}"


def _ago(moment: float) -> str:
    """Return how long ago something was.

    >>> import time; _ago(time.time() - 7300)
    '2 hours'
    """
    seconds = max(0, time.time() - moment)
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size or size == 1:
            count = int(seconds // size)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return ""


def write_note(cachedir: str, name: str, value: Mapping[str, Any]) -> None:
    """Write a file of JSON into the cache; with a full disk the next run finds it out again."""
    with suppress(OSError):
        trusted_folder(_home(cachedir)).write(name, json.dumps(value).encode())


def read_note(cachedir: str, name: str) -> Mapping[str, Any]:
    """A file of JSON in the cache; nothing for one that is missing or damaged."""
    try:
        value = json.loads(trusted_folder(_home(cachedir)).read(name))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


# ---------------------------------------------------------------- exporting


def make_available(checkout: Checkout) -> None:
    """Export a commit unless it was; nobody sees a part of it. Raises RunnerError."""
    try:
        status = os.stat(checkout.export)
    except OSError:
        return _export(checkout)
    if time.time() - status.st_mtime > _MARKED:
        with suppress(OSError):
            os.utime(checkout.export)


def _export(checkout: Checkout) -> None:
    target, mirror = checkout.target, checkout.mirror
    try:
        parent = trusted_folder(os.path.dirname(checkout.export))
        new = os.path.join(parent.path, f"{_BEGUN}{os.urandom(6).hex()}")
        try:
            inner = os.path.join(new, target.mountpoint) if target.mountpoint else new
            os.makedirs(os.path.dirname(inner), exist_ok=True)
            if target.root and not mirror.tree_hash(target.commit, target.root):
                os.makedirs(inner)  # as with Salt: an older branch may lack it
            else:
                mirror.export(target.commit, inner, target.root)
            make_contents_durable(new)
            with suppress(FileExistsError):
                os.rename(new, checkout.export)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except OSError as error:
        if os.path.isdir(checkout.export):  # by another run
            return
        message = f"{mirror}: {target.ref} cannot be exported: {error.strerror}"
        raise RunnerError(message, checkout.place, code="git") from None
    except GitError as error:
        message = f"{error.message} ({target.ref})"
        raise RunnerError(message, checkout.place, error.hint, "git") from None


def remove_unused(cachedir: str, used: Iterable[Checkout]) -> None:
    """Remove exported commits that no run has used for some time, and what killed runs began."""
    home = _home(cachedir)
    spared = {checkout.export for checkout in used}
    with suppress(OSError, RunnerError):
        for repository in trusted_folder(home).names():
            folder = os.path.join(home, repository)
            if os.path.isdir(folder):
                _remove_old(folder, spared)


def _remove_old(folder: str, spared: set[str]) -> None:
    for name in trusted_folder(folder, make=False).names():
        path = os.path.join(folder, name)
        age = time.time() - os.lstat(path).st_mtime
        if path not in spared and age > (_MARKED if name.startswith(".") else UNUSED):
            aside = os.path.join(folder, f"{_BEGUN}{os.urandom(6).hex()}")
            os.rename(path, aside)
            shutil.rmtree(aside, ignore_errors=True)
    with suppress(OSError):
        os.rmdir(folder)  # where nothing is left
