# SPDX-License-Identifier: Apache-2.0
"""git.cloned: a repository is cloned, at whatever commit."""

from __future__ import annotations

from runner.api import (
    AbsolutePath,
    Line,
    Name,
    NonEmptyLine,
    OneOrMany,
    Plan,
    Planned,
    Secret,
    StateFailed,
    open_at,
)
from states._tools import explained
from states.git._clone import Repository, clone, refuse_full, repository_of


def cloned(
    name: Line,
    target: AbsolutePath,
    branch: NonEmptyLine | None = None,
    user: Name | None = None,
    password: Secret[Line] | None = None,
    identity: OneOrMany[Line] | None = None,
    https_user: Line | None = None,
    https_pass: Secret[Line] | None = None,
    output_encoding: Line | None = None,
) -> Planned:
    """Make sure that a repository is cloned; one that is there is not updated.

    name: The address of the repository.
    target: The folder of the clone.
    branch: The branch to be on; without it the remote's.
    user, password, identity, https_user, https_pass, output_encoding: As of git.latest.

        https://github.com/example/app.git:
          git.cloned:
            - target: /srv/app
    """
    repository = repository_of(name, target, "origin", user, identity, https_user, https_pass)
    if not repository.is_there(bare=False):
        refuse_full(target, False)
        refs = repository.refs()
        if branch and not {f"refs/heads/{branch}", f"refs/tags/{branch}"} & refs.keys():
            raise StateFailed(
                f"Clone failed: fatal: Remote branch {branch} not found in upstream origin"
            )
        with_branch = f" with branch '{branch}'" if branch else ""
        comment = f"{name} would be cloned to {target}{with_branch}"
        yield Plan({"new": f"{name} => {target}"}, comment, provides=open_at(repository.target))
        clone(repository, ["--branch", branch] if branch else [], False)
        return f"{name} cloned to {target}{with_branch}"
    present = repository.look("symbolic-ref", "--short", "-q", "HEAD")
    if branch is None or branch == present:
        comment = f"Repository already exists at {target}"
        return comment + (f" and is checked out to branch '{branch}'" if branch else "")
    return (yield from _switched(repository, present, branch))


def _switched(repository: Repository, present: str | None, branch: str) -> Planned:
    own, upstream = repository.local_refs(), f"origin/{branch}"
    here = f"refs/heads/{branch}" in own
    unknown = not here and f"refs/remotes/{upstream}" not in own
    if unknown and f"refs/heads/{branch}" not in repository.refs():
        raise StateFailed(
            f"Failed to change branch to '{branch}': the remote repository has no such branch"
        )
    repository.refuse_locked()
    yield Plan(
        {"branch": {"old": present, "new": branch}},
        f"Branch would be changed to '{branch}'",
        provides=open_at(repository.target),
    )
    with explained(f"Failed to change branch to '{branch}'", changes={}):
        if unknown:
            repository.follow(upstream)
            repository.run("fetch", "origin")
        repository.run(
            "checkout", *([branch, "--"] if here else ["-b", branch, "--track", upstream])
        )
    return f"Branch changed to '{branch}'"
