# SPDX-License-Identifier: Apache-2.0
"""An existing clone compared with the wanted state: what has to be done, what prevents it."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from modules import git
from runner.api import Record, StateFailed
from states.git._clone import FETCH_FAILED, Repository, WantedRevision


class LatestOptions(Record):
    """The arguments of git.latest."""

    branch: str | None
    force_reset: bool | str
    force_checkout: bool
    force_fetch: bool
    fetch_tags: bool
    sync_tags: bool
    update_head: bool
    submodules: bool
    refspec_branch: str
    refspec_tag: str


class Difference:
    """The clone as it is, compared with what is wanted."""

    def __init__(
        self,
        repository: Repository,
        wanted: WantedRevision,
        remote_refs: Mapping[str, str],
        options: LatestOptions,
    ) -> None:
        self.repository, self.wanted, self.options = repository, wanted, options
        self.default_branch = remote_refs.get(git.DEFAULT_BRANCH, "")
        self.refs = repository.local_refs()
        self.present = repository.look("symbolic-ref", "--short", "-q", "HEAD") or ""
        self.head = repository.look("rev-parse", "--verify", "-q", "HEAD")
        self.dirty = bool(repository.look("status", "--porcelain", "--untracked-files=no"))
        # what a reset can undo: the commit and the files of a submodule are its own
        status = ("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
        self.undone = self.dirty and options.force_reset is True and bool(repository.look(*status))
        self.old_url = repository.look("remote", "get-url", repository.remote)
        self.known = repository.known(wanted.sha)
        self.remote_refs = remote_refs
        tags, own_tags = tags_of(remote_refs), tags_of(self.refs)
        self.new_tags = self.tags_to_fetch()
        self.gone_tags = sorted(own_tags - tags) if options.sync_tags else []
        self.moved_tag = wanted.kind == "tag" and self._tag_moved(remote_refs)

    def tags_to_fetch(self) -> list[str]:
        new = tags_of(self.remote_refs) - tags_of(self.refs)
        return sorted(tag for tag in new if self._is_fetched(tag, self.remote_refs))

    def _is_fetched(self, tag: str, remote_refs: Mapping[str, str]) -> bool:
        """Return whether git brings a tag: without fetch_tags it brings those of commits that it
        has.
        """
        name = f"refs/tags/{tag}"
        if self.options.fetch_tags:
            return fnmatchcase(tag, self.options.refspec_tag)
        return self.repository.known(remote_refs.get(f"{name}^{{}}", remote_refs[name]))

    def _tag_moved(self, remote_refs: Mapping[str, str]) -> bool:
        name = f"refs/tags/{self.wanted.rev}"
        return name in self.refs and self.refs[name] != remote_refs.get(name)

    # -------------------------------------------------- what has to be done

    @property
    def branch(self) -> str:
        """The local branch to be on; empty for a detached HEAD."""
        return self.present if not self.options.update_head else self.options.branch or self.present

    @property
    def switches(self) -> bool:
        return self.branch != self.present

    @property
    def creates(self) -> bool:
        return self.switches and f"refs/heads/{self.branch}" not in self.refs

    @property
    def base(self) -> str | None:
        """The commit of the branch before it is moved."""
        if not self.switches:
            return self.head
        return self.wanted.sha if self.creates else self.refs[f"refs/heads/{self.branch}"]

    @property
    def moves(self) -> bool:
        return self.options.update_head and self.base != self.wanted.sha

    @property
    def fetches(self) -> bool:
        wanted, ref = self.wanted, f"refs/remotes/{self.repository.remote}/{self.wanted.rev}"
        follows = wanted.kind == "branch" and fnmatchcase(wanted.rev, self.options.refspec_branch)
        return (
            not self.known or bool(self.new_tags) or (follows and self.refs.get(ref) != wanted.sha)
        )

    @property
    def resets(self) -> bool:
        """Return whether uncommitted changes are discarded though the commit is the right one."""
        return self.undone and not self.moves and self.options.update_head

    @property
    def tracking(self) -> str | None:
        """The change to the branch that is tracked."""
        if (
            not self.branch
            or self.creates
            or self.wanted.kind == "HEAD"
            or not self.options.update_head
        ):
            return None
        now, upstream = self.upstream, self.wanted.upstream(self.repository.remote)
        if now == upstream:
            return None
        return "unset" if upstream is None else f"{'updated' if now else 'set'} to {upstream}"

    @property
    def upstream(self) -> str | None:
        """The branch that the local one tracks."""
        return self.repository.tracked_by(self.branch) if self.branch else None

    @property
    def stale_submodules(self) -> bool:
        state = (
            self.repository.look("submodule", "status", "--recursive")
            if self.options.submodules
            else None
        )
        return any(line[:1] in ("-", "+") for line in (state or "").splitlines())

    # -------------------------------------------------- what stands against it

    def refuse(self) -> None:
        """Raise StateFailed where something would get lost that may not; as far as it is known
        before a fetch.
        """
        if not self.options.update_head:
            return
        wanted, reset = self.wanted, self.options.force_reset
        after = f" (after checking out local branch '{self.branch}')" if self.switches else ""
        if self.moved_tag and self.known and not reset:
            mine = self.refs.get(
                f"refs/tags/{wanted.rev}^{{}}", self.refs[f"refs/tags/{wanted.rev}"]
            )
            raise StateFailed(
                f"'{wanted.rev}' is a tag, but the remote SHA1 for this tag ({wanted.short})"
                f" doesn't match the local SHA1 ({mine[:7]}). Set 'force_reset' to True to force"
                " this update."
            )
        if self.dirty and not reset and self.head != wanted.sha:
            course = (
                f"to {wanted.short}{after}"
                if after
                else f"from {(self.head or '')[:7]} to {wanted.short}"
            )
            raise StateFailed(
                f"Repository would be updated {course}, but there are uncommitted changes. Set"
                " 'force_reset' to True (or 'remote-changes') to force this update and discard"
                " these changes."
            )
        if self.is_forced() and not reset:
            raise StateFailed(self._no_fast_forward(after))
        if self.dirty and self.switches and not self.options.force_checkout:
            raise StateFailed(
                f"Local branch '{self.present}' has uncommitted changes. Set 'force_checkout' to"
                " True to discard them and proceed."
            )

    def refuse_fetch(self) -> None:
        """Raise StateFailed for a rewritten branch, if that is known before the fetch."""
        ref = f"refs/remotes/{self.repository.remote}/{self.wanted.rev}"
        old = self.refs.get(ref) if self.wanted.kind == "branch" and self.known else None
        if (
            old
            and not self.options.force_fetch
            and not self.repository.contains(self.wanted.sha, old)
        ):
            raise StateFailed(
                FETCH_FAILED + f" ! [rejected] {self.wanted.rev} -> {ref[13:]}  (non-fast-forward)"
            )

    def is_forced(self) -> bool:
        """Return whether commits get lost; what is not known yet shows after the fetch."""
        return self.moves and self.known and self.base is not None and not self._forwards()

    def may_fail(self) -> bool:
        """Return whether the branch has commits that the remote did not have so far, so that the
        fetch shows whether they get lost.
        """
        if self.known or not self.moves or self.options.force_reset or not self.base:
            return False
        tracked = f"refs/remotes/{self.repository.remote}"
        if not self.repository.look("for-each-ref", "--count=1", tracked):
            return False
        having = ("for-each-ref", "--count=1", "--contains", self.base, tracked, "refs/tags")
        return self.repository.look(*having) == ""

    def _forwards(self) -> bool:
        return self.base is None or self.repository.contains(self.wanted.sha, self.base)

    def _no_fast_forward(self, after: str) -> str:
        wanted = self.wanted
        refusal = (
            f"Repository would be updated to {wanted.short}{after}, but this is not a fast-forward"
            " merge. Set 'force_reset' to True to force this update."
        )
        if self.options.branch is not None:
            return refusal
        if wanted.kind == "HEAD":
            return refusal + _default_differs(self.default_branch, self.branch)
        if wanted.rev != self.branch:
            refusal += (
                f" The desired rev ({wanted.rev}) differs from the name of the local branch"
                f" ({self.branch}), if the desired rev is a branch name then a forced update could"
                f" possibly be avoided by setting the 'branch' argument to '{wanted.rev}' instead."
            )
        return refusal


def tags_of(refs: Mapping[str, str]) -> set[str]:
    """The names of the tags among references."""
    return {
        name[10:] for name in refs if name.startswith("refs/tags/") and not name.endswith("^{}")
    }


def _default_differs(default: str, branch: str) -> str:
    if not default or default == branch:
        return ""
    return (
        f" The default remote branch ({default}) differs from the local branch ({branch}). This"
        " could be caused by changing the default remote branch, or if the local branch was"
        " manually changed. Rather than forcing an update, it may be advisable to set the 'branch'"
        f" argument to '{default}' instead. To ensure that this state follows the '{default}'"
        f" branch instead of the remote HEAD, set the 'rev' argument to '{default}'."
    )
