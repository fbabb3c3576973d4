# SPDX-License-Identifier: Apache-2.0
"""The repositories of formulas: which commit a version means, what a formula is called, and tags
that were moved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from runner.model.diagnostics import Diagnostic, did_you_mean
from runner.model.errors import CompileError, RunnerError
from runner.model.records import Record
from runner.sources.formulas.declared import CODE, DeclaredFormula, without_login
from runner.sources.formulas.locked import LOCK, Locked
from runner.sources.formulas.versions import is_range, nearest_tags, newest
from runner.sources.git import WHOLE_COMMIT, GitError, Mirror, Remote, display_url, mirror_folder

_COMMIT = re.compile(r"[0-9a-f]{7,40}|[0-9a-f]{64}")


class Choice(Record):
    """What a version means. tag, branch: its name, where it is one."""

    commit: str
    tag: str = ""
    branch: str = ""


class Sources:
    """The mirrors of the repositories, each fetched at most once."""

    def __init__(self, cachedir: str) -> None:
        self._cachedir = cachedir
        self._fetched: dict[str, Mirror | RunnerError] = {}

    def mirror(self, entry: DeclaredFormula) -> Mirror:
        """The copy of an entry's repository, as it is."""
        remote = Remote(entry.address)
        return Mirror(mirror_folder(self._cachedir, remote), remote)

    def fetched(self, entry: DeclaredFormula, old: Iterable[Locked] = ()) -> Mirror:
        """The copy of an entry's repository, fetched now. old: what was locked; a tag of it that
        was moved since is an error. Raises CompileError with the place of the entry.
        """
        if entry.address not in self._fetched:
            self._fetched[entry.address] = self._fetch(entry)
        mirror = self._fetched[entry.address]
        if isinstance(mirror, RunnerError):
            raise of_entry(entry, mirror)
        for item in old:
            if item.src == without_login(entry.src):
                _refuse_moved(entry, item, mirror)
        return mirror

    def _fetch(self, entry: DeclaredFormula) -> Mirror | RunnerError:
        mirror = self.mirror(entry)
        try:
            mirror.fetch()
        except RunnerError as error:
            return error
        return mirror


def of_entry(entry: DeclaredFormula, error: RunnerError) -> CompileError:
    """An error with the formula that it concerns, and its place; without the user in its URL, who
    may be a token.
    """
    shown = without_login(entry.address)
    message = error.message.replace(display_url(entry.address), shown)
    message = message if entry.name else message.removeprefix(f"{shown}: ")
    return CompileError([entry.problem(message, error.hint)._replace(code=error.code)])


def was_moved(old: Locked, mirror: Mirror) -> str:
    """The commit that a locked tag has by now in the copy of the repository; empty for the same."""
    now = mirror.tags().get(old.tag, "") if old.tag else ""
    return "" if now == old.commit else now


def _refuse_moved(entry: DeclaredFormula, old: Locked, mirror: Mirror) -> None:
    now = was_moved(old, mirror)
    if not now:
        return
    message = f"the tag {old.tag} was moved: {LOCK} has {old.commit}, and {old.src} now {now}"
    hint = (
        f"ask its maintainers why; if that is right, remove {old.name} from {LOCK} and run: runner"
        " formulas lock"
    )
    raise CompileError([entry.problem(message, hint)])


# ---------------------------------------------------------------- which commit


def choose(entry: DeclaredFormula, mirror: Mirror) -> Choice:
    """Return what the version of an entry means now. Raises CompileError where it means nothing."""
    if WHOLE_COMMIT.fullmatch(entry.version):  # no tag or branch that is called so
        return _of_commit(entry, mirror)
    tags = mirror.tags()
    if is_range(entry.version):
        return _newest(entry, tags)
    for tag in (entry.version, f"v{entry.version}", entry.version.removeprefix("v")):
        if tag in tags:
            return Choice(tags[tag], tag=tag)
    branches = mirror.branches()
    if entry.version in branches:
        return Choice(branches[entry.version], branch=entry.version)
    if _COMMIT.fullmatch(entry.version):
        return _of_commit(entry, mirror)
    raise _nothing(entry, mirror)


def _of_commit(entry: DeclaredFormula, mirror: Mirror) -> Choice:
    try:
        return Choice(mirror.commit_of(entry.version))
    except GitError:
        raise _nothing(entry, mirror) from None


def _nothing(entry: DeclaredFormula, mirror: Mirror) -> CompileError:
    branches = mirror.branches()
    hint = did_you_mean(entry.version, [*mirror.tags(), *branches]) or _named(branches)
    return _unresolved(entry, f"there is no tag, branch or commit {entry.version}", hint)


def _newest(entry: DeclaredFormula, tags: dict[str, str]) -> Choice:
    fitting = newest(entry.version, tags)
    if not fitting:
        near = nearest_tags(entry.version, tags)
        said = f"no tag is in {entry.version}" if tags else "it has no tags"
        hint = "the nearest are " + ", ".join(near) if near else "name a branch: `version: main`"
        raise _unresolved(entry, said, hint)
    if len({tags[tag] for tag in fitting}) > 1:
        both = " and ".join(fitting)
        raise _unresolved(entry, f"{both} are one version and two commits", "name one of the tags")
    return Choice(tags[fitting[-1]], tag=fitting[-1])


def _named(branches: Collection[str]) -> str | None:
    shown = sorted(branches)[:5]
    return "its branches are " + ", ".join(shown) if shown else None


def _unresolved(entry: DeclaredFormula, message: str, hint: str | None) -> CompileError:
    problem = entry.problem(message, hint)
    return CompileError([problem._replace(source=entry.version_source or entry.source)])


def in_mirror(mirror: Mirror, commit: str) -> Callable[[str], bytes | None]:
    """A reader of the files of a commit."""

    def read(path: str) -> bytes | None:
        try:
            return mirror.read(commit, path)
        except GitError:
            return None

    return read


def lost(entry: DeclaredFormula, locked: Locked) -> Diagnostic:
    """The mistake of a commit that the repository no longer has."""
    message = f"{locked.src} has no commit {locked.commit}, which formulas.lock names"
    hint = f"was its history rewritten? a new one: runner formulas update {locked.name}"
    return entry.problem(message, hint)._replace(code=CODE)
