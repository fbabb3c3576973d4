# SPDX-License-Identifier: Apache-2.0
"""An existing clone is brought to a commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.api import Done, Plan, Planned, StateFailed, open_at
from states._tools import explained
from states.git._clone import FETCH_FAILED, NO_BRANCH, Repository, sentence
from states.git._difference import Difference, tags_of

_LOCAL_CHANGES = (
    "Since 'force_reset' is set to True, these local changes would be reset. To only reset when"
    " there are changes in the remote repository, set 'force_reset' to 'remote-changes'."
)
LOCAL_COMMITS = (
    " But the local branch has commits that the remote did not have so far: without 'force_reset'"
    " this fails unless the remote has them by now."
)


class Update(Difference):
    """The update of a clone: planned, then carried out."""

    def carry_out(self) -> Planned:
        """Look, plan, do."""
        if self.fetches:
            self.refuse_fetch()
        self.refuse()
        wrong_url = self.old_url != self.repository.url
        if self.head is None and not wrong_url and not self.options.branch:
            raise StateFailed(NO_BRANCH)
        pending = (
            wrong_url,
            self.fetches,
            self.gone_tags,
            self.switches,
            self.moves,
            self.resets,
            self.tracking,
        )
        if not any(pending) and not self.stale_submodules:
            return self._unchanged([])
        if self.options.update_head and (self.switches or self.moves or self.resets):
            self.repository.refuse_locked()
        yield self._plan()._replace(in_dry_run=self._foresee_fetch)
        self.beside = self._beside()
        changes: dict[str, Any] = {}
        comments: list[str] = []
        try:
            self._prepare(comments, changes)
            if self.options.update_head:
                self._move(comments, changes)
            if self.options.submodules:
                self._update_submodules(comments)
        except StateFailed as failure:
            already = f"\n\nChanges already made: {sentence(comments)}" if comments else ""
            raise StateFailed(failure.message + already, changes) from None
        now = self.repository.look("rev-parse", "--verify", "-q", "HEAD")
        if now == self.head:
            self.dirty = self.dirty and not self.resets
            return Done(self._unchanged(comments), {**changes, **self.beside})
        return Done(sentence(comments), {**changes, "revision": {"old": self.head, "new": now}})

    def _plan(self) -> Plan:
        may_fail = self.may_fail()
        return Plan(
            {} if may_fail else self._changes(),
            self._described() + (LOCAL_COMMITS if may_fail else ""),
            exact=self.known,
            why=None if self.known else "what the remote has is not fetched yet",
            provides=open_at(self.repository.target),
        )

    def _changes(self) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if self.old_url is None:
            changes["new"] = f"{self.repository.url} => {self.repository.remote}"
        if self.new_tags:
            changes["new_tags"] = self.new_tags
        if self.gone_tags:
            changes["deleted_tags"] = self.gone_tags
        if self.resets or self.is_forced():
            changes["forced update"] = True
        if self.options.update_head and self.head != self.wanted.sha:
            return changes | {"revision": {"old": self.head, "new": self.wanted.sha}}
        return changes | self._beside()

    def _beside(self) -> dict[str, Any]:
        """Return what changes beside the commit, which nothing else tells where that stays."""
        changes: dict[str, Any] = {}
        if self.old_url is not None and self.old_url != self.repository.url:
            changes["url"] = {"old": self.old_url, "new": self.repository.url}
        if self.switches:
            changes["branch"] = {"old": self.present or None, "new": self.branch}
        if self.tracking:
            new = self.wanted.upstream(self.repository.remote)
            changes["upstream"] = {"old": self.upstream, "new": new}
        if self.stale_submodules:
            changes["submodules"] = "updated"
        return changes

    def _unchanged(self, comments: list[str]) -> str:
        wanted, head = self.wanted, (self.head or "")[:7]
        if self.head != wanted.sha and not self.options.update_head:
            return (
                f"Remote head ({wanted.short}) is already present and local HEAD ({head}) does not"
                " match, but update_head=False. HEAD has not been updated locally."
            )
        done = f"Repository {self.repository.target} is up-to-date"
        if self.dirty:
            done += (
                ", but with uncommitted changes. Set 'force_reset' to True to purge uncommitted"
                " changes."
            )
        return done + (f"\n\nChanges made: {sentence(comments)}" if comments else "")

    def _described(self) -> str:
        """Describe what would be done."""
        wanted, remote = self.wanted, self.repository.remote
        head = (self.head or "nothing")[:7]
        steps = []
        if self.old_url != self.repository.url:
            was = "set to" if self.old_url is None else f"changed from {self.old_url} to"
            steps.append(f"Remote '{remote}' would be {was} {self.repository.url}")
        if self.fetches:
            steps.append(f"Remote '{remote}' would be fetched")
        if self.gone_tags:
            steps.append(
                "The following tags would be removed from the local checkout:"
                f" {', '.join(self.gone_tags)}"
            )
        if self.moves and self.dirty:
            steps.append("Uncommitted changes would be discarded")
        if self.creates:
            steps.append(
                f"New branch '{self.branch}' would be checked out, with {wanted.label(remote)} as a"
                " starting point"
            )
        elif self.switches:
            how = "hard-reset" if self.is_forced() else "fast-forwarded"
            steps.append(f"Branch '{self.branch}' would be checked out and {how} to {wanted.short}")
        elif self.moves:
            steps.append(f"Repository would be updated from {head} to {wanted.short}")
        if self.resets:
            steps = [
                (
                    f"{self.repository.target} is up-to-date, but with uncommitted changes."
                    f" {_LOCAL_CHANGES}"
                ),
                *steps,
            ]
        if tracking := self.tracking:
            steps.append(f"Tracking branch would be {tracking}")
        if not steps and not self.stale_submodules:  # a commit that update_head keeps out
            steps.append(f"Remote '{remote}' would be fetched")
        if not steps:
            return "Submodules would be updated"
        return steps[0] if self.resets and len(steps) == 1 else ". ".join(steps) + "."

    def _prepare(self, comments: list[str], changes: dict[str, Any]) -> None:
        repository = self.repository
        if self.old_url is None:
            repository.run("remote", "add", repository.remote, repository.url)
            comments.append(f"Remote '{repository.remote}' set to {repository.url}")
            changes["new"] = f"{repository.url} => {repository.remote}"
        elif self.old_url != repository.url:
            repository.run("remote", "set-url", repository.remote, repository.url)
            comments.append(
                f"Remote '{repository.remote}' changed from {self.old_url} to {repository.url}"
            )
        if self.fetches:
            self._fetch(comments, changes)
        if self.gone_tags:
            repository.run("tag", "-d", *self.gone_tags)
            comments.append(
                "The following tags were removed from the local checkout:"
                f" {', '.join(self.gone_tags)}"
            )
            changes["deleted_tags"] = self.gone_tags

    def _fetch_words(self, source: str) -> list[str]:
        """Return what follows `git fetch`."""
        options, branch = self.options, self.options.refspec_branch
        tags = f"+refs/tags/{options.refspec_tag}:refs/tags/{options.refspec_tag}"
        return [
            *(["--force"] if options.force_fetch else []),
            "--",
            source,
            f"refs/heads/{branch}:refs/remotes/{self.repository.remote}/{branch}",
            *([tags] if options.fetch_tags else []),
        ]

    def _require_revision(self) -> None:
        """Raise StateFailed where a fetch did not bring what is wanted."""
        if not self.repository.known(self.wanted.sha):
            raise StateFailed(
                f"Fetch did not successfully retrieve rev '{self.wanted.rev}' from"
                f" {self.repository.url}: no branch and no tag that was fetched has it"
            )
        self.known = True

    def _foresee_fetch(self) -> Plan | str:
        """The Plan with what a fetch would bring; only the comment where the clone alone would
        know of it. Raises StateFailed as the fetch would, and where something is refused after it.
        """
        if not self.known:
            self._look_at_fetched()
        plan = self._plan()
        return plan if plan.changes or not plan.exact else plan.comment

    def _look_at_fetched(self) -> None:
        """Have the commits that a fetch would bring, where they can be foreseen."""
        fetched = self.repository.fetched_aside(*self._fetch_words(self.repository.url))
        if fetched:
            self.repository = fetched
            self._require_revision()
            self.new_tags, self.moved_tag = self.tags_to_fetch(), False
            self.refuse()

    def _fetch(self, comments: list[str], changes: dict[str, Any]) -> None:
        repository, options = self.repository, self.options
        before = self.refs
        with explained(FETCH_FAILED):
            repository.run("fetch", *self._fetch_words(repository.remote))
        self._require_revision()
        self.refs = repository.local_refs()
        if not options.force_fetch or any(self._went_forward(ref, before) for ref in self.refs):
            comments.append(f"{repository.url} was fetched, resulting in updated refs")
        if new := sorted(tags_of(self.refs) - tags_of(before)):
            changes["new_tags"] = new
        self.moved_tag = False
        self.refuse()

    def _went_forward(self, ref: str, before: Mapping[str, str]) -> bool:
        old, new = before.get(ref), self.refs[ref]
        return old != new and (old is None or self.repository.contains(new, old))

    def _move(self, comments: list[str], changes: dict[str, Any]) -> None:
        """Switch to the branch and bring it to the commit."""
        repository, wanted = self.repository, self.wanted
        forced, moves, resets, tracking = self.is_forced(), self.moves, self.resets, self.tracking
        if self.switches:
            comments.append(self._check_out())
        if (moves or resets) and self.dirty:
            comments.append("Uncommitted changes were discarded")
        if tracking and not forced:
            self._track(tracking, comments)
        if forced or resets:
            repository.run("reset", "--hard", wanted.sha)
            changes["forced update"] = True
            comments.append(f"Repository was hard-reset to {wanted.label(repository.remote)}")
        elif moves:
            repository.run(
                *(
                    ["reset", "--hard", wanted.sha]
                    if self.dirty
                    else ["merge", "--ff-only", wanted.sha]
                )
            )
            ours = wanted.kind in ("HEAD", "branch")
            how = (
                f"fast-forwarded to {wanted.label(repository.remote)}"
                if ours
                else f"reset to {wanted.rev}"
            )
            comments.append(f"Repository was {how}" + ("" if ours else " (fast-forward)"))
        if tracking and forced:
            self._track(tracking, comments)

    def _check_out(self) -> str:
        repository, wanted = self.repository, self.wanted
        force = ["--force"] if self.options.force_checkout else []
        if not self.creates:
            repository.run("checkout", *force, self.branch, "--")
            return f"'{self.branch}' was checked out"
        upstream = wanted.upstream(repository.remote)
        repository.follow(upstream)
        track = ["--track", upstream] if upstream else ["--no-track", wanted.sha]
        repository.run("checkout", *force, "-b", self.branch, *track)
        return (
            f"New branch '{self.branch}' was checked out, with {wanted.label(repository.remote)} as"
            " a starting point"
        )

    def _track(self, tracking: str, comments: list[str]) -> None:
        self.repository.track(self.branch, self.wanted.upstream(self.repository.remote))
        comments.append(f"Tracking branch was {tracking}")

    def _update_submodules(self, comments: list[str]) -> None:
        stale = self.stale_submodules
        update_submodules(self.repository)
        if stale and not comments:
            comments.append("Submodules were updated")


def update_submodules(repository: Repository) -> None:
    """Bring the submodules, too, to the commits that are wanted. Raises StateFailed when git
    cannot.
    """
    with explained("Failed to update submodules"):
        repository.run("submodule", "update", "--init", "--recursive")
