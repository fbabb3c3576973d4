# SPDX-License-Identifier: Apache-2.0
"""git.latest: a clone is at the newest commit of what is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from runner.api import (
    AbsolutePath,
    Done,
    Line,
    Name,
    NonEmptyLine,
    OneOrMany,
    Plan,
    Planned,
    Secret,
    StateFailed,
    here,
    open_at,
)
from states._tools import explained
from states.git._clone import (
    FETCH_FAILED,
    NO_DEFAULT,
    Repository,
    WantedRevision,
    clone,
    refuse_full,
    repository_of,
    sentence,
    wanted,
)
from states.git._difference import LatestOptions
from states.git._update import Update, update_submodules


def latest(
    name: Line,
    target: AbsolutePath,
    rev: Line | int | float = "HEAD",
    branch: NonEmptyLine | None = None,
    user: Name | None = None,
    password: Secret[Line] | None = None,
    update_head: bool = True,
    force_checkout: bool = False,
    force_clone: bool = False,
    force_fetch: bool = False,
    force_reset: bool | Literal["remote-changes"] = False,
    submodules: bool = False,
    bare: bool = False,
    mirror: bool = False,
    remote: Name = "origin",
    fetch_tags: bool = True,
    sync_tags: bool = True,
    depth: int | None = None,
    identity: OneOrMany[Line] | None = None,
    https_user: Line | None = None,
    https_pass: Secret[Line] | None = None,
    refspec_branch: Line = "*",
    refspec_tag: Line = "*",
    output_encoding: Line | None = None,
) -> Planned:
    """Make sure that a repository is cloned and at the newest commit of a branch, a tag or a
    commit.

    name: The address of the repository.
    target: The folder of the clone.
    rev: The branch, tag or commit; HEAD is what the remote has checked out.
    branch: The local branch to be on, made when it is missing; without it the one that is checked
      out.
    user: The user that git runs as; without it the caller.
    password: Ignored; root needs none to become the user.
    update_head: False only fetches, and leaves what is checked out.
    force_checkout: Discard changes when it switches branches.
    force_clone: Empty a folder that is no repository, and clone into it.
    force_fetch: Accept branches that were rewritten.
    force_reset: Discard local commits and changes (remote-changes: only when the remote has
      something new).
    submodules: Clone and update submodules, too.
    bare: Clone without a work tree.
    mirror: Clone without a work tree, with all references of the remote, and keep them equal.
    remote: The name of the remote in the clone.
    fetch_tags: Fetch all tags; false, or with `depth`, only those of commits that are fetched.
    sync_tags: Remove tags that the remote does not have.
    depth: How many commits to clone; without it all.
    identity: Private keys for ssh (paths, or salt:// files of the tree).
    https_user: The name to log in with; it is on no command line.
    https_pass: The password or token of https_user; it is on no command line.
    refspec_branch: A glob of the branches that are fetched.
    refspec_tag: A glob of the tags that are fetched.
    output_encoding: Ignored; it says how Salt reads what git prints.

        https://github.com/example/app.git:
          git.latest:
            - target: /srv/app
            - rev: main
    """
    if depth is not None and rev == "HEAD":
        raise StateFailed(
            "When 'depth' is used, 'rev' must be set to the name of a branch or tag on the remote"
            " repository"
        )
    repository = repository_of(name, target, remote, user, identity, https_user, https_pass)
    refs = repository.refs()
    target_commit = wanted(str(rev), refs)
    here.follows(
        target_commit.sha,
        *(f"{ref} {sha}" for ref, sha in sorted(refs.items()) if ref.startswith("refs/tags/")),
    )
    if not repository.is_there(bare or mirror):
        shape = ["--mirror"] if mirror else ["--bare"] if bare else []
        shape += ["--depth", str(depth), "--branch", str(rev)] if depth else []
        return (
            yield from _cloned(repository, target_commit, branch, shape, force_clone, submodules)
        )
    if target_commit.kind == "sha":
        target_commit = WantedRevision(
            target_commit.rev,
            "sha",
            repository.look("rev-parse", "-q", "--verify", f"{rev}^{{commit}}")
            or target_commit.sha,
        )
    if bare or mirror:
        return (yield from _fetched(repository, target_commit, refs, mirror, force_fetch))
    options = LatestOptions(
        branch,
        force_reset,
        force_checkout,
        force_fetch,
        fetch_tags
        and depth is None,  # the tags of a shallow clone would bring all that it left out
        sync_tags,
        update_head,
        submodules,
        refspec_branch,
        refspec_tag,
    )
    return (yield from Update(repository, target_commit, refs, options).carry_out())


def _cloned(
    repository: Repository,
    wanted: WantedRevision,
    branch: str | None,
    shape: list[str],
    force: bool,
    submodules: bool,
) -> Planned:
    empty_first = refuse_full(repository.target, force)
    arrow = f"{repository.url} => {repository.target}"
    changes: dict[str, Any] = {"forced clone": True} if empty_first else {}
    changes |= {"new": arrow, "revision": {"old": None, "new": wanted.sha}}
    yield Plan(
        changes,
        f"Repository {repository.url} would be cloned to {repository.target}",
        provides=open_at(repository.target),
    )
    clone(repository, shape, empty_first)
    kind = (
        " as mirror" if "--mirror" in shape else " as bare repository" if "--bare" in shape else ""
    )
    comments = [f"{repository.url} cloned to {repository.target}{kind}"]
    try:
        if not kind:
            comments += _check_out(repository, wanted, branch)
        if submodules and not kind:
            update_submodules(repository)
    except StateFailed as failure:
        del changes["revision"]
        raise StateFailed(
            f"{failure.message}\n\nChanges already made: {sentence(comments)}", changes
        ) from None
    changes["revision"] = {"old": None, "new": repository.look("rev-parse", "HEAD")}
    return Done(sentence(comments), changes)


def _check_out(repository: Repository, wanted: WantedRevision, branch: str | None) -> list[str]:
    """Put a fresh clone on the branch and the commit that are wanted; what was done."""
    present = repository.look("symbolic-ref", "--short", "-q", "HEAD")
    upstream = wanted.upstream(repository.remote)
    start = upstream or wanted.sha
    if branch and branch != present:
        repository.run(
            "checkout", "-B", branch, *(["--track"] if upstream else ["--no-track"]), start
        )
        return [
            f"Branch '{branch}' checked out, with {wanted.label(repository.remote)} as a starting"
            " point"
        ]
    head = repository.look("rev-parse", "--verify", "-q", "HEAD")
    if head is None:
        raise StateFailed(NO_DEFAULT)
    comments = []
    if head != wanted.sha:
        repository.run("reset", "--hard", start)
        comments = [f"Repository was reset to {wanted.label(repository.remote)}"]
    # a clone of a tag is on no branch
    if present is None or wanted.kind == "HEAD" or repository.tracked_by(present) == upstream:
        return comments
    repository.track(present, upstream)
    return [*comments, f"Tracking branch was {f'updated to {upstream}' if upstream else 'unset'}"]


def _fetched(
    repository: Repository,
    wanted: WantedRevision,
    refs: Mapping[str, str],
    mirror: bool,
    force_fetch: bool,
) -> Planned:
    """A repository without a work tree has the branches and tags of the remote; a mirror all that
    it has.
    """
    own = repository.local_refs()
    kinds = ("refs/",) if mirror else ("refs/heads/", "refs/tags/")
    stale = {
        name: sha for name, sha in refs.items() if name.startswith(kinds) and own.get(name) != sha
    }
    stale = {
        name: sha
        for name, sha in stale.items()
        if mirror or name in own or name.startswith(kinds[0])
    }
    if not stale:
        return f"Repository {repository.target} is up-to-date"
    specs = ["+refs/*:refs/*"] if mirror else ["refs/heads/*:refs/heads/*", "--tags"]
    words = [*(["--force"] if force_fetch else []), repository.url, *specs]

    def refuse() -> None:
        repository.fetched_aside(*words)

    subject = f"Bare repository at {repository.target}"
    head = repository.look("rev-parse", "HEAD")
    moves = (
        {"revision": {"old": head, "new": refs.get("HEAD", wanted.sha)}}
        if refs.get("HEAD") != head
        else {}
    )
    yield Plan(
        moves,
        f"{subject} would be fetched",
        exact=False,
        why="what the remote has is not fetched yet",
        provides=open_at(repository.target),
        in_dry_run=refuse,
    )
    with explained(FETCH_FAILED, changes={}):
        repository.run("fetch", *words)
    now = repository.look("rev-parse", "HEAD")
    changes: dict[str, Any] = {"revision": {"old": head, "new": now}} if now != head else {}
    return Done(f"{subject} was fetched, resulting in updated refs", changes)
