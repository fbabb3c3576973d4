# SPDX-License-Identifier: Apache-2.0
"""git.detached: a clone is at a commit, on no branch."""

from __future__ import annotations

from typing import Any

from modules import git
from runner.api import (
    AbsolutePath,
    Done,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    Secret,
    StateFailed,
    open_at,
    split_lines,
)
from states.git._clone import (
    Repository,
    WantedRevision,
    clone,
    refuse_full,
    repository_of,
    sentence,
    wanted,
)
from states.git._update import update_submodules


def detached(
    name: Line,
    rev: Line | int | float,
    target: AbsolutePath,
    remote: Name = "origin",
    user: Name | None = None,
    password: Secret[Line] | None = None,
    force_clone: bool = False,
    force_checkout: bool = False,
    fetch_remote: bool = True,
    hard_reset: bool = False,
    submodules: bool = False,
    identity: OneOrMany[Line] | None = None,
    https_user: Line | None = None,
    https_pass: Secret[Line] | None = None,
    output_encoding: Line | None = None,
) -> Planned:
    """Make sure that a clone is at a branch's, a tag's or a very commit, with a detached HEAD.

    name: The address of the repository.
    rev: The branch, tag or commit.
    target, remote, user, password, force_clone, force_checkout, submodules, identity, https_user,
      https_pass, output_encoding: As of git.latest.
    fetch_remote: Ask the remote; without it a commit that is known locally will do.
    hard_reset: Discard changes before it checks out.

        https://github.com/example/app.git:
          git.detached:
            - rev: v1.2.3
            - target: /srv/app
    """
    repository = repository_of(name, target, remote, user, identity, https_user, https_pass)
    exists = repository.is_there(bare=False)
    target_commit = _wanted(repository, str(rev), fetch_remote or not exists, exists)
    if not exists:
        return (yield from _cloned(repository, target_commit, force_clone, submodules))
    head = repository.look("rev-parse", "HEAD")
    dirty = repository.look("diff", "--name-only", "HEAD")
    old_url = repository.look("remote", "get-url", remote)
    resets, moves, fetches = (
        hard_reset and bool(repository.look("diff", "--name-only", "--ignore-submodules", "HEAD")),
        head != target_commit.sha,
        not repository.known(target_commit.sha),
    )
    if not (resets or moves):
        return "Already checked out at correct revision"
    if dirty and moves and not (fetches or hard_reset or force_checkout):
        _refuse(repository, target_commit.sha, split_lines(dirty))
    repository.refuse_locked()
    done = "Repository was reset to HEAD before checking out revision"
    if not moves:
        yield Plan({}, "Repository would be reset to HEAD", provides=open_at(repository.target))
        repository.run("reset", "--hard", "HEAD")
        return f"{done}. Already checked out at correct revision."
    changes = {"HEAD": {"old": head, "new": target_commit.sha}}
    yield Plan(
        changes,
        f"Commit ID {target_commit.sha} would be checked out at {target}",
        provides=open_at(repository.target),
    )
    comments = _fetch(repository, old_url, fetches)
    if hard_reset:
        repository.run("reset", "--hard", "HEAD")
        comments.append(done)
    repository.run(
        "checkout", *(["--force"] if force_checkout else []), "--detach", target_commit.sha
    )
    if submodules:
        update_submodules(repository)
    return sentence([*comments, f"Commit ID {target_commit.sha} was checked out at {target}"])


def _wanted(repository: Repository, rev: str, ask: bool, exists: bool) -> WantedRevision:
    """Resolve what is to be checked out: what the remote says, or without asking it, what is known
    here.
    """
    local = repository.look("rev-parse", "--verify", "-q", f"{rev}^{{commit}}") if exists else None
    if local and (not ask or git.SHA.fullmatch(rev)):
        return WantedRevision(rev, "sha", local)
    try:
        return wanted(rev, repository.refs())
    except StateFailed as failure:
        if failure.message.startswith("No revision"):
            raise StateFailed(f"Revision '{rev}' does not exist") from None
        raise


def _cloned(
    repository: Repository, target_commit: WantedRevision, force: bool, submodules: bool
) -> Planned:
    name, target = repository.url, repository.target
    empty_first = refuse_full(target, force)
    changes: dict[str, Any] = {"forced clone": True} if empty_first else {}
    changes["HEAD"] = {"old": None, "new": target_commit.sha}
    yield Plan(changes, f"{name} would be cloned to {target}", provides=open_at(repository.target))
    clone(repository, ["--no-checkout"], empty_first)
    sha = (
        repository.look("rev-parse", "--verify", "-q", f"{target_commit.sha}^{{commit}}")
        or target_commit.sha
    )
    changes["HEAD"] = {"old": None, "new": sha}
    repository.run("checkout", "--detach", sha)
    if submodules:
        update_submodules(repository)
    return Done(f"{name} cloned to {target}. Commit ID {sha} was checked out at {target}.", changes)


def _refuse(repository: Repository, sha: str, dirty: list[str]) -> None:
    """Fail where the checkout would overwrite changes."""
    lost = sorted(
        set(dirty) & set(split_lines(repository.look("diff", "--name-only", "HEAD", sha) or ""))
    )
    if lost:
        raise StateFailed(
            f"Checking out {sha} would overwrite uncommitted changes of {', '.join(lost)}: set"
            " 'force_checkout' or 'hard_reset' to discard them"
        )


def _fetch(repository: Repository, old_url: str | None, fetches: bool) -> list[str]:
    comments = []
    if old_url != repository.url:
        repository.run(
            "remote", "add" if old_url is None else "set-url", repository.remote, repository.url
        )
        comments.append(
            f"Remote {repository.remote} updated from '{old_url}' to '{repository.url}'"
        )
    if fetches:
        repository.run("fetch", "--tags", "--force", repository.remote)
        comments.append(f"Remote {repository.remote} was fetched, resulting in updated refs")
    return comments
